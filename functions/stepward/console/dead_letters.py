"""The page of one dead-letter queue: what its messages are, whether they still have an effect, and their redrive.

Looking takes the messages from the queue for a moment, so the page looks when it is opened, and not again by itself.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from nicegui import run, ui

from stepward.console.dialogs import confirmed
from stepward.console.frame import Console, empty, failure, order_address, page
from stepward.console.giving import acting
from stepward.domain.errors import StepwardError
from stepward.operator.asked import CommandOutcome
from stepward.operator.bulk import Bulk, Pace
from stepward.operator.dead_letters.of_tasks import Opened
from stepward.operator.dead_letters.redrive import Action, Redrive, Wanted, open_of
from stepward.operator.wording.times import day_and_time

MOST, RATE = 200, 50.0
_COLUMNS = ("order", "sent", "received", "what", "judgement", "reason")
_LINK = '<q-td :props="props"><a class="text-primary" :href="props.row.href">{{ props.value }}</a></q-td>'


def dead_letters_page(console: Console, queue: str) -> None:
    """The page of the dead letters of this queue."""
    with page(console, f"Dead letters of {queue}"):
        ui.label(f"Dead letters of {queue}").classes("text-xl font-bold").props("role=heading aria-level=1")
        Letters(console, queue).draw()


@dataclass
class Letters:
    """The dead letters that were seen last, and those that are marked."""

    console: Console
    queue: str
    found: list[Opened] = field(default_factory=list)
    marked: list[str] = field(default_factory=list)

    def draw(self) -> None:
        """The buttons, and below them the messages."""
        with ui.row().classes("gap-2"):
            ui.button("Look again", on_click=self.look).props("dense outline no-caps")
            if not self.console.read_only:
                for title, drop_stale in (("Send again what is current", False), ("… and delete what is stale", True)):
                    button = ui.button(title, on_click=partial(self.ask, drop_stale=drop_stale))
                    button.props("dense outline no-caps")
        ui.label("A command is for the marked messages, or for all if none is marked.").classes("opacity-70")
        self.box = ui.column().classes("w-full")
        ui.timer(0, self.look, once=True)

    async def look(self) -> None:
        """Read the messages, and show them."""
        self.box.clear()
        with self.box:
            ui.spinner(size="lg").props("aria-label=Loading")
        self.found, text = [], ""
        try:
            self.found = await run.io_bound(self._read) or []
        except StepwardError as error:
            text = str(error)
        self.box.clear()
        with self.box:
            if text:
                failure(text)
            elif not self.found:
                empty("Every message was processed.")
            else:
                self._table()

    async def ask(self, *, drop_stale: bool) -> None:
        """Say what would become of the messages, and ask why."""
        wanted = Wanted(tuple(self.marked or [each.dead_letter.message_id for each in self.found]))
        asked = partial(asked_for, self.console, self.queue, wanted, drop_stale=drop_stale)
        dry = asked("")
        try:
            await run.io_bound(dry.would, MOST)
        except StepwardError as error:
            ui.notify(str(error), type="negative")
            return
        would = Counter(action for _, action in dry.done)
        count = would[Action.SENT] + would[Action.DROPPED]
        will_do = [f"{would[action]:>6,}  {action}" for action in Action if would[action]]
        confirmed(
            self.console,
            f"Redrive {self.queue}",
            ["What becomes of them:", *will_do, "The cause must be mended, or the messages come back."],
            partial(redriven, self.console, asked),
            count=count,
            what="messages",
        )

    def _read(self) -> list[Opened]:
        connection = self.console.connection
        with asked_for(self.console, self.queue, Wanted(), "").source.taken(MOST) as dead_letters:
            return [open_of(connection, self.queue, each) for each in dead_letters]

    def _table(self) -> None:
        rows = [_row(each) for each in self.found]
        columns = [{"name": each, "label": each.capitalize(), "field": each, "align": "left"} for each in _COLUMNS]

        def mark() -> None:
            self.marked = [str(row["id"]) for row in table.selected]

        table = ui.table(rows=rows, columns=columns, row_key="id", selection="multiple", on_select=lambda _: mark())
        table.classes("w-full").props("dense flat wrap-cells").mark("letters")
        table.selected = [row for row in rows if row["id"] in self.marked]
        table.add_slot("body-cell-order", _LINK)
        ui.label(f"{len(rows)} shown{'; there may be more' * (len(rows) == MOST)}")


def asked_for(console: Console, queue: str, wanted: Wanted, why: str, *, drop_stale: bool = False) -> Redrive:
    """A redrive of these messages that was not run yet."""
    bulk = Bulk("redrive", f"redrive-{console.connection.new_id()[:8]}", console.who, why)
    return Redrive(console.connection, queue, wanted, bulk, drop_stale)


async def redriven(console: Console, asked: Callable[[str], Redrive], why: str) -> CommandOutcome | None:
    """Redrive what is wanted, for this reason; raises StepwardError."""
    redrive = asked(why)
    pace = Pace(RATE, lambda _: None, lambda: False, console.connection.now, time.sleep)  # noqa: TID251 - a thread
    await acting(console, partial(redrive.run, MOST, pace))
    found = Counter(action for _, action in redrive.done)
    text = ", ".join(f"{count:,} {action}" for action, count in found.items())
    said = "; ".join(filter(None, (text, redrive.left))) or "No such message is in the queue any more."
    return CommandOutcome(applied=bool(found), text=said)


def _row(each: Opened) -> dict[str, str]:
    letter = each.dead_letter
    return {
        "id": letter.message_id,
        "href": order_address(each.order_id),
        "order": each.order_id,
        "sent": day_and_time(letter.sent_at),
        "received": str(letter.receives),
        "what": each.what,
        "judgement": each.judgement.staleness,
        "reason": each.judgement.reason,
    }
