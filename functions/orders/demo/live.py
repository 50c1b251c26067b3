"""The screen of the running demonstration: a row for each accident, and a sentence when it happens and when it ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.live import Live
from rich.table import Table

from orders.demo.audit import Heard
from orders.demo.ledger_play import LedgerPlay
from orders.demo.scenario import Expected, Scenario, by_kind
from stepward.domain.history import HistoryKind
from stepward.domain.task.record import ProcessState, Task

_RECOVERIES = frozenset({HistoryKind.RECOVERED, HistoryKind.UNCOUNTED, HistoryKind.REMINDED})
_COLUMNS = {
    "running": frozenset({ProcessState.PENDING, ProcessState.PROCESSING, ProcessState.UNDOING}),
    "Processed": frozenset({ProcessState.PROCESSED}),
    "Undone": frozenset({ProcessState.UNDONE}),
    "Error": frozenset({ProcessState.ERROR, ProcessState.UNDO_FAILED}),
}
_WIDTH = 80


@dataclass(slots=True)
class Screen:
    """A live table of what happens to the orders in `acts`, with the story of one order of each kind above it.

    Of the notices to submitters it tells those about the order that is cancelled, and counts the others.
    """

    console: Console
    acts: Scenario
    live: Live
    read: Counter[str] = field(default_factory=Counter)
    happened: Counter[HistoryKind] = field(default_factory=Counter)
    notices: int = 0
    told: set[tuple[str, object]] = field(default_factory=set)

    def show(self, tasks: Mapping[str, Task], ledgers: LedgerPlay, seconds: float) -> None:
        """Update the table, and tell what is new."""
        for order in self._followed():
            if task := tasks.get(order.order_id):
                self._tell(order, task, seconds)
        for task in tasks.values():
            self.happened.update(entry.kind for entry in task.history[self.read[task.order_id] :])
            self.read[task.order_id] = len(task.history)
        self.live.update(self._table(tasks, ledgers, seconds), refresh=True)

    def line(self, text: str, seconds: float) -> None:
        """Print a line."""
        self.console.print(f"{seconds:5.1f} s  {text}", soft_wrap=True, markup=False, highlight=False)

    def notice(self, heard: Heard, seconds: float) -> None:
        """Count a notice, and tell it if it says that the cancelled order is Undone."""
        self.notices += 1
        cancelled = {order.order_id for order in self.acts.orders if order.kind.cancelled}
        key = (heard.order_id, heard.status)
        if heard.status == "undone" and heard.order_id in cancelled and key not in self.told:
            self.told.add(key)
            self.line(f"{heard.order_id}  its submitter is notified that it is undone", seconds)

    def _followed(self) -> Iterator[Expected]:
        """The first order of each kind."""
        return (orders[0] for orders in by_kind(self.acts.orders).values())

    def _tell(self, order: Expected, task: Task, seconds: float) -> None:
        """Tell once each what happens to this order, and how it ends."""
        kinds = {entry.kind for entry in task.history}
        for happening, words in order.kind.story.items():
            if (order.order_id, happening) not in self.told and happening in {*kinds, task.process_state}:
                self.told.add((order.order_id, happening))
                self.line(f"{order.order_id}  {words}", seconds)

    def _table(self, tasks: Mapping[str, Task], ledgers: LedgerPlay, seconds: float) -> Table:
        recovered = sum(self.happened[kind] for kind in _RECOVERIES)
        caption = f"{seconds:.1f} s: {recovered} recoveries, {self.notices} notices, {ledgers.applied} events applied"
        table = Table(box=None, padding=(0, 1, 0, 0), caption=caption, caption_justify="left", width=_WIDTH)
        table.add_column("what goes wrong", ratio=1)
        for name in ("orders", *_COLUMNS):
            table.add_column(name, justify="right", no_wrap=True)
        for name, orders in by_kind(self.acts.orders).items():
            table.add_row(name, *_counts([order.order_id for order in orders], tasks))
        table.add_row("a message is malformed: it is kept", str(len(self.acts.malformed)))
        table.add_row("orders whose events come in ledgers:", style="dim")
        for story, order_ids in ledgers.acts.by_story.items():
            table.add_row(f"  {story.value}", *_counts(order_ids, tasks))
        return table


def _counts(order_ids: Sequence[str], tasks: Mapping[str, Task]) -> Iterator[str]:
    """The cells of these orders: how many they are, and how many are in the states of each column."""
    yield str(len(order_ids))
    states = Counter(tasks[order_id].process_state for order_id in order_ids if order_id in tasks)
    yield from (str(sum(states[state] for state in column) or "") for column in _COLUMNS.values())
