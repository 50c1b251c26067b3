"""The view of one order, for people: headline, steps, timeline, and what to type next."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from stepward.app.agent.breakers import Breakers
from stepward.cli.deployment.options import Target
from stepward.cli.terminal import cell, clock, day_and_time, json_text, moment, printable, span, table
from stepward.domain.coordination.breaker import Mode
from stepward.domain.key import spoken
from stepward.domain.messages import SUBMITTERS, Undo
from stepward.domain.staleness import staleness
from stepward.domain.task.record import Loaded, ProcessState, StepRecord, Task, TimeLimit
from stepward.domain.workflow.plan import Plan, PlannedStep, StepKind, forward_name
from stepward.operator.wording.agents import defects
from stepward.operator.wording.prospects import awaited_agents, prospects
from stepward.operator.wording.timeline import (
    Happening,
    all_records,
    compensations,
    in_plan_order,
    is_complete,
    is_wait,
    timeline,
)

STYLES = {
    ProcessState.PENDING: "",
    ProcessState.PROCESSING: "yellow",
    ProcessState.PROCESSED: "green",
    ProcessState.ERROR: "bold red",
    ProcessState.STOPPED: "dim",
    ProcessState.SKIPPED: "dim",
    ProcessState.UNDOING: "yellow",
    ProcessState.UNDONE: "cyan",
    ProcessState.UNDO_FAILED: "bold red",
}


def order_view(loaded: Loaded) -> RenderableType:
    """One order: its state, its steps, and its timeline."""
    task, plan = loaded.task, loaded.plan
    return Group(_headline(task, plan), "", _steps_table(task, plan), "", _timeline(task, plan))


def what_next(loaded: Loaded, target: Target, now: int) -> str:
    """What the order waits for, and what an operator may type; "" if it waits for nothing."""
    return "\n".join([*prospects(loaded.task, loaded.plan, now), *_repairs(loaded.task, loaded.plan, target)])


def stopped_agents(loaded: Loaded, breakers: Breakers, target: Target, now: int) -> Iterator[str]:
    """A sentence for each agent that the order waits for, if it is paused or its breaker is not closed."""
    for name in sorted(awaited_agents(loaded.task, loaded.plan, now)):
        breaker = breakers.of(name)
        yield from defects(name, breaker)
        if breaker.pause:
            resume = target.typed("resume", "--agent", name)
            yield f"{breaker.pause.who} paused agent {name}: {breaker.pause.why}. To resume it: {resume}"
        elif breaker.mode is not Mode.CLOSED:
            since = day_and_time(breaker.since)
            breakers_of_all = target.typed("agents")
            yield f"The service of {name} fails: its breaker is {breaker.mode} since {since}. See: {breakers_of_all}"
            yield f"To let it try the service at once: {target.typed('resume', '--agent', name)}"


def _headline(task: Task, plan: Plan) -> Text:
    submitted, limit = moment(task.created_at), task.limit(plan)
    end = task.ended_at
    took = f", {task.process_state} in {span(end - task.created_at)}" if end is not None else ""
    why = [*([f"undo: {task.undoing}"] if task.undoing else []), *([f"paused: {task.paused}"] if task.paused else [])]
    if limit is not None:
        why.insert(0, f"complete by {day_and_time(limit)}{_BECAME[task.time_limit]}")
    return Text.assemble(
        ("Order ", ""),
        (printable(spoken(task.order_id)), "bold"),
        ": ",
        state(task.process_state),
        f"\n{plan.workflow} version {plan.version}, submitted {submitted:%Y-%m-%d %H:%M:%S %Z}{took}",
        *(f"\n{printable(line)}" for line in why),
    )


_BECAME = {TimeLimit.HOLDS: "", TimeLimit.PASSED: ", which has passed", TimeLimit.LIFTED: ", lifted since it passed"}


_LEAST = ("Locked by", "Failures", "Attempt", "Complete by")


def _steps_table(task: Task, plan: Plan) -> Table:
    forward, undoing = in_plan_order(task, plan), compensations(task, plan)
    shown = (*forward, *undoing)
    held = any(_holder(record, plan) for record in shown)
    limited = any(record.complete_by for record in shown)
    lock = [*(["Locked by"] if held else []), *(["Complete by"] if limited else [])]
    rows = table("Step", "State", "Attempt", "Failures", *lock, "Outcome", least=_LEAST)
    for record in shown:
        if undoing and record is undoing[0]:
            rows.add_row()
        planned = plan.by_name[record.name]
        rows.add_row(
            cell(record.name),
            state(record.process_state),
            str(record.attempt),
            "" if is_wait(planned) else f"{record.failure_count} of {planned.threshold}",
            *([cell(_holder(record, plan))] if held else []),
            *([_when(record.complete_by, task)] if limited else []),
            _outcome(record),
        )
    return rows


def _holder(record: StepRecord, plan: Plan) -> str:
    """Who holds the step; nobody holds one that waits for a time or a signal."""
    return "" if is_wait(plan.by_name[record.name]) else record.locked_by or ""


def _when(at: int | None, task: Task) -> str:
    """A time of the day on which the order came, or of another one."""
    if at is None:
        return ""
    return clock(at) if moment(at).date() == moment(task.created_at).date() else f"{moment(at):%m-%d %H:%M}"


def _timeline(task: Task, plan: Plan) -> RenderableType:
    grid = table("when", "after", "what", least=["after"])
    grid.show_header, grid.columns[1].justify = False, "right"
    day = moment(task.created_at).date()
    for happening in timeline(task, plan):
        if moment(happening.at).date() != day:
            day = moment(happening.at).date()
            grid.add_row(day.isoformat(), "", "")
        grid.add_row(*_line(happening, task))
    if is_complete(task):
        return grid
    return Group(grid, "The record holds the newest history entries only; older ones are in the logs.")


def _line(happening: Happening, task: Task) -> tuple[str, str, Text]:
    offset = f"+{happening.at - task.created_at:,} ms".replace("+-", "-")
    return clock(happening.at), offset, cell(happening.text, "yellow" if happening.trouble else "")


def _repairs(task: Task, plan: Plan, target: Target) -> Iterator[str]:
    order, reason = task.order_id, ("--why", "...")
    for record in all_records(task, plan):
        if record.process_state is ProcessState.ERROR:
            left = f", so {forward_name(record.name)} is not undone" if record.is_compensation else ""
            command = target.typed("resubmit", order, record.name, *reason)
            yield f"{record.name} ended in Error{left}. Fix the cause, then run it again:\n  {command}"
        if record.process_state in _ANSWERABLE and takes_answers(plan.by_name[record.name]):
            yield f"To answer {record.name}:\n  {target.typed('signal', order, record.name, '--data', '{...}')}"
    undo = Undo(order, "", "")
    if task.process_state is ProcessState.ERROR and staleness(undo, task, plan, now=0) is None:
        yield f"Or undo the order:\n  {target.typed('undo', order, *reason)}"
    if task.paused:
        yield f"To resume it:\n  {target.typed('resume', order, *reason)}"


_ANSWERABLE = (ProcessState.PROCESSING, ProcessState.ERROR)


def takes_answers(planned: PlannedStep) -> bool:
    """Whether an operator may give the signal of this step."""
    return planned.kind is StepKind.SIGNAL and planned.by != SUBMITTERS


def _outcome(record: StepRecord) -> Text:
    if record.error is not None:
        return cell(record.error, "red")
    if record.lacks:
        return cell(record.lacks, "yellow")
    if record.early is not None:
        return cell(f"the signal {record.early.signal_id} is kept for it")
    if record.raised is not None:
        return cell(f"raised {record.raised}", "yellow")
    if record.size:
        return cell(f"{record.size:,} bytes, kept in a row of their own")
    return cell(json_text(record.result, indent=None) if record.result else "")


def state(reached: ProcessState) -> Text:
    """A state, coloured."""
    return Text(reached.value, STYLES[reached])
