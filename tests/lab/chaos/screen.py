"""What a person sees while faults rain: counts instead of a line for each recovery."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from orders.demo.audit import Heard
from orders.demo.live import Screen
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.task.record import Task


@dataclass(slots=True)
class CountingScreen(Screen):
    """The demonstration's table, without the lines about single orders; `happened` counts what they would tell."""

    happened: Counter[HistoryKind] = field(default_factory=Counter)

    def notice(self, heard: Heard, seconds: float) -> None:  # noqa: ARG002 - as its parent's
        """Count a notice."""
        self.notices += 1

    def _tell(self, task: Task, entry: HistoryEntry, seconds: float) -> None:  # noqa: ARG002 - as its parent's
        self.happened[entry.kind] += 1
