"""The pacer of a service: gives the calls of an agent's instances the slots of its rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from stepward.app.optimistic import SharedValue
from stepward.domain.coordination.pace import PATIENCE, Grant, Pace, Slot
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.ports import SharedRecords


@dataclass(slots=True)
class Pacer:
    """Paces the calls of one agent, in one process, to `rate` a second over all processes; safe under threads.

    It keeps the grant that it took last, and remembers for how long all slots are taken that it would wait for. The
    threads that want a slot are counted, by what each has put into `_wanting`.
    """

    agent: str
    shared_records: SharedRecords
    rate: float
    now: Callable[[], int]
    _grant: Grant = field(default_factory=Grant)
    _busy: range = range(0)
    _wanting: list[None] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def slot(self, now: int) -> Slot | int:
        """A slot for one call, or the milliseconds until one may be free.

        One thread takes a grant, the others wait for it. Raises Transient or Corrupt; without a slot nobody may call.
        """
        self._wanting.append(None)
        with self._lock:
            try:
                return self._slot(now)
            finally:
                self._wanting.pop()

    def _slot(self, now: int) -> Slot | int:
        found, self._grant = self._grant.next(now)
        if found is None and now not in self._busy:
            found, self._grant = self._taken(now).next(now)
        return found or self._busy.stop - now

    def _taken(self, now: int) -> Grant:
        """A grant; an empty one if the next is too far ahead.

        The clock is read again once the record is: by a clock from before a slow read, slots that others took meanwhile
        would look as if a wrong clock had taken them.
        """
        value = SharedValue(self.shared_records, f"pace/{self.agent}", _pace, Pace.body)
        wanted, grants = len(self._wanting), [Grant()]

        def take(found: Pace) -> Pace:
            taken, grant = found.taken(self.rate, max(now, self.now()), wanted)
            grants.append(grant)
            return taken

        before, after = value.change(take)
        if before != after:
            return grants[-1]
        self._busy = range(now, before.free // 1_000 - PATIENCE + 1)
        return Grant()


def _pace(shared_record: SharedRecord | None) -> Pace:
    return Pace() if shared_record is None else Pace.of(shared_record.body)
