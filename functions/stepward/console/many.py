"""One command for many orders: a dry run, a second confirmation, a rate, a stop, and how it ended for each."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from nicegui import run, ui

from stepward.console.dialogs import head, unconfirmed
from stepward.console.frame import Console, order_address, said, verbatim
from stepward.console.giving import check_allowed, signal_data, signal_name
from stepward.domain.errors import Rejected, StepwardError
from stepward.domain.messages import SignalGiven
from stepward.operator import bulk
from stepward.operator.asked import check_signal_here, of_one_workflow
from stepward.operator.bulk import Bulk, DryRun, Ended, Pace, Progress, Subjects
from stepward.operator.bulk_lanes import WaitingLanes
from stepward.operator.bulk_orders import Orders
from stepward.operator.filters import Filter
from stepward.operator.rows import Row
from stepward.operator.search import read_rows

COMMANDS = ("resubmit", "undo", "cancel", "pause", "resume", "signal")
OF_LANES = ("retry",)
MOST_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Marked(Orders):
    """The orders of these keys, as far as they still match."""

    keys: tuple[str, ...] = ()

    def rows(self, wish: Filter, corrupt: list[str]) -> Iterator[Row]:
        """Those that are marked; see Subjects."""
        yield from read_rows(self.connection, list(self.keys), wish, corrupt).values()


@dataclass(slots=True)
class Run:
    """A run on its way."""

    progress: Progress = field(default_factory=lambda: Progress(0, 0, 0))
    stopped: bool = False

    def go_on(self, progress: Progress) -> None:
        """Note how far it is."""
        self.progress = progress


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked for which orders, or lanes: those that match `wish`, or the `marked` of them."""

    console: Console
    wish: Filter
    marked: frozenset[str] | None

    def subjects(self, wanted: Bulk) -> Subjects:
        """The orders, or lanes, and the command."""
        connection = self.console.connection
        if wanted.command in OF_LANES:
            return WaitingLanes(connection, wanted)
        if self.marked is None:
            return Orders(connection, wanted)
        return Marked(connection, wanted, keys=tuple(sorted(self.marked)))

    def checked(self, wanted: Bulk) -> Bulk:
        """The signal, if its data fits; raises Rejected."""
        key = of_one_workflow(self.console.connection.deployment.keys, self.wish.equal("workflow"))
        check_signal_here(SignalGiven(key, wanted.step, wanted.name, wanted.data))
        return wanted

    def foreseen(self, wanted: Bulk) -> DryRun:
        """What the command would do; raises StepwardError."""
        if wanted.command == "signal" and not wanted.step:
            raise Rejected("signal", "name the step that waits for it")
        return bulk.dry_run(self.subjects(wanted), self.wish)

    def done(self, wanted: Bulk, rate: float, going: Run) -> Sequence[Ended]:
        """Give the command to all; raises StepwardError."""
        check_allowed(self.console)
        connection = self.console.connection
        pace = Pace(rate, going.go_on, lambda: going.stopped, connection.now, time.sleep)  # noqa: TID251 - a thread
        return bulk.run(self.subjects(wanted), self.wish, pace)


def many(
    console: Console, wish: Filter, marked: frozenset[str] | None = None, commands: Sequence[str] = COMMANDS
) -> None:
    """Ask which of the commands, and why; then act on all that match, or on those that are marked."""
    if marked is not None and not marked:
        ui.notify("Mark an order first.")
        return
    asking = Asking(console, wish, marked)
    with ui.context.client.content, ui.dialog().props("persistent") as dialog, ui.card().classes("w-full max-w-3xl"):
        head(console, "One command for many")
        Form(asking, commands).draw()
        ui.button("Close", on_click=dialog.close).props("flat")
    dialog.on("hide", dialog.delete)
    dialog.open()


@dataclass
class Form:
    """The questions, what the command would do, and how it went."""

    asking: Asking
    commands: Sequence[str]
    seen: DryRun | None = None
    going: Run = field(default_factory=Run)

    def draw(self) -> None:
        """The questions."""
        commands = list(self.commands)
        self.command = ui.select(commands, value=commands[0], label="Command", on_change=self.look)
        self.command.classes("w-48").mark("command")
        with ui.column().classes("w-full gap-0").bind_visibility_from(self.command, "value", value="signal"):
            self.step = ui.input("The step that waits for it", on_change=self.look).mark("step")
            self.data = ui.input("The answer, a JSON object", value="{}").classes("w-full font-mono").mark("data")
            self.refuse = ui.checkbox("Refuse it, for the reason below")
        self.why = ui.input("Why, for the audit log").classes("w-full").mark("why")
        self.rate = ui.number("So many a second", value=20, min=0.1, max=100).classes("w-48").mark("rate")
        self.would = ui.column().classes("gap-1")
        self.count = ui.input("Type how many, to confirm").classes("w-64").mark("count")
        with ui.row():
            self.button = ui.button("Do it", on_click=self.go).mark("go")
            ui.button("Stop", on_click=self.stop).props("outline").mark("stop")
        self.bar = ui.linear_progress(0, show_value=False)
        self.result = ui.column().classes("gap-1 w-full")
        ui.timer(0.3, self.show_progress)
        ui.timer(0, self.look, once=True)

    def stop(self) -> None:
        """Stop before the next orders."""
        self.going.stopped = True

    def show_progress(self) -> None:
        """How far the run is."""
        total = self.going.progress.total
        self.bar.set_value((self.going.progress.sent + self.going.progress.others) / total if total else 0)

    async def look(self) -> None:
        """Show what the command would do now."""
        self.seen = None
        self.result.clear()
        try:
            self.seen = await run.io_bound(partial(self.asking.foreseen, self._bulk("dry run", "dry run")))
        except StepwardError as error:
            self._tell(str(error))
            return
        self.would.clear()
        if self.seen is not None:
            with self.would:
                _foreseen(self.seen)

    async def go(self) -> None:
        """Give the command, if the number is confirmed."""
        if self.seen is None:
            self._tell("What it would do is not known yet.")
            return
        what = "lanes" if self.command.value in OF_LANES else "orders"
        if lacking := unconfirmed(self.seen.count, what, self.why.value or "", self.count.value or ""):
            self._tell(lacking)
            return
        rate = max(0.1, float(self.rate.value or 20))
        try:
            wanted = self._bulk(self.asking.console.connection.new_id()[:8], self.why.value.strip())
            self.button.disable()
            self._tell("On its way …")
            ended = await run.io_bound(partial(self.asking.done, wanted, rate, self.going))
        except StepwardError as error:
            self._tell(str(error))
            return
        self.result.clear()
        with self.result:
            _ended(ended or ())

    def _bulk(self, name: str, why: str) -> Bulk:
        """What is asked for; raises Rejected."""
        command, who = str(self.command.value), self.asking.console.who
        if command != "signal":
            return Bulk(command, name, who, why)
        step, said = (self.step.value or "").strip(), signal_name(self.asking.console, why)
        if self.refuse.value:
            return Bulk(command, said, who, "", step, refused=why)
        return self.asking.checked(Bulk(command, said, who, "", step, signal_data(self.data.value or "")))

    def _tell(self, text: str) -> None:
        self.result.clear()
        with self.result:
            ui.label(text)


def _foreseen(seen: DryRun) -> None:
    ui.label(f"It would be given to {seen.count:,}:").classes("font-bold")
    for count, text in [*((n, kind) for kind, n in seen.kinds.items()), *((n, why) for why, n in seen.reasons.items())]:
        verbatim(f"{count:>6,}  {text}")
    for name, reasons in (("refused", seen.refused), ("held back", seen.held)):
        for text, count in reasons.items():
            verbatim(f"{count:>6,}  {name}: {text}")


def _ended(ended: Sequence[Ended]) -> None:
    counts = Counter(each.end.value for each in ended)
    failed = [each for each in ended if not each.is_good]
    ui.label(", ".join(f"{count:,} {end}" for end, count in counts.most_common()) or "None matched.").mark("ended")
    for each in failed[:MOST_SHOWN]:
        with ui.row().classes("gap-2"):
            ui.link(said(each.key), order_address(each.key))
            ui.label(f"{each.end}, {each.state} {each.text}")
