"""What an undo has achieved, and what it leaves."""

from __future__ import annotations

from collections.abc import Iterator

from stepward.domain.task.record import Task
from stepward.domain.task.undo import lasting_effects
from stepward.domain.workflow.plan import Plan


def undone(task: Task, plan: Plan) -> str:
    """That all effects of an Undone order are compensated, or which steps have no undo."""
    found = dict(lasting_effects(task, plan))
    surely = [name for name, had_effect in found.items() if had_effect]
    perhaps = [name for name in found if name not in surely]
    stands = [*_stands(surely, "stands", "stand"), *_stands(perhaps, "may stand", "may stand")]
    return "; ".join(stands) or "all its effects are compensated"


def _stands(names: list[str], one: str, several: str) -> Iterator[str]:
    match names:
        case [name]:
            yield f"{name} has no undo: its effect {one}"
        case [*first, last]:
            yield f"{', '.join(first)} and {last} have no undo: their effects {several}"
