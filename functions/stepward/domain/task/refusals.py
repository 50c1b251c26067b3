"""Why a message has no effect: a code for programs, and a text for people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class RefusalCode(StrEnum):
    """The reasons; the first eight are those of an operator's command."""

    UNDO_BEGUN = "undo-begun"
    PAST_NO_RETURN = "past-no-return"
    PAUSED_ALREADY = "paused-already"
    ENDED = "ended"
    NOT_PAUSED = "not-paused"
    SUPERSEDED = "superseded"
    NOT_IN_ERROR = "not-in-error"
    TIMED_OUT = "timed-out"
    NO_SUCH_STEP = "no-such-step"
    WRONG_DOOR = "wrong-door"
    GIVEN = "given"
    LATE = "late"
    MOVED_ON = "moved-on"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a message has no effect."""

    code: RefusalCode
    text: str
