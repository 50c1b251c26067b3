"""The in-memory twin of the shared records."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

from stepward.domain.coordination.shared_record import Control
from stepward.wire.strict_json import canonical


@dataclass(slots=True)
class MemoryControls:
    """Records in a dictionary, with the same conditions on each write; safe under threads.

    `writes` counts the writes that won.
    """

    kept: dict[str, Control] = field(default_factory=dict)
    writes: int = 0
    lock: Lock = field(default_factory=Lock)

    def read(self, name: str) -> Control | None:
        """The record under this name; see the port."""
        return self.kept.get(name)

    def write(self, control: Control, *, replaces: Control | None) -> bool:
        """Put it if nobody was faster; see the port."""
        canonical(control.body)
        with self.lock:
            now = self.kept.get(control.name)
            if (now.revision if now else None) != (replaces.revision if replaces else None):
                return False
            self.kept[control.name] = control
            self.writes += 1
            return True
