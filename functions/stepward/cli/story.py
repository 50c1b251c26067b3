"""What happened to an order, told from what its record remembers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from stepward.cli.terminal import span
from stepward.domain.draft import Draft
from stepward.domain.facts import Fact, FactKind
from stepward.domain.plan import Plan
from stepward.domain.task import HISTORY_LIMIT, ProcessState, StepRecord, Task
from stepward.domain.timing import Timing

TIMED_OUT = frozenset({FactKind.RECOVERED, FactKind.EXCUSED})


@dataclass(frozen=True, slots=True, order=True)
class Happening:
    """One thing that happened at `at` (epoch ms); `rank` puts what happened in the same write in its order."""

    at: int
    rank: int
    text: str
    trouble: bool = False


def story(task: Task, plan: Plan) -> list[Happening]:
    """From submission to now, oldest first."""
    told = chain(
        [Happening(task.created_at, 0, "the order was submitted")],
        _claims(task, plan),
        chain.from_iterable(_troubles(fact) for fact in task.history),
        _completions(task),
        _end(task),
    )
    return sorted(told)


def is_complete(task: Task) -> bool:
    """Whether the record still holds all its troubles, or so many that the oldest were dropped."""
    return len(task.history) < HISTORY_LIMIT


def ended_at(task: Task) -> int | None:
    """When the last step was Processed; None if the order has not got there."""
    if task.process_state is not ProcessState.PROCESSED:
        return None
    return max(record.ended_at or task.created_at for record in task.steps.values())


def in_plan_order(task: Task, plan: Plan) -> list[StepRecord]:
    """The step records in the order in which the workflow names them."""
    return [task.steps[step.name] for step in plan.steps if step.name in task.steps]


def prospects(task: Task, plan: Plan, now: int) -> list[str]:
    """What the order waits for, a sentence for each step that is at work or next."""
    ready = {step.name for step in Draft(task, plan, now, "", Timing()).ready()}
    sentences = []
    for record in in_plan_order(task, plan):
        if record.process_state is ProcessState.PROCESSING:
            sentences.append(_running(record, now))
        elif record.name in ready:
            sentences.append(
                f"{record.name} waits for a Scheduler to claim it; the Supervisor reminds it if none does."
            )
    return sentences


def _running(record: StepRecord, now: int) -> str:
    left = (record.complete_by or now) - now
    if left > 0:
        return f"{record.name} is at work: attempt {record.attempt}, {span(left)} left until its complete-by."
    return (
        f"{record.name}: attempt {record.attempt} passed its complete-by {span(-left)} ago; "
        "the Supervisor will act on it when it looks next."
    )


def _claims(task: Task, plan: Plan) -> Iterator[Happening]:
    """The attempts whose beginning is known: each step's newest, and all that passed their complete-by."""
    began = {
        (fact.step, fact.attempt): (fact.at - fact.value - plan.by_name[fact.step].complete_within, fact.by)
        for fact in task.history
        if _passed_complete_by(fact) and fact.step in plan.by_name
    }
    for name, record in task.steps.items():
        if record.started_at is not None:
            by = record.locked_by or began.get((name, record.attempt), (0, ""))[1]
            began[name, record.attempt] = (record.started_at, by)
    for (step, attempt), (at, by) in began.items():
        limit = plan.by_name[step].complete_within
        claimed = f", claimed by {by}" if by else ""
        yield Happening(at, 5, f"{step}: attempt {attempt} began{claimed}, with {span(limit)} until its complete-by")


def _completions(task: Task) -> Iterator[Happening]:
    for name, record in task.steps.items():
        if record.process_state is ProcessState.PROCESSED and record.ended_at is not None:
            took = record.ended_at - (record.started_at or record.ended_at)
            yield Happening(
                record.ended_at, 1, f"{name}: Processed by attempt {record.attempt}, which took {span(took)}"
            )


def _end(task: Task) -> Iterator[Happening]:
    at = ended_at(task)
    if at is not None:
        yield Happening(at, 9, f"the order is Processed, {span(at - task.created_at)} after it was submitted")


def _passed_complete_by(fact: Fact) -> bool:
    return fact.kind in TIMED_OUT or (fact.kind is FactKind.FAILED and fact.value > 0)


def _troubles(fact: Fact) -> Iterator[Happening]:
    if _passed_complete_by(fact):
        passed = f"{fact.step}: attempt {fact.attempt} gave no answer by its complete-by: its agent is slow or dead"
        yield Happening(fact.at - fact.value, 2, passed, trouble=True)
    late = span(max(fact.value, 0))
    match fact.kind:
        case FactKind.RECOVERED:
            again = f"the Supervisor noticed {late} later, counted a failure, and freed the step to be run again"
            yield Happening(fact.at, 3, f"{fact.step}: {again}")
        case FactKind.EXCUSED:
            again = f"the Supervisor looked only {late} later: it counted no failure, and freed the step again"
            yield Happening(fact.at, 3, f"{fact.step}: {again}")
        case FactKind.REMINDED:
            waited = f"nobody had claimed it, {late} after it was due; the Supervisor reminded the Scheduler"
            yield Happening(fact.at, 3, f"{fact.step}: {waited}", trouble=True)
        case FactKind.FAILED:
            ended = f"ended in Error at attempt {fact.attempt}: {fact.note}"
            yield Happening(fact.at, 3, f"{fact.step}: {ended}", trouble=True)
        case FactKind.ALERTED:
            yield Happening(fact.at, 4, f"{fact.step}: an operator was told")
        case FactKind.RESUBMITTED:
            yield Happening(fact.at, 4, f"{fact.step}: {fact.by} resubmitted it: {fact.note}")
        case kind:
            yield Happening(fact.at, 3, f"{fact.step}: {kind} {fact.note}".strip())
