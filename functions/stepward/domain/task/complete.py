"""The end of a step that was done, or refused for good; what follows is claimed in the same write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepward.domain.history import HistoryKind
from stepward.domain.replace import replace
from stepward.domain.task.change import TaskChange
from stepward.domain.task.claim import follow, log_if_processed
from stepward.domain.task.record import ProcessState, StepRecord
from stepward.domain.task.undo import begin_undo, log_if_undone, no_return
from stepward.domain.workflow.plan import Exhausted


def complete(
    change: TaskChange, record: StepRecord, result: Mapping[str, Any], causation_id: str, size: int = 0
) -> None:
    """End the step as Processed, with its result (of `size` bytes if it is large); `causation_id` is what ended it."""
    change.steps[record.name] = replace(
        record.supplied(),
        process_state=ProcessState.PROCESSED,
        locked_by=None,
        complete_by=None,
        ended_at=change.now,
        result=result,
        size=size,
        raised=None,
        error=None,
        alert_by=None,
    )
    took = change.now - (record.started_at or change.now)
    change.log(HistoryKind.COMPLETED, record.name, record.attempt, record.locked_by or "", value=took)
    follow(change, record.name, causation_id)
    log_if_undone(change)
    log_if_processed(change)


def refused(change: TaskChange, record: StepRecord, reason: str, causation_id: str) -> None:
    """End a step for good that was refused: in Error, or with the undo of the whole order, as its policy says."""
    change.steps[record.name] = record
    on_permanent = change.plan.by_name[record.name].on_permanent
    if on_permanent is Exhausted.UNDO and not change.undoing and not no_return(change):
        begin_undo(change, causation_id, f"{record.name}: {reason}")
    else:
        change.fail(record, reason)
