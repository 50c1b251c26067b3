"""An order's own complete-by: past it nothing starts any more, and the workflow's policy applies, once."""

from __future__ import annotations

from datetime import UTC, datetime

from stepward.domain.history import HistoryKind
from stepward.domain.task.change import TaskChange
from stepward.domain.task.claim import waits_for
from stepward.domain.task.kinds import items_begun
from stepward.domain.task.record import ProcessState, StepRecord, TimeLimit
from stepward.domain.task.undo import begin_undo, no_return
from stepward.domain.workflow.effects import MOST_INLINE
from stepward.domain.workflow.plan import Exhausted


def times_out(change: TaskChange) -> int | None:
    """When the policy has to be applied (epoch ms); None if there is nothing to stop, or an operator acts anyway.

    An attempt that runs may end, so an alert has to stop only what has not begun.
    """
    if undoes(change):
        ended = all(change.is_done(step.name) for step in change.plan.steps)
        return None if ended else change.limit
    return change.limit if _not_begun(change) and not change.has_error else None


def undoes(change: TaskChange) -> bool:
    """Whether the policy is to undo; past the point of no return it is an alert."""
    return change.plan.on_timeout is Exhausted.UNDO and not no_return(change)


def check_limit(change: TaskChange) -> None:
    """Apply the policy if the order's complete-by has passed."""
    limit = times_out(change)
    if limit is None or not change.is_late:
        return
    undo, stuck, reason = undoes(change), no_return(change), _passed(limit)
    change.time_limit = TimeLimit.PASSED
    change.log(HistoryKind.TIMED_OUT, note=reason, value=change.now - limit)
    if undo:
        begin_undo(change, "complete-by", reason)
        return
    forward = f"; it cannot be undone past {stuck}" if stuck and change.plan.on_timeout is Exhausted.UNDO else ""
    change.fail(_not_begun(change)[0], f"{reason}{forward}; a resubmission lifts it")


def lift_limit(change: TaskChange) -> None:
    """Give an order time again on which an operator acts after its complete-by."""
    if change.is_late or (change.time_limit is TimeLimit.PASSED and not change.undoing):
        change.time_limit = TimeLimit.LIFTED


def _not_begun(change: TaskChange) -> list[StepRecord]:
    """The Pending steps, and eaches that have not begun all; first those that nothing but the limit holds up."""
    forward = [record for record in change.steps.values() if not record.is_compensation]
    pending = [record for record in forward if record.process_state is ProcessState.PENDING]
    pending += [record for record in forward if _begins_more(change, record)]
    return sorted(pending, key=lambda record: not all(map(change.is_done, waits_for(change, record.name))))


def _begins_more(change: TaskChange, record: StepRecord) -> bool:
    """Whether it is an each of many items that has children to begin; one that is held up may have asked nobody."""
    if not record.runs or record.items <= MOST_INLINE:
        return False
    return record.complete_by is None or items_begun(change.plan.by_name[record.name], record) < record.items


def _passed(limit: int) -> str:
    at = datetime.fromtimestamp(limit // 1000, UTC).isoformat().replace("+00:00", "Z")
    return f"the order's complete-by, {at}, has passed"
