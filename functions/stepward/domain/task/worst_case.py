"""How long a task may take if all goes as badly as its plan allows; an older task needs a person."""

from __future__ import annotations

from collections.abc import Callable

from stepward.domain.backoff import backoff
from stepward.domain.history import NEW_START
from stepward.domain.task.kinds import kind_of
from stepward.domain.task.record import Task, TimeLimit
from stepward.domain.timing import Timing
from stepward.domain.workflow.effects import MOST_INLINE, tens
from stepward.domain.workflow.plan import Exhausted, Plan, PlannedStep


def overtime(task: Task, plan: Plan, now: int, timing: Timing) -> int:
    """By how many milliseconds the task is past its worst case; zero or less if it is not.

    A resume, a resubmission and the beginning of an undo start the count anew, but never go past the order's
    complete-by.
    """
    begun = max([task.created_at, *(entry.at for entry in task.history if NEW_START in entry.kind.marks)])
    limit = task.limit(plan) if task.time_limit is TimeLimit.HOLDS else None
    turns = max(1, *(tens(record.items) for record in task.steps.values()))
    return now - begun - turns * worst_case(plan, timing, None if limit is None else max(0, limit - begun))


def worst_case(plan: Plan, timing: Timing, within: int | None = None) -> int:
    """Milliseconds for the longest path of the plan forward, and then back again, with every attempt used up.

    If the order has to be complete `within` some milliseconds, only the attempts that run then may still end.
    """

    def forward(step: PlannedStep) -> int:
        return kind_of(step.kind).longest(step, timing)

    def back(step: PlannedStep) -> int:
        if step.child is not None:
            return forward(step)
        own = attempts(step, timing) if any(executor.undo for executor in step.executors) else 0
        return own + in_turns(step, sum(map(back, step.parts)))

    ahead = _longest_path(plan, forward)
    if within is not None:
        last = max(step.complete_within for step in plan.with_parts)
        ahead = min(ahead, within + last + 2 * _found_late(timing))
    return ahead + _longest_path(plan, back)


def _longest_path(plan: Plan, weight: Callable[[PlannedStep], int]) -> int:
    weights = {step.name: weight(step) for step in plan.steps}
    reached = dict.fromkeys(weights, 0)
    for _ in plan.steps:
        for step in plan.steps:
            reached[step.name] = weights[step.name] + max((reached[name] for name in step.after), default=0)
    return max(reached.values(), default=0)


def attempts(step: PlannedStep, timing: Timing) -> int:
    """One round of attempts, each claimed, found overdue and freed as late as can be, and followed by its backoff."""
    backoffs = sum(backoff(failures, 1.0) for failures in range(1, step.threshold + 1))
    return (
        step.threshold * (timing.claim_within + step.complete_within + step.answer_within + _found_late(timing))
        + backoffs
    )


def _found_late(timing: Timing) -> int:
    return timing.skew_margin + timing.claim_within


def in_turns(step: PlannedStep, each: int) -> int:
    """How long an each takes whose items take so long; it has `MOST_INLINE` at most, some at once."""
    return each * -(-MOST_INLINE // step.at_once) if step.parts else 0


def waits(step: PlannedStep) -> int:
    """The waits between the rounds."""
    return sum(policy.wait * policy.rounds for policy in step.exhausted if policy.kind is Exhausted.WAIT)
