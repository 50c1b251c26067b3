"""What became of a message that came in at a door."""

from dataclasses import dataclass
from typing import Protocol

from stepward.domain.rejects import Reject


@dataclass(frozen=True, slots=True)
class Seen:
    """What was rejected of a message, how many history entries it left, and what is wrong with its order now."""

    rejects: tuple[Reject, ...]
    history: int
    wrong: str = ""


class Door(Protocol):
    """One way in. `whole`: a reject holds the message as it came. `quiet`: what is understood may change nothing."""

    good: str
    whole: bool
    quiet: bool

    def pass_in(self, text: str) -> Seen:
        """Hand over a message, and beside it one of another order, in one batch if the door takes batches."""

    def worked(self) -> bool:
        """Whether the message beside it had its effect."""
