"""What an order waits for, from its record."""

from __future__ import annotations

from collections.abc import Iterator

from stepward.domain.steps.many import by_children, children, ended
from stepward.domain.task.change import TaskChange
from stepward.domain.task.claim import ready
from stepward.domain.task.record import SERVICE, ProcessState, StepRecord, Task, TimeLimit
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Plan, PlannedStep, StepKind
from stepward.operator.wording.timeline import all_records, is_wait
from stepward.operator.wording.times import day_and_time, span


def awaited_agents(task: Task, plan: Plan, now: int) -> set[str]:
    """The agents of the steps that run or are next."""
    waiting = _next(task, plan, now)
    working = [r for r in task.steps.values() if r.process_state is ProcessState.PROCESSING or r.name in waiting]
    return {plan.by_name[record.name].executor(record.policy).agent for record in working}


def _next(task: Task, plan: Plan, now: int) -> set[str]:
    """The steps that are next."""
    return {step.name for step in ready(TaskChange(task, plan, now, "", Timing(), {}))}


def prospects(task: Task, plan: Plan, now: int) -> list[str]:
    """What the order waits for: a sentence for each step that runs or is next."""
    waiting = _next(task, plan, now)
    paused = f"The order is paused: {task.paused}. Running steps may end, no step starts."
    sentences = [*([paused] if task.paused else []), *_overdue(task, plan, now)]
    for record in all_records(task, plan):
        planned = plan.by_name[record.name]
        if record.process_state is ProcessState.PROCESSING and is_wait(planned):
            sentences.append(_waiting(planned, record, now))
        elif record.lacks:
            sentences.append(f"{record.name} waits for a deployment, uncounted: {record.lacks}.")
        elif record.process_state is ProcessState.PROCESSING:
            sentences.append(_running(record, now))
        elif record.name in waiting and (backoff := (record.not_before or 0) - now) > 0:
            sentences.append(f"{record.name} waits another {span(backoff)} (backoff) before its next attempt.")
        elif record.name in waiting:
            waits = f"{record.name} waits for a Scheduler to claim it; if none does, the Supervisor sends a reminder."
            sentences.append(waits)
    return sentences


def _overdue(task: Task, plan: Plan, now: int) -> Iterator[str]:
    """That the order's complete-by has passed, if that still keeps steps from starting."""
    limit = task.limit(plan)
    stops = task.time_limit is not TimeLimit.LIFTED and not task.undoing and not task.has_ended
    if stops and limit is not None and limit <= now:
        yield f"The order's complete-by passed {span(now - limit)} ago. Running steps may end, no step starts."


def _running(record: StepRecord, now: int) -> str:
    left = (record.complete_by or now) - now
    if left > 0 and record.locked_by == SERVICE:
        return f"{record.name} waits for its service, which has {span(left)} left to answer attempt {record.attempt}."
    if left > 0:
        return f"{record.name} is running: attempt {record.attempt}, {span(left)} left until its complete-by."
    late = f"{record.name}: attempt {record.attempt} passed its complete-by {span(-left)} ago"
    return f"{late}; the Supervisor will act on it at its next deadline check."


def _waiting(planned: PlannedStep, record: StepRecord, now: int) -> str:
    at = record.complete_by or now
    until = day_and_time(at) if at > now else f"{day_and_time(at)}, which has passed: the Supervisor will act on it"
    if planned.kind is StepKind.TIMER:
        return f"{record.name} is a timer, and ends at {until}."
    if planned.kind is StepKind.EACH:
        many = f"; {ended(record)} of {children(record)} orders of ten have ended" if by_children(record) else ""
        return f"{record.name} waits for its {record.items:,} items, {planned.at_once} at once{many}."
    reminded = "; the operators were reminded" if record.lacks else ""
    return f"{record.name} waits for its signal until {until}{reminded}."
