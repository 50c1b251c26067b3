"""What became of a message that came in at a door."""

from dataclasses import dataclass
from typing import Protocol

from stepward.domain.rejects import Reject


@dataclass(frozen=True, slots=True)
class Seen:
    """What was kept of a message, how many facts it left, and what is wrong with where it stands now."""

    kept: tuple[Reject, ...]
    history: int
    wrong: str = ""


class Door(Protocol):
    """One way in. `whole`: what is rejected is kept as it came. `quiet`: what is understood may change nothing."""

    good: str
    whole: bool
    quiet: bool

    def pass_in(self, text: str) -> Seen:
        """Hand over a message, and beside it one of another order, in one batch if the door takes batches."""

    def worked(self) -> bool:
        """Whether the message beside it had its effect."""
