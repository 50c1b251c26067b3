"""The JSON documents of `--json`; programs may rely on their keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stepward.domain.key import named
from stepward.domain.rejects import Reject
from stepward.domain.task.record import DONE, Loaded, ProcessState, StepRecord, Task
from stepward.domain.workflow.plan import Plan, forward_name
from stepward.operator.wording.timeline import all_records

Document = dict[str, Any]
BUSY = frozenset({ProcessState.PROCESSING, ProcessState.ERROR})


def task_document(loaded: Loaded, *, with_order: bool) -> Document:
    """One order in full."""
    task, plan = loaded.task, loaded.plan
    history = [
        {"at": each.at, "kind": each.kind, "step": each.step, "attempt": each.attempt, "by": each.by, "note": each.note}
        for each in task.history
    ]
    document = {
        **named(task.order_id, plan.workflow),
        "state": task.process_state,
        "version": plan.version,
        "submittedAt": task.created_at,
        "endedAt": task.ended_at,
        "due": task.due,
        "completeBy": task.limit(plan),
        "timeLimit": task.time_limit or None,
        "undoing": task.undoing or None,
        "paused": task.paused or None,
        "needsAttentionSince": task.needs_attention,
        "correlationId": task.correlation_id or None,
        "steps": [_step(record, plan) for record in all_records(task, plan)],
        "history": history,
    }
    return document | ({"order": loaded.order} if with_order else {})


def listed_document(tasks: Sequence[Task], corrupt: Sequence[str], workflow: str = "", *, more: bool) -> Document:
    """Orders in a list; `workflow` is the name of the default workflow."""
    orders = [
        {
            **named(task.order_id, workflow),
            "state": task.process_state,
            "submittedAt": task.created_at,
            "endedAt": task.ended_at,
            "steps": len(forward(task)),
            "done": done(task),
            "at": [record.name for record in task.steps.values() if record.process_state in BUSY],
        }
        for task in tasks
    ]
    return {"orders": orders, "corrupt": list(corrupt), "more": more}


def reject_document(reject: Reject, workflow: str = "", *, with_body: bool) -> Document:
    """One rejected message."""
    document: Document = {
        "messageId": reject.message_id,
        "receivedAt": reject.received_at,
        "source": reject.source,
        **named(reject.order_id, workflow if reject.order_id else ""),
        "field": reject.field,
        "reason": reject.reason,
    }
    return document | ({"body": reject.body} if with_body else {})


def forward(task: Task) -> list[StepRecord]:
    """The records of the steps, without those that undo them."""
    return [record for record in task.steps.values() if not record.is_compensation]


def done(task: Task) -> int:
    """How many steps are Processed, or skipped."""
    return sum(record.process_state in DONE for record in forward(task))


def _step(record: StepRecord, plan: Plan) -> Document:
    planned = plan.by_name[record.name]
    return {
        "name": record.name,
        "undoes": forward_name(record.name) if record.is_compensation else None,
        "kind": planned.kind,
        "agent": planned.executor(record.policy).agent or None,
        "state": record.process_state,
        "attempt": record.attempt,
        "failures": record.failure_count,
        "threshold": planned.threshold,
        "lockedBy": record.locked_by,
        "startedAt": record.started_at,
        "completeBy": record.complete_by,
        "notBefore": record.not_before,
        "endedAt": record.ended_at,
        "result": record.result,
        **({"resultBytes": record.size} if record.size else {}),
        "error": record.error,
        "lacks": record.lacks or None,
        "raised": record.raised,
        "signalKept": record.early.signal_id if record.early else None,
    }
