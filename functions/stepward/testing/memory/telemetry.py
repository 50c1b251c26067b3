"""The in-memory twin of logs and metrics."""

from __future__ import annotations

from dataclasses import dataclass, field

from stepward.domain.health import Health, Swept
from stepward.domain.history import HistoryEntry, HistoryKind


@dataclass(slots=True)
class MemoryTelemetry:
    """Keeps every fact, with its order id, every sweep, and how services were doing."""

    history: list[tuple[str, HistoryEntry]] = field(default_factory=list)
    sweeps: list[Swept] = field(default_factory=list)
    looks: list[Health] = field(default_factory=list)

    def record(self, order_id: str, entry: HistoryEntry) -> None:
        """Keep one fact; see the port."""
        self.history.append((order_id, entry))

    def swept(self, figures: Swept) -> None:
        """Keep what a sweep found; see the port."""
        self.sweeps.append(figures)

    def health(self, health: Health) -> None:
        """Keep how a service is doing; see the port."""
        self.looks.append(health)

    def count(self, kind: HistoryKind) -> int:
        """How often this happened."""
        return sum(entry.kind is kind for _, entry in self.history)
