"""The workflows of the worlds: pairs of an old version and the one that is deployed while orders are under way."""

from typing import Any

from stepward.domain.workflow.plan import Exhausted, Plan, PlannedStep
from tests.factories import ALERTS, HOUR, MINUTE, SECOND, UNDOES, falls_back, planned, waits

SHORT: dict[str, Any] = {"complete_within": 30 * SECOND, "threshold": 2}
LONG: dict[str, Any] = {"complete_within": 2 * MINUTE, "threshold": 3}
UNDOING: dict[str, Any] = {"exhausted": (UNDOES,), "on_permanent": Exhausted.UNDO}
ELSEWHERE = falls_back("other", undo="give_back")


def _both(name: str, *steps: PlannedStep) -> tuple[Plan, Plan]:
    """The plan, and its next version: with a step more at its end, and more patience with each."""
    last = planned("thank", steps[-1].name, undo="unthank", **SHORT)
    return Plan(name, 1, steps), Plan(name, 2, (*steps, last))


LINE = _both(
    "line",
    planned("reserve", **SHORT),
    planned("charge", "reserve", **LONG),
    planned("ship", "charge", **SHORT),
)
UNDOABLE = _both(
    "undoable",
    planned("reserve", undo="release", **LONG, **UNDOING),
    planned("charge", "reserve", undo="refund", **SHORT, **UNDOING),
    planned("ship", "charge", undo="recall", **LONG, **UNDOING),
)
DIAMOND = _both(
    "diamond",
    planned("check", undo="uncheck", **SHORT),
    planned("pick", "check", undo="unpick", **SHORT, **UNDOING),
    planned("pay", "check", undo="unpay", **LONG),
    planned("ship", "pick", "pay", undo="recall", **SHORT, **UNDOING),
)
PATIENT = _both(
    "patient",
    planned("pick", undo="unpick", **SHORT, exhausted=(ELSEWHERE, waits(2 * MINUTE), ALERTS)),
    planned("pay", "pick", undo="unpay", **SHORT, exhausted=(waits(HOUR), ELSEWHERE, UNDOES)),
)
FINAL = _both(
    "final",
    planned("pick", undo="unpick", **SHORT, **UNDOING),
    planned("print", "pick", undo="shred", **SHORT, **UNDOING, point_of_no_return=True),
    planned("ship", "print", undo="recall", **SHORT, **UNDOING),
)
FAMILIES = [LINE, UNDOABLE, DIAMOND, PATIENT, FINAL]
"""A plan that cannot be undone is only paused and resumed: nothing takes back what it did."""
