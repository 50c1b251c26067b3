"""An order, or its lane, as one row of a list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stepward.domain.convoy.event import sequence_name
from stepward.domain.convoy.lane import Lane
from stepward.domain.history import HistoryKind
from stepward.domain.key import TaskKey
from stepward.domain.task.record import ProcessState, StepRecord, Task
from stepward.operator.lane_words import lane_state, why_it_waits

_AT = frozenset({ProcessState.PROCESSING, ProcessState.ERROR})


@dataclass(frozen=True, slots=True)
class Row:
    """An order in a list; `key` is its task's. Times are epoch milliseconds.

    `step` names the steps that run, wait or failed, with commas between; `reason` says why the order waits for an
    operator. `since` is when that began, or else when the order was submitted; `updated` is its newest known change.
    `alerted` tells whether the operators have been alerted to every step in Error. `customer` is empty if unknown.
    """

    key: str
    order_id: str
    workflow: str
    customer: str
    state: str
    step: str
    reason: str
    since: int
    submitted: int
    updated: int
    alerted: bool = False
    waits: bool = False


def row_of(task: Task, default: str, customer: str = "") -> Row:
    """The row of a task; `default` is the name of the default workflow."""
    parts, waits = TaskKey.read(task.order_id), task.needs_attention
    at = [record for record in task.steps.values() if record.process_state in _AT or record.lacks]
    times = [at for record in task.steps.values() for at in (record.started_at, record.ended_at) if at is not None]
    return Row(
        key=task.order_id,
        order_id=parts.order_id,
        workflow=parts.workflow or default,
        customer=customer or parts.customer_id,
        state=task.process_state,
        step=", ".join(record.name for record in at),
        reason="; ".join(reasons(task)),
        since=task.created_at if waits is None else waits,
        submitted=task.created_at,
        updated=max([task.created_at, *times, *(entry.at for entry in task.history)]),
        alerted=bool(at) and all(_is_alerted(record) for record in at),
        waits=waits is not None,
    )


def row_of_lane(lane: Lane, default: str) -> Row:
    """The row of a lane that waits for an operator."""
    parts, since = TaskKey.read(lane.order_id), lane.needs_attention or lane.gap_since or lane.touched_at
    position = lane.blocked.position if lane.blocked else lane.last + 1
    return Row(
        key=lane.order_id,
        order_id=parts.order_id,
        workflow=parts.workflow or default,
        customer=lane.customer_id or parts.customer_id,
        state=lane_state(lane),
        step=sequence_name(position),
        reason=why_it_waits(lane),
        since=since,
        submitted=since,
        updated=lane.touched_at,
        alerted=lane.needs_attention is not None,
        waits=True,
    )


def reasons(task: Task) -> Iterator[str]:
    """The reasons why an order waits for an operator, a phrase each; none if it does not wait."""
    for record in task.steps.values():
        if record.process_state is ProcessState.ERROR:
            yield f"{record.name}: {record.error or 'Error'}"
        elif record.lacks:
            yield f"{record.name}: {record.lacks}"
    if task.paused:
        paused = next((entry for entry in reversed(task.history) if entry.kind is HistoryKind.PAUSED), None)
        yield f"paused{f' by {paused.by}' if paused else ''}: {task.paused}"


def _is_alerted(record: StepRecord) -> bool:
    return record.process_state is ProcessState.ERROR and record.alert_by is None
