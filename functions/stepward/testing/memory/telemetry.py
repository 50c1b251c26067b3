"""Logs and metrics in memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from stepward.domain.health import Health, Swept
from stepward.domain.history import HistoryEntry, HistoryKind


@dataclass(slots=True)
class MemoryTelemetry:
    """Records every history entry with its order id, the figures of every sweep, and the health of services."""

    history: list[tuple[str, HistoryEntry]] = field(default_factory=list)
    sweeps: list[Swept] = field(default_factory=list)
    health_reports: list[Health] = field(default_factory=list)

    def record(self, order_id: str, entry: HistoryEntry) -> None:
        """Record one history entry; see the port."""
        self.history.append((order_id, entry))

    def swept(self, figures: Swept) -> None:
        """Record the figures of a sweep; see the port."""
        self.sweeps.append(figures)

    def health(self, health: Health) -> None:
        """Record the health of a service; see the port."""
        self.health_reports.append(health)

    def count(self, kind: HistoryKind) -> int:
        """How many entries of this kind there are."""
        return sum(entry.kind is kind for _, entry in self.history)
