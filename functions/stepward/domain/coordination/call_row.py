"""Whether a service without idempotency keys may be called: asked first, if an earlier call may have had its effect.

A step with a `check` has a row for each effect. Whoever calls, or undoes, takes the row until the end of its time. Who
finds it taken waits, until the call has ended and its effect would show; then it asks before it acts. An undo closes
the row for ever before it asks, so that no forward call begins any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import Enum, auto
from typing import Any


class Turn(Enum):
    """What the holder of a request may do now."""

    CALL = auto()
    """Nobody has called yet, or a check has told that the call is needed."""
    ASK = auto()
    """Somebody may have called, and has ended: ask first."""
    WAIT = auto()
    """Somebody may be calling."""
    NOTHING = auto()
    """There is nothing to undo, or the effect is undone for good."""


@dataclass(frozen=True, slots=True)
class CallRow:
    """Who may be calling, and until when (epoch ms, by the holder's clock); `closed` by an undo.

    If it is `known` what a check found, nobody has called since: no effect stands, or, once it is closed, one does.
    """

    holder: str
    until: int
    closed: bool = False
    known: bool = False

    def body(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    @staticmethod
    def of(body: Mapping[str, Any]) -> CallRow:
        """The row that `body` wrote; raises KeyError, TypeError or ValueError."""
        return CallRow(str(body["holder"]), int(body["until"]), closed=bool(body["closed"]), known=bool(body["known"]))


@dataclass(frozen=True, slots=True)
class Claim:
    """A wish to call, or to undo, under a row; times are in milliseconds.

    It ends by `until`. An earlier call shows its effect `settles` after it has ended.
    """

    holder: str
    until: int
    undoes: bool
    settles: int

    def turn(self, row: CallRow | None, now: int) -> tuple[Turn, CallRow]:
        """What may be done at `now`, once the row is as it is in the answer."""
        taken = CallRow(self.holder, self.until, closed=self.undoes)
        if row is None:
            return (Turn.NOTHING if self.undoes else Turn.CALL), taken
        if row.closed and not self.undoes:
            return Turn.NOTHING, row
        if row.known:
            return (Turn.CALL if row.closed is self.undoes else Turn.NOTHING), taken
        if now < row.until + self.settles:
            return Turn.WAIT, replace(row, closed=self.undoes)
        return Turn.ASK, taken
