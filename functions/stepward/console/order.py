"""The page of one order: its graph, its timeline, its steps, its audit log, and its commands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from nicegui import ui

from stepward.app.scheduler.audit_log import AuditEntry
from stepward.console.dialogs import confirmed
from stepward.console.drawings import chart, graph
from stepward.console.frame import Console, heading, lane_address, live, page, said, state_badge, verbatim
from stepward.console.giving import foreseen, give, signal_data, signal_name
from stepward.domain.errors import Rejected
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.messages import OPERATORS, Cancel, Command, Pause, Resubmit, Resume, SignalGiven, Undo
from stepward.domain.staleness import staleness
from stepward.domain.task.notices import notices, status_notice
from stepward.domain.task.record import Loaded, ProcessState, StepRecord, Task
from stepward.domain.workflow.plan import StepKind
from stepward.operator.asked import check_signal_here
from stepward.operator.wording.prospects import prospects
from stepward.operator.wording.timeline import all_records, timeline
from stepward.operator.wording.times import clock, day_and_time

MARGIN_MS = 60_000
"""How far the search in the logs reaches beyond the order's own times."""
Make = Callable[[str], Command]
"""The command with this reason."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page shows, at one moment; `minute` has it drawn anew as time passes."""

    loaded: Loaded
    audit_log: tuple[AuditEntry, ...]
    has_lane: bool
    minute: int
    now: int = field(compare=False)


def order_page(console: Console, key: str) -> None:
    """The page of the order of this key."""
    with page(console, said(key)):
        live(partial(_load, console, key), partial(_draw, console))


def _load(console: Console, key: str) -> Shown:
    connection = console.connection
    loaded = connection.store.load(key)
    if loaded is None:
        raise Rejected("orderId", f"there is no order {said(key)} in {console.stack}; search for it above")
    now = connection.now()
    has_lane = connection.lanes.load(key) is not None
    return Shown(loaded, tuple(connection.audit_log.of(key)), has_lane, now // 60_000, now)


def _draw(console: Console, shown: Shown) -> None:
    task, plan = shown.loaded.task, shown.loaded.plan
    with ui.row().classes("items-center gap-4"):
        ui.label(f"Order {said(task.order_id)}").classes("text-xl font-bold").props("role=heading aria-level=1")
        state_badge(task.process_state)
        ui.label(f"{plan.workflow} version {plan.version}, submitted {day_and_time(task.created_at)}")
        if shown.has_lane:
            ui.link("its lane", lane_address(task.order_id))
    for line in (*prospects(task, plan, shown.now), *_reasons(shown.loaded)):
        ui.label(line)
    with ui.row().classes("gap-2"):
        for title, make in _commands(console, shown.loaded):
            ui.button(title, on_click=partial(_ask, console, shown.loaded, title, make)).props("dense outline no-caps")
        for record in _answerable(shown.loaded):
            answer = partial(_answer, console, shown.loaded, record.name)
            ui.button(f"Answer {record.name}", on_click=answer).props("dense outline no-caps")
    with ui.row().classes("w-full gap-4 no-wrap items-start"):
        ui.mermaid(graph(task, plan), config={"securityLevel": "strict"}).classes("w-1/3")
        with ui.column().classes("w-2/3"):
            ui.echart(chart(task, plan, shown.now)).classes("w-full h-72")
            _steps(shown.loaded)
    heading("Timeline")
    with ui.column().classes("gap-0"):
        for each in timeline(task, plan):
            ui.label(f"{clock(each.at)}  {each.text}").classes("font-mono text-xs" + " trouble" * each.trouble)
    heading("Audit log")
    _audit_log(shown.audit_log)
    _more(console, shown)


def _reasons(loaded: Loaded) -> Iterator[str]:
    task = loaded.task
    if task.undoing:
        yield f"Undo: {task.undoing}"
    for record in task.steps.values():
        if record.process_state is ProcessState.ERROR:
            yield f"{record.name} ended in Error: {record.error or 'Error'}. Fix the cause, then resubmit it."


def _commands(console: Console, loaded: Loaded) -> Iterator[tuple[str, Make]]:
    """The commands that the Scheduler would not refuse now."""
    key, who = loaded.task.order_id, console.who
    every: list[tuple[str, Make]] = [
        (f"Resubmit {record.name}", partial(Resubmit, key, record.name, record.attempt, who))
        for record in all_records(loaded.task, loaded.plan)
    ]
    kinds: tuple[tuple[str, Callable[[str, str, str], Command]], ...] = (
        ("Undo", Undo),
        ("Cancel", Cancel),
        ("Pause", Pause),
        ("Resume", Resume),
    )
    every += [(f"{name} the order", partial(kind, key, who)) for name, kind in kinds]
    now = console.connection.now()
    for title, make in every:
        if not console.read_only and staleness(make("why"), loaded.task, loaded.plan, now) is None:
            yield title, make


def _answerable(loaded: Loaded) -> Iterator[StepRecord]:
    for record in all_records(loaded.task, loaded.plan):
        planned = loaded.plan.by_name[record.name]
        waits = record.process_state in {ProcessState.PROCESSING, ProcessState.ERROR}
        if waits and planned.kind is StepKind.SIGNAL and planned.by in {"", OPERATORS}:
            yield record


def _ask(console: Console, loaded: Loaded, title: str, make: Make) -> None:
    will_do = foreseen(loaded, make("why"), console.connection.now())
    confirmed(console, title, will_do, lambda why: give(console, make(why)))


def _answer(console: Console, loaded: Loaded, step: str) -> None:
    given: list[ui.input | ui.checkbox] = []

    def extra() -> None:
        given.append(ui.input("The answer, a JSON object", value="{}").classes("w-full font-mono").mark("data"))
        given.append(ui.checkbox("Refuse it, for the reason below"))

    def signal(why: str) -> Command:
        name, key = signal_name(console, why), loaded.task.order_id
        if given[1].value:
            return SignalGiven(key, step, name, {}, why, console.who, OPERATORS)
        wanted = SignalGiven(key, step, name, signal_data(str(given[0].value)), "", console.who, OPERATORS)
        check_signal_here(wanted)
        return wanted

    async def act(why: str) -> object:
        return await give(console, signal(why))

    confirmed(console, f"Answer {step}", [], act, extra)  # type: ignore[arg-type]


def _steps(loaded: Loaded) -> None:
    rows = [
        {
            "step": record.name,
            "state": record.process_state.value,
            "attempt": f"{record.attempt}, {record.failure_count} failed",
            "fence": record.fence or "",
            "outcome": record.error or record.raised or record.lacks or _result(record),
        }
        for record in all_records(loaded.task, loaded.plan)
    ]
    columns = [
        {"name": name, "label": name.capitalize(), "field": name, "align": "left"}
        for name in ("step", "state", "attempt", "fence", "outcome")
    ]
    ui.table(rows=rows, columns=columns, row_key="step").classes("w-full").props("dense flat wrap-cells")


def _result(record: StepRecord) -> str:
    if record.size:
        return f"{record.size:,} bytes, kept in a row of their own"
    return json.dumps(record.result, default=str) if record.result else ""


def _audit_log(entries: tuple[AuditEntry, ...]) -> None:
    if not entries:
        ui.label("Nobody has given a command for this order.").classes("opacity-70")
    for entry in entries:
        came = "applied" if entry.applied else f"refused: {entry.note}"
        ui.label(f"{day_and_time(entry.at)}  {entry.who}: {entry.command} {entry.step}, {entry.why} ({came})")


def _more(console: Console, shown: Shown) -> None:
    task = shown.loaded.task
    with ui.expansion("What its submitter was told").classes("w-full"):
        verbatim("\n".join(told(task, shown.now)) or "It named no reply queue, so it was told nothing.")
    with ui.expansion("The order message").classes("w-full"):
        verbatim(json.dumps(shown.loaded.order, indent=2, default=str))
    with ui.expansion("Logs and commands").classes("w-full"):
        verbatim(console.typed("show", task.order_id))
        times = task.created_at - MARGIN_MS, shown.now + MARGIN_MS
        if link := console.logs.link(task.order_id, *times):
            ui.link("Its lines in CloudWatch Logs Insights", link, new_tab=True)
            ui.label(f"There, choose the log groups whose names begin with {console.logs.stack}-.")
        verbatim(console.logs.command(task.order_id, *times))


def told(task: Task, now: int) -> Iterator[str]:
    """What its submitter was told, as far as the order says: that it was received, what was done, and its state."""
    if not task.reply_to:
        return
    done = [
        HistoryEntry(record.ended_at, HistoryKind.COMPLETED, name)
        for name, record in task.steps.items()
        if record.process_state is ProcessState.PROCESSED and record.ended_at is not None
    ]
    yield f"in the queue {task.reply_to}:"
    for notice in sorted(notices(replace(task, revision=2), done), key=lambda each: each.at):
        yield f"{day_and_time(notice.at)}  {notice.status} {notice.step}"
    yield f"now: {status_notice(task, now)[-1].status}"
