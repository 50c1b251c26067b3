"""What a deployment lacks for a step: its agent's queue, or code that knows what it meets; and what a task needs.

Nobody is to blame for a lack. So the step waits as long as it takes: no failure is counted, the claim does not count
towards the task's bound, and no policy applies, except that a fallback takes over from an agent without a queue.
"""

from __future__ import annotations

from dataclasses import replace

from stepward.domain.history import HistoryKind
from stepward.domain.messages import Answered, Reply
from stepward.domain.task.change import Decision, TaskChange
from stepward.domain.task.record import NewerPlan, ProcessState, StepRecord, Task
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Plan

TOLD_AFTER = 300_000
"""Milliseconds for which a lack is a deployment on its way: functions are updated within a few minutes of each other.
Of one that lasts longer an operator is told."""
NO_PLAN = Plan("", 0, ())
"""Stands in for a plan that only newer code knows."""


def lack(change: TaskChange, record: StepRecord, what: str) -> StepRecord:
    """The step, with `what` it lacks; an operator hears of it if it lasts."""
    if record.lacks == what:
        return record
    change.log(HistoryKind.LACKING, record.name, record.attempt, note=what)
    return replace(record, lacks=what, alert_by=record.alert_by or change.now + TOLD_AFTER)


def without_queue(agent: str) -> str:
    """What a step lacks whose agent has no queue."""
    return f"agent {agent} has no queue; deploy it"


def no_queue(change: TaskChange, record: StepRecord, agent: str) -> StepRecord:
    """The step, which waits until its agent has a queue, and is looked at again soon."""
    waiting = lack(change, record, without_queue(agent))
    return replace(waiting, complete_by=change.now + change.timing.claim_within)


def not_understood(change: TaskChange, record: StepRecord, what: str) -> None:
    """Somebody does not know the operation, or a message of the attempt; that waits, and is tried again."""
    lacking = lack(change, record, what)
    change.steps[record.name] = replace(lacking, untried=record.attempt)


def spared(newer: NewerPlan, reply: Reply | Answered, *, now: int, by: str, timing: Timing) -> Decision:
    """The task, after an answer came while only newer code knows its plan: the attempt is spared, if it holds the step.

    That asks nothing of the plan. What else waits is known only from the plan, so no due time moves forward.
    """
    task, record = newer.task, newer.task.steps.get(reply.step)
    if record is None or record.process_state is not ProcessState.PROCESSING:
        return Decision(task)
    ours = record.token == reply.token if isinstance(reply, Reply) else task.created_at == reply.created_at
    if not ours or record.attempt != reply.attempt or record.untried == reply.attempt:
        return Decision(task)
    change = TaskChange(task, NO_PLAN, now, by, timing, order=None)
    not_understood(change, record, f"the Scheduler cannot read {newer}")
    return change.decision((), task.due)


def needed(task: Task, plan: Plan, *, cancellable: bool = False) -> frozenset[tuple[str, str]]:
    """The operations, as (agent, name), that the task may still ask for: those to come, and the undo of what is done.

    An ended task asks for nothing, unless it is `cancellable`: events of its order may still come.
    """
    if task.has_ended and (task.undoing or not cancellable):
        return frozenset()
    undos = [plan.by_name[name] for name, record in task.steps.items() if record.is_compensation]
    asked = {operation for undo in undos for operation in undo.executor(0).operations}
    asked.update(*(undo.child.operations(done=True) for undo in undos if undo.child is not None))
    of_items = [executor for undo in undos for part in undo.parts for executor in part.executors if executor.undo]
    asked.update(*(executor.operations[1:] for executor in of_items))
    for step in () if task.undoing else plan.steps:
        record = task.steps[step.name]
        if record.process_state is ProcessState.SKIPPED:
            continue
        done = record.process_state is ProcessState.PROCESSED
        of_items = [executor for part in step.parts for executor in part.executors]
        for executor in (*step.executors_from(record.policy)[: 1 if done else None], *of_items):
            asked.update(executor.operations[done:] if executor.undo or not done else ())
        if step.child is not None:
            asked.update(step.child.operations(done=done))
    return frozenset(asked)
