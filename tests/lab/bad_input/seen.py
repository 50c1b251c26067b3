"""What became of a message that came in at a door."""

from collections.abc import Callable
from dataclasses import dataclass

from stepward.domain.rejects import Reject


@dataclass(frozen=True, slots=True)
class Seen:
    """What was rejected of a message, how many history entries it left, and what is wrong with its order now."""

    rejects: tuple[Reject, ...]
    history: int
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class Door:
    """One way in for messages such as `good`.

    `pass_in` hands over a message, and beside it one of another order, in one batch if the door takes batches; `worked`
    says whether the one beside it had its effect. `whole`: a reject holds the message as it came. `quiet`: what is
    understood may change nothing.
    """

    good: str
    pass_in: Callable[[str], Seen]
    worked: Callable[[], bool]
    whole: bool = False
    quiet: bool = False
