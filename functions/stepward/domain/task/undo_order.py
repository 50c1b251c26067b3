"""The reverse order of undo: a step is undone after all steps that depended on it."""

from __future__ import annotations

from collections.abc import Iterator

from stepward.domain.task.change import TaskChange
from stepward.domain.workflow.plan import forward_name


def undo_waits_for(change: TaskChange, compensation: str) -> Iterator[str]:
    """The compensations that must be Processed first; none before a fallback, which undoes one step only."""
    if change.undoing:
        later = change.plan.dependents[forward_name(compensation)]
        yield from (other for other in change.compensations() if forward_name(other) in later)
