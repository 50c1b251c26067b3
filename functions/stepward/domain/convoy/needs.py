"""What a decision about a lane needs to know beyond the lane's own record, and what is known of that so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from stepward.domain.convoy.event import OrderEvent


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


class Known(dict[Need, Any]):
    """The answers to what a decision has needed: a need without one ends the decision, which begins again with it."""

    def __missing__(self, need: Need) -> NoReturn:
        raise Missing(need)
