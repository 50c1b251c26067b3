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
from stepward.console.giving import check_allowed
from stepward.domain.errors import StepwardError
from stepward.operator import bulk
from stepward.operator.bulk import Bulk, DryRun, Ended, Pace, Progress
from stepward.operator.bulk_orders import Orders
from stepward.operator.filters import Filter
from stepward.operator.rows import Row
from stepward.operator.search import read_rows

COMMANDS = ("resubmit", "undo", "cancel", "pause", "resume")
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
    """What is asked for which orders: those that match `wish`, or the `marked` of them."""

    console: Console
    wish: Filter
    marked: frozenset[str] | None

    def subjects(self, wanted: Bulk) -> Orders:
        """The orders and the command."""
        connection = self.console.connection
        if self.marked is None:
            return Orders(connection, wanted)
        return Marked(connection, wanted, keys=tuple(sorted(self.marked)))

    def foreseen(self, command: str) -> DryRun:
        """What the command would do; raises StepwardError."""
        return bulk.dry_run(self.subjects(Bulk(command, "dry run", self.console.who, "dry run")), self.wish)

    def done(self, command: str, why: str, rate: float, going: Run) -> Sequence[Ended]:
        """Give the command to all; raises StepwardError."""
        check_allowed(self.console)
        connection = self.console.connection
        wanted = Bulk(command, connection.new_id()[:8], self.console.who, why)
        pace = Pace(rate, going.go_on, lambda: going.stopped, connection.now, time.sleep)  # noqa: TID251 - a thread
        return bulk.run(self.subjects(wanted), self.wish, pace)


def many(console: Console, wish: Filter, marked: frozenset[str] | None = None) -> None:
    """Ask which command, and why; then act on all that match, or on those that are marked."""
    if marked is not None and not marked:
        ui.notify("Mark an order first.")
        return
    asking = Asking(console, wish, marked)
    with ui.context.client.content, ui.dialog().props("persistent") as dialog, ui.card().classes("w-full max-w-3xl"):
        head(console, "One command for many orders")
        Form(asking).draw()
        ui.button("Close", on_click=dialog.close).props("flat")
    dialog.on("hide", dialog.delete)
    dialog.open()


@dataclass
class Form:
    """The questions, what the command would do, and how it went."""

    asking: Asking
    seen: DryRun | None = None
    going: Run = field(default_factory=Run)

    def draw(self) -> None:
        """The questions."""
        self.command = ui.select(list(COMMANDS), value="resubmit", label="Command", on_change=self.look).mark("command")
        self.why = ui.input("Why, for the audit log").classes("w-full").mark("why")
        self.rate = ui.number("Orders a second", value=20, min=0.1, max=100).mark("rate")
        self.would = ui.column().classes("gap-1")
        self.count = ui.input("Type how many, to confirm").mark("count")
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
        try:
            self.seen = await run.io_bound(partial(self.asking.foreseen, str(self.command.value)))
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
        if lacking := unconfirmed(self.seen.count, self.why.value or "", self.count.value or ""):
            self._tell(lacking)
            return
        self.button.disable()
        self._tell("On its way …")
        why, rate = self.why.value.strip(), max(0.1, float(self.rate.value or 20))
        try:
            ended = await run.io_bound(partial(self.asking.done, str(self.command.value), why, rate, self.going))
        except StepwardError as error:
            self._tell(str(error))
            return
        self.result.clear()
        with self.result:
            _ended(ended or ())

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
