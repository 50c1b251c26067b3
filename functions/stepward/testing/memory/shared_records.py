"""Shared records in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

from stepward.domain.coordination.shared_record import SharedRecord
from stepward.wire.strict_json import canonical


@dataclass(slots=True)
class MemorySharedRecords:
    """Records in a dictionary, with the same conditions on each write; safe under threads.

    `writes` counts the writes that won.
    """

    kept: dict[str, SharedRecord] = field(default_factory=dict)
    writes: int = 0
    lock: Lock = field(default_factory=Lock)

    def read(self, name: str) -> SharedRecord | None:
        """The record under this name; see the port."""
        return self.kept.get(name)

    def write(self, shared_record: SharedRecord, *, replaces: SharedRecord | None) -> bool:
        """Write it if nobody was faster; see the port."""
        canonical(shared_record.body)
        with self.lock:
            now = self.kept.get(shared_record.name)
            if now is shared_record:
                return True
            if (now.revision if now else None) != (replaces.revision if replaces else None):
                return False
            self.kept[shared_record.name] = shared_record
            self.writes += 1
            return True
