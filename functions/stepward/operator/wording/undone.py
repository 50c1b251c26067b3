"""What an undo has achieved, and what it leaves."""

from __future__ import annotations

from stepward.domain.task.record import Task
from stepward.domain.task.undo import lasting_effects
from stepward.domain.workflow.plan import Plan


def undone(task: Task, plan: Plan) -> str:
    """That all effects of an Undone order are compensated, or which steps have no undo."""
    found = dict(lasting_effects(task, plan))
    surely = [name for name, had_effect in found.items() if had_effect]
    perhaps = [name for name in found if name not in surely]
    stands = [_stands(names, verb) for names, verb in ((surely, "stands"), (perhaps, "may stand")) if names]
    return "; ".join(stands) or "all its effects are compensated"


def _stands(names: list[str], verb: str) -> str:
    if len(names) == 1:
        return f"{names[0]} has no undo: its effect {verb}"
    return f"{', '.join(names[:-1])} and {names[-1]} have no undo: their effects {verb.replace('stands', 'stand')}"
