"""Shard leases: Supervisors share the shards, and none does another's work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stepward.app.optimistic import SharedValue
from stepward.domain.coordination.lease import Lease, given_back, lease_of, take
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.errors import StepwardError
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.ports import SharedRecords, Telemetry


@dataclass(frozen=True, slots=True)
class Hold:
    """A shard that may be swept until `until` (epoch ms); without `record` there is no lease behind it."""

    until: int
    lease: Lease | None = None
    record: SharedValue[Lease] | None = None


@dataclass(frozen=True, slots=True)
class Leases:
    """Takes shards on behalf of `holder`, each for `length` milliseconds.

    A lease saves work, and no more: every recovery is conditional. So a shard whose lease can be neither read nor
    written is swept all the same.
    """

    shared_records: SharedRecords
    telemetry: Telemetry
    holder: str
    length: int
    skew_margin: int
    now: Callable[[], int]

    def take(self, shard: int) -> Hold | None:
        """The shard, if nobody else holds it."""
        # The lease begins before it is asked for, so it never lasts longer than its holder believes.
        now = self.now()
        try:
            return self._take(f"lease/{shard}", now)
        except StepwardError as error:
            self._unleased(shard, f"swept without a lease: {error}")
            return Hold(now + self.length)

    def give_back(self, shard: int, hold: Hold) -> None:
        """Give the lease back; one that cannot be given back runs out."""
        if hold.record is None or hold.lease is None:
            return
        try:
            hold.record.write(given_back(hold.lease))
        except StepwardError as error:
            self._unleased(shard, f"not given back: {error}")

    def _take(self, name: str, now: int) -> Hold | None:
        record = SharedValue(self.shared_records, name, _lease, Lease.to_body)
        lease = take(record.read(), self.holder, now=now, length=self.length, skew_margin=self.skew_margin)
        # A write that loses leaves the shard to the one that was faster.
        return Hold(lease.until, lease, record) if lease and record.write(lease) else None

    def _unleased(self, shard: int, note: str) -> None:
        self.telemetry.record(
            "", HistoryEntry(self.now(), HistoryKind.UNLEASED, by=self.holder, note=f"shard {shard} {note}")
        )


def _lease(shared_record: SharedRecord | None) -> Lease:
    return (lease_of(shared_record.body) if shared_record else None) or Lease("", 0, 0)
