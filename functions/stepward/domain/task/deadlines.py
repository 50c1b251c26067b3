"""The Supervisor's deadline check: frees what is overdue, reminds of what nobody claimed, repeats alerts."""

from __future__ import annotations

from stepward.domain.coordination.outlook import DeadlineCheck
from stepward.domain.history import HistoryKind
from stepward.domain.task.change import TaskChange
from stepward.domain.task.claim import ready
from stepward.domain.task.kinds import kind_of
from stepward.domain.task.notices import status_notice
from stepward.domain.task.order_limit import check_limit
from stepward.domain.task.record import ProcessState
from stepward.domain.task.worst_case import overtime


def check_deadlines(change: TaskChange, event: DeadlineCheck) -> None:
    """Act on all that is overdue, by a clock set back by the skew margin."""
    seen = change.now - change.timing.skew_margin
    _log_overtime(change, seen)
    if change.task.ended_at is not None:
        change.messages.extend(status_notice(change.task, change.now))
    check_limit(change)
    waiting = {planned.name for planned in ready(change)}
    for name, record in list(change.steps.items()):
        if change.steps[name] is not record:
            continue
        planned = change.plan.by_name[name]
        if record.lacks and record.alert_by is not None and record.alert_by <= seen:
            change.alert(record)
            record = change.steps[name]  # noqa: PLW2901 - what it lacks is told whatever else is overdue
        if record.process_state is ProcessState.PROCESSING and (record.complete_by or 0) <= seen:
            kind_of(planned.kind).late(change, planned, record, event)
        elif name in waiting and (record.complete_by or change.task.due or 0) <= seen:
            kind_of(planned.kind).unclaimed(change, planned, record, event)
        elif record.alert_by is not None and record.alert_by <= seen:
            change.alert(record)
            change.messages.extend(status_notice(change.task, change.now))


def _log_overtime(change: TaskChange, seen: int) -> None:
    late = overtime(change.task, change.plan, change.now, change.timing)
    if late > 0 and change.task.due is not None and change.task.due <= seen:
        change.log(HistoryKind.OVERTIME, note="not finished within its own worst case", value=late)
