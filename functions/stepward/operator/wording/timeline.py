"""The timeline of an order, from its record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from stepward.domain.history import OVERDUE, HistoryEntry, HistoryKind
from stepward.domain.steps.overdue import IT_RAISED
from stepward.domain.steps.signal import UNGIVEN
from stepward.domain.task.record import HISTORY_LIMIT, ProcessState, StepRecord, Task
from stepward.domain.task.undo import lasting_effects
from stepward.domain.workflow.conditions import said_not
from stepward.domain.workflow.effects import Item
from stepward.domain.workflow.plan import UNDO_SUFFIX, Plan, PlannedStep, StepKind, forward_name
from stepward.domain.workflow.refs import name_of
from stepward.operator.wording.signals import signal_given
from stepward.operator.wording.times import span
from stepward.operator.wording.undone import undone


@dataclass(frozen=True, slots=True)
class Happening:
    """A line of the timeline, at `at` (epoch ms); `rank` and then `place` order the lines of the same moment."""

    at: int
    rank: int
    text: str
    trouble: bool = False
    place: tuple[int, ...] = ()


def timeline(task: Task, plan: Plan) -> list[Happening]:
    """All that happened from submission to now, oldest first."""
    lines = chain(
        [Happening(task.created_at, -1, "the order was submitted")],
        _claims(task, plan),
        chain.from_iterable(_told(entry, task, plan) for entry in task.history),
        _stops(task, plan),
        _completions(task, plan),
        _skips(task, plan),
        _end(task),
    )
    return sorted(lines, key=lambda line: (line.at, line.rank, line.place, line.text))


def is_complete(task: Task) -> bool:
    """Whether the record holds its whole history; a long history has lost its oldest entries."""
    return len(task.history) < HISTORY_LIMIT


def in_plan_order(task: Task, plan: Plan) -> list[StepRecord]:
    """The records of the forward steps, in the workflow's order; those of items after their each."""
    names = [name for step in plan.steps for name in (step.name, *_items(task, step))]
    return [task.steps[name] for name in names if name in task.steps]


def _items(task: Task, step: PlannedStep) -> Iterator[str]:
    for at in range(task.steps[step.name].items if step.name in task.steps else 0):
        yield from step.of_item(at)


def compensations(task: Task, plan: Plan) -> list[StepRecord]:
    """The compensations, that of the last step first: the order in which they run."""
    rank = {record.name: number for number, record in enumerate(in_plan_order(task, plan))}
    undoing = [record for record in task.steps.values() if record.is_compensation]
    return sorted(undoing, key=lambda record: -rank[forward_name(record.name)])


def all_records(task: Task, plan: Plan) -> list[StepRecord]:
    """The forward steps, then the compensations."""
    return [*in_plan_order(task, plan), *compensations(task, plan)]


def is_wait(planned: PlannedStep) -> bool:
    """Whether no agent does the step: it is a timer, a signal, or an each, whose items are steps of their own."""
    return planned.kind in {StepKind.TIMER, StepKind.SIGNAL, StepKind.EACH}


def _begun(planned: PlannedStep) -> str:
    """What the claim of a wait did."""
    if planned.kind is StepKind.SIGNAL:
        return f"it began to wait for its signal, for {span(planned.complete_within)}"
    if planned.kind is StepKind.EACH:
        return f"its items began, {planned.at_once} at once"
    return f"the timer began, {span(planned.complete_within) if planned.until == () else name_of(planned.until)}"


def attempts(task: Task, plan: Plan) -> dict[tuple[str, int], tuple[int, str]]:
    """When each attempt whose start is known began, and who did it: each step's newest, and all that timed out."""
    began = {
        (entry.step, entry.attempt): (entry.at - entry.value - plan.by_name[entry.step].complete_within, entry.by)
        for entry in task.history
        if _passed_complete_by(entry) and entry.step in plan.by_name
    }
    for name, record in task.steps.items():
        if record.started_at is not None:
            by = record.locked_by or began.get((name, record.attempt), (0, ""))[1]
            began[name, record.attempt] = (record.started_at, by)
    return began


def _claims(task: Task, plan: Plan) -> Iterator[Happening]:
    for (step, attempt), (at, by) in attempts(task, plan).items():
        if is_wait(plan.by_name[step]):
            yield Happening(at, 5, f"{step}: {_begun(plan.by_name[step])}", place=_place(plan, step))
            continue
        limit = plan.by_name[step].complete_within
        claimed = f", claimed by {by}" if by else ""
        text = f"{step}: attempt {attempt} began{claimed}; {span(limit)} until its complete-by"
        yield Happening(at, 5, text, place=_place(plan, step))


def _place(plan: Plan, step: str, then: int = 0) -> tuple[int, ...]:
    """The place among all that begins at one moment: after the steps that it waits for; an undo before theirs."""
    name, is_undo = Item.read(step), step.endswith(UNDO_SUFFIX)
    before = sum(name.step in later for later in plan.dependents.values())
    return (-before if is_undo else before, name.at >= 0, then)


def _stops(task: Task, plan: Plan) -> Iterator[Happening]:
    """What the start of an undo did to each step that was not Processed."""
    begun = next((entry.at for entry in reversed(task.history) if entry.kind is HistoryKind.UNDO_BEGUN), None)
    if begun is None:
        return
    for name, record in task.steps.items():
        if record.process_state is not ProcessState.STOPPED:
            continue
        if not record.attempt:
            text = f"{name}: dropped; it had not begun"
        elif is_wait(plan.by_name[name]):
            text = f"{name}: it waits no longer"
        elif record.error is not None:
            text = f"{name}: attempt {record.attempt}, which ended in Error, was fenced; it may have had its effect"
        else:
            text = f"{name}: attempt {record.attempt} was fenced before it replied; it may have had its effect"
        yield Happening(begun, 4, text)


def _completions(task: Task, plan: Plan) -> Iterator[Happening]:
    for name, record in task.steps.items():
        if record.process_state is ProcessState.PROCESSED and record.ended_at is not None:
            took = record.ended_at - (record.started_at or record.ended_at)
            undone = f"; {forward_name(name)} is undone" if record.is_compensation else ""
            done = f"{name}: attempt {record.attempt} succeeded after {span(took)}{undone}"
            done = f"{name}: it ended after {span(took)}" if is_wait(plan.by_name[name]) else done
            if record.started_at == record.ended_at:
                yield Happening(record.ended_at, 5, done, place=_place(plan, name, then=2))
            else:
                yield Happening(record.ended_at, 1, done, place=(plan.by_name[name].kind is StepKind.EACH,))


def _skips(task: Task, plan: Plan) -> Iterator[Happening]:
    for name, record in task.steps.items():
        if record.process_state is ProcessState.SKIPPED and record.ended_at is not None:
            text = f"{name}: skipped, for {said_not(plan.by_name[name].when)}"
            yield Happening(record.ended_at, 5, text, place=_place(plan, name))


def _end(task: Task) -> Iterator[Happening]:
    if task.process_state is ProcessState.PROCESSED and (at := task.ended_at) is not None:
        yield Happening(at, 9, f"the order is Processed, {span(at - task.created_at)} after it was submitted")


def _passed_complete_by(entry: HistoryEntry) -> bool:
    """Whether an attempt timed out; the entry of a permanent failure has no lateness."""
    if OVERDUE not in entry.kind.marks or entry.kind is HistoryKind.REMINDED:
        return False
    return entry.value > 0 or entry.kind in {HistoryKind.RECOVERED, HistoryKind.UNCOUNTED}


def _told(entry: HistoryEntry, task: Task, plan: Plan) -> Iterator[Happening]:
    """What an entry says; a signal's own entries first."""
    ungiven = entry.note.startswith(UNGIVEN)
    if entry.kind is HistoryKind.SIGNALLED:
        rank = 5 if entry.at == task.steps[entry.step].started_at else 0
        said_of = entry.note if ungiven else signal_given(entry, task.steps[entry.step])
        yield Happening(entry.at, rank, f"{entry.step}: {said_of}", place=_place(plan, entry.step, then=1))
    elif entry.kind is HistoryKind.REMINDED and ungiven:
        yield Happening(entry.at, 3, f"{entry.step}: {entry.note}; the operators were reminded", trouble=True)
    else:
        yield from _troubles(entry, task, plan)


def _troubles(entry: HistoryEntry, task: Task, plan: Plan) -> Iterator[Happening]:
    if _passed_complete_by(entry):
        _, raised, what = entry.note.partition(IT_RAISED)
        why = raised + what or "its agent is slow or dead"
        passed = f"{entry.step}: attempt {entry.attempt} passed its complete-by without a reply: {why}"
        yield Happening(entry.at - entry.value, 2, passed, trouble=True)
    late = span(max(entry.value, 0))
    match entry.kind:
        case HistoryKind.RECOVERED:
            again = f"{late} later the Supervisor counted a failure and released the step for another attempt"
            yield Happening(entry.at, 3, f"{entry.step}: {again}")
        case HistoryKind.UNCOUNTED:
            again = f"{late} later the Supervisor released the step, without counting a failure: {entry.note}"
            yield Happening(entry.at, 3, f"{entry.step}: {again}")
        case HistoryKind.REMINDED:
            waited = f"no Scheduler had claimed it {late} after it was due; the Supervisor sent a reminder"
            yield Happening(entry.at, 3, f"{entry.step}: {waited}", trouble=True)
        case HistoryKind.FAILED:
            ended = f"attempt {entry.attempt} ended in Error" if entry.attempt else "ended in Error before it began"
            known = not entry.attempt or (entry.step, entry.attempt) in attempts(task, plan)
            begun = "" if known else " (when it began is no longer kept)"
            yield Happening(entry.at, 3, f"{entry.step}: {ended}{begun}: {entry.note}", trouble=True)
        case HistoryKind.ALERTED:
            yield Happening(entry.at, 4, f"{entry.step}: the operators were alerted")
        case HistoryKind.RESUBMITTED:
            yield Happening(entry.at, 4, f"{entry.step}: {entry.by} resubmitted it: {entry.note}")
        case _:
            yield _detour(entry, task, plan)


def _detour(entry: HistoryEntry, task: Task, plan: Plan) -> Happening:
    """What took the order off its usual path."""
    rank, trouble = (2, True) if entry.kind is HistoryKind.TIMED_OUT else (3, False)
    match entry.kind:
        case HistoryKind.WAITING:
            text = f"{entry.step}: its attempts are used up; it {entry.note}"
        case HistoryKind.FELL_BACK:
            text = f"{entry.step}: its attempts are used up: {entry.note}"
        case HistoryKind.UNDO_BEGUN:
            trouble, text = True, f"{entry.by} started the undo: {entry.note}"
        case HistoryKind.UNDONE:
            rank, after = 9, span(entry.value)
            text = f"the order is Undone, {after} after it was submitted: {undone(task, plan)}"
        case HistoryKind.PAUSED | HistoryKind.RESUMED:
            trouble = entry.kind is HistoryKind.PAUSED
            text = f"{entry.by} {entry.kind.lower()} the order: {entry.note}"
        case HistoryKind.LACKING:
            trouble, text = True, f"{entry.step}: it waits for a deployment: {entry.note}"
        case HistoryKind.LATE_EFFECT:
            again = "it has no undo" if entry.step in dict(lasting_effects(task, plan)) else "it is undone again"
            trouble, text = True, f"{entry.step}: attempt {entry.attempt} had its effect after all; {again}"
        case _:
            text = f"{entry.step}: {entry.kind} {entry.note}" if entry.step else entry.note or entry.kind
    return Happening(entry.at, rank, text, trouble)
