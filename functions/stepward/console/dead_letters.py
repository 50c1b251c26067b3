"""The page of one dead-letter queue: what its messages are, whether they still have an effect, and their redrive.

Looking takes the messages from the queue for a moment, so the page looks when it is opened, and not again by itself.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial

from nicegui import run, ui

from stepward.console.dialogs import confirmed
from stepward.console.frame import Console, empty, failure, order_address, page
from stepward.console.giving import acting
from stepward.domain.errors import StepwardError
from stepward.operator.asked import CommandOutcome
from stepward.operator.dead_letters.of_tasks import Opened
from stepward.operator.dead_letters.redrive import Action, Redrive, Wanted
from stepward.operator.wording.times import day_and_time

MOST, PAUSE_S = 200, 0.02
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

    def ask(self, *, drop_stale: bool) -> None:
        """Say what would become of the messages, and ask why."""
        asked = self._redrive(drop_stale=drop_stale)
        would = Counter(action for _, action in asked.acted(self.found, asked.would) if action)
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

    def _redrive(self, *, drop_stale: bool = False) -> Redrive:
        shown = [each.dead_letter.message_id for each in self.found]
        wanted = Wanted(tuple(self.marked or shown), drop_stale=drop_stale)
        return Redrive(self.console.connection, self.queue, wanted, self.console.who)

    def _read(self) -> list[Opened]:
        asked = self._redrive()
        with asked.source().taken(MOST) as dead_letters:
            return [asked.opened(dead_letter) for dead_letter in dead_letters]

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


async def redriven(console: Console, asked: Redrive, why: str) -> CommandOutcome | None:
    """Redrive what is wanted, for this reason; raises StepwardError."""
    found = await acting(console, partial(_redriven, replace(asked, why=why)))
    if found is None:
        return None
    text = ", ".join(f"{count:,} {action}" for action, count in found.items())
    return CommandOutcome(applied=bool(found), text=text or "No such message is in the queue any more.")


def _redriven(asked: Redrive) -> Counter[Action]:
    source, actions = asked.source(), Counter[Action]()
    with source.taken(MOST) as dead_letters:
        for _, action in asked.acted(map(asked.opened, dead_letters), partial(asked.do, source)):
            if action:
                actions[action] += 1
                time.sleep(PAUSE_S)  # noqa: TID251 - a thread
    return actions


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
