"""The optimistic write: read, decide, write if nobody was faster, else do it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from stepward.domain.backoff import pause
from stepward.domain.coordination.shared_record import SharedRecord, with_extras
from stepward.domain.errors import Conflict
from stepward.ports import SharedRecords

TRIES = 8
PATIENT_TRIES = 16
LEAST_TIME = 2_000
"""Milliseconds in which a record can be read and written while nothing is wrong."""

Value = TypeVar("Value")


@dataclass(slots=True)
class Race:
    """Bounds the tries of one optimistic write; `what` names the record.

    A writer reads the record, decides, and writes it if nobody was faster. It reports a write that lost with `lost`,
    and begins again. A write whose answer got lost recognises its own success. `waits` is called with the number of
    losses before the next try, and says whether there is time for one.
    """

    what: str
    tries: int = TRIES
    waits: Callable[[int], bool] = lambda _: True
    losses: int = field(default=0, init=False)

    def lost(self) -> None:
        """Somebody else was faster; raises Conflict if that was the last try."""
        self.losses += 1
        if self.losses >= self.tries or not self.waits(self.losses):
            raise Conflict(f"{self.what}: {self.losses} writes lost the race; try again")


@dataclass(frozen=True, slots=True)
class Patience:
    """Lets losers of a race try again at different moments; `sleep` takes seconds, `jitter` gives from 0 to 1."""

    sleep: Callable[[float], None]
    jitter: Callable[[], float]

    def race(self, what: str, remaining: Callable[[], int]) -> Race:
        """A race with a wait before each further try, while `remaining` (ms) is enough for one."""

        def waits(losses: int) -> bool:
            wait = pause(losses, self.jitter())
            if remaining() < LEAST_TIME + wait:
                return False
            self.sleep(wait / 1000)
            return True

        return Race(what, PATIENT_TRIES, waits)


@dataclass(slots=True)
class SharedValue(Generic[Value]):
    """The value of a shared record, as this instance last read or wrote it.

    `decode` reads a record, which is None until somebody wrote it; `encode` makes the body of a record. What newer code
    added to the record stays in it.
    """

    shared_records: SharedRecords
    name: str
    decode: Callable[[SharedRecord | None], Value]
    encode: Callable[[Value], Mapping[str, Any]]
    known: SharedRecord | None = field(default=None, init=False)

    def read(self) -> Value:
        """The value, read consistently; raises Transient or Corrupt."""
        self.known = self.shared_records.read(self.name)
        return self.decode(self.known)

    def write(self, value: Value) -> bool:
        """Write the value if nobody changed the record since it was last read or written; raises Transient."""
        following = SharedRecord(self.name, self.known.revision + 1 if self.known else 1, self._body(value))
        won = self.shared_records.write(following, replaces=self.known)
        if won:
            self.known = following
        return won

    def _body(self, value: Value) -> Mapping[str, Any]:
        body = self.encode(value)
        return with_extras(body, self.known.body, self.encode(self.decode(self.known))) if self.known else body

    def change(self, decide: Callable[[Value], Value], tries: int = TRIES) -> tuple[Value, Value]:
        """Write the value that `decide` returns, if it differs; the value before and after."""
        race = Race(self.name, tries)
        while True:
            before = self.read()
            after = decide(before)
            if after == before or self.write(after):
                return before, after
            race.lost()
