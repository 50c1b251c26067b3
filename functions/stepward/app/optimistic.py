"""The one way to change what others may change at the same time: read, decide, write if nobody was faster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.errors import Conflict
from stepward.ports import SharedRecords

TRIES = 8

Value = TypeVar("Value")


@dataclass(slots=True)
class Race:
    """Bounds the tries of one optimistic write; `what` names the record.

    Whoever changes a record reads it, decides, and writes if nobody was faster; a write that lost is reported with
    `lost`, and then all of it is done again. A write knows its own success when its answer was lost.
    """

    what: str
    tries: int = TRIES
    losses: int = field(default=0, init=False)

    def lost(self) -> None:
        """Somebody else was faster; raises Conflict if that was the last try."""
        self.losses += 1
        if self.losses >= self.tries:
            raise Conflict(f"{self.what}: {self.tries} writes lost the race; try again")


@dataclass(slots=True)
class SharedValue(Generic[Value]):
    """The value of a shared record, as this instance last read or wrote it.

    `decode` reads a record, which is None until somebody wrote it; `encode` makes the body of a record.
    """

    shared_records: SharedRecords
    name: str
    decode: Callable[[SharedRecord | None], Value]
    encode: Callable[[Value], Mapping[str, Any]]
    known: SharedRecord | None = field(default=None, init=False)

    def read(self) -> Value:
        """The value, read consistently; raises Transient or Unreadable."""
        self.known = self.shared_records.read(self.name)
        return self.decode(self.known)

    def write(self, value: Value) -> bool:
        """Write the value if the record is still as it was last read or written; raises Transient."""
        following = SharedRecord(self.name, self.known.revision + 1 if self.known else 1, self.encode(value))
        won = self.shared_records.write(following, replaces=self.known)
        if won:
            self.known = following
        return won

    def change(self, decide: Callable[[Value], Value], tries: int = TRIES) -> tuple[Value, Value]:
        """Write what `decide` makes of the value, and nothing if that is the same; the value before and after."""
        race = Race(self.name, tries)
        while True:
            before = self.read()
            after = decide(before)
            if after == before or self.write(after):
                return before, after
            race.lost()
