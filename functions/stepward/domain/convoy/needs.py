"""What a decision about a lane needs to know beyond the lane's own record, and what is known of that so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from stepward.domain.errors import Transient
from stepward.domain.order_event import Kept, OrderEvent

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rejection:
    """An event that its lane cannot take; `why` names the field and the reason.

    `message` is the position of the message that brought it. An event that the lane held itself has its place in
    `held_at` instead.
    """

    event: OrderEvent
    why: str
    message: int = 0
    held_at: int = 0


@dataclass(frozen=True, slots=True)
class ReadRows:
    """Read the first `most` rows of the lane from the place `first` on."""

    first: int
    most: int


@dataclass(frozen=True, slots=True)
class ReadEvent:
    """Read `body` as the deployed application does: the answer is an event, one with a fault if it is not valid."""

    body: str


@dataclass(frozen=True, slots=True)
class Perform:
    """Perform the effect of `event`: the answer says why it is refused, or is empty, or the error that it met."""

    event: OrderEvent


@dataclass(frozen=True, slots=True)
class KeepRejects:
    """Keep these among the rejects; nothing that happens later can make the lane take them."""

    rejections: tuple[Rejection, ...]


Need = ReadRows | ReadEvent | Perform | KeepRejects


class Missing(Exception):
    """Ends a decision that cannot be made yet."""

    def __init__(self, need: Need) -> None:
        super().__init__(need)
        self.need = need


@dataclass(frozen=True, slots=True)
class Known:
    """The answers to what a decision has needed; each method raises Missing if nobody has asked yet."""

    answers: dict[Need, Any] = field(default_factory=dict)

    def rows(self, first: int, most: int) -> Sequence[Kept]:
        """The rows of the lane from `first` on."""
        found: Sequence[Kept] = self._answer(ReadRows(first, most))
        return found

    def event(self, body: str) -> OrderEvent:
        """The event that the application reads in a text."""
        found: OrderEvent = self._answer(ReadEvent(body))
        return found

    def effect(self, event: OrderEvent) -> str | Transient:
        """What came of the effect of an event."""
        found: str | Transient = self._answer(Perform(event))
        return found

    def keep(self, rejections: tuple[Rejection, ...]) -> None:
        """Have rejects kept before the lane is written."""
        self._answer(KeepRejects(rejections))

    def _answer(self, need: Need) -> Any:
        if need not in self.answers:
            raise Missing(need)
        return self.answers[need]


def attempted(decide: Callable[[], T]) -> T | Need:
    """What `decide` says, or what it needs to know first."""
    try:
        return decide()
    except Missing as missing:
        return missing.need
