"""The screen of the running demonstration: orders by state, and a line for each recovery."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from orders.demo.audit import Heard
from orders.demo.ledger_play import LedgerPlay
from orders.demo.scenario import Scenario
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.task.record import ProcessState, Task

_WORDS = {
    HistoryKind.RECOVERED: ("yellow", "ran past complete-by; the Supervisor recovered it"),
    HistoryKind.UNCOUNTED: ("yellow", "never ran; the Supervisor recovered it without counting a failure"),
    HistoryKind.REMINDED: ("yellow", "was claimed by no Scheduler; the Supervisor sent a reminder"),
    HistoryKind.FAILED: ("red", "ended in Error"),
    HistoryKind.ALERTED: ("red", "the operators were alerted"),
    HistoryKind.RESUBMITTED: ("cyan", "an operator resubmitted it"),
    HistoryKind.WAITING: ("yellow", "waits (backoff) before its next attempt"),
    HistoryKind.FELL_BACK: ("yellow", "falls back to another agent"),
    HistoryKind.LATE_EFFECT: ("magenta", "had its effect after the undo had begun"),
    HistoryKind.UNDO_BEGUN: ("magenta", "the undo begins"),
    HistoryKind.UNDONE: ("magenta", "the order is Undone"),
}
_WITH_NOTE = {HistoryKind.FAILED, HistoryKind.UNDO_BEGUN}
_COUNTED = [state for state in ProcessState if state is not ProcessState.STOPPED]


@dataclass(slots=True)
class Screen:
    """A live table of the orders in `acts`, with a line above it for each history entry.

    Of the notices to submitters it prints those about one order, and counts the others.
    """

    console: Console
    acts: Scenario
    live: Live
    printed: Counter[str] = field(default_factory=Counter)
    notices: int = 0

    def show(self, tasks: Mapping[str, Task], ledgers: LedgerPlay, seconds: float) -> None:
        """Update the table and print the new history entries."""
        for task in tasks.values():
            for entry in task.history[self.printed[task.order_id] :]:
                self._tell(task, entry, seconds)
            self.printed[task.order_id] = len(task.history)
        self.live.update(self._table(tasks, ledgers, seconds), refresh=True)

    def line(self, text: str, seconds: float) -> None:
        """Print a line."""
        self.console.print(f"{seconds:5.1f} s  {text}", soft_wrap=True, markup=False, highlight=False)

    def notice(self, heard: Heard, seconds: float) -> None:
        """Count a notice, and print it if it is about the order that is followed."""
        self.notices += 1
        if heard.order_id == self._followed:
            what = f"{heard.status} {heard.step}".strip()
            self.line(f"{heard.order_id}  its submitter is notified: {what} (revision {heard.revision})", seconds)

    @property
    def _followed(self) -> str:
        cancelled = [order.order_id for order in self.acts.orders if order.kind.cancelled]
        return (cancelled or [self.acts.orders[0].order_id])[0]

    def _tell(self, task: Task, entry: HistoryEntry, seconds: float) -> None:
        style, words = _WORDS.get(entry.kind, ("", entry.kind.value))
        where = f"{entry.step}, attempt {entry.attempt}, " if entry.step else ""
        line = Text(f"{seconds:5.1f} s  {task.order_id}  {where}")
        line.append(words, style)
        if entry.kind in _WITH_NOTE:
            line.append(f": {entry.note}")
        self.console.print(line, soft_wrap=True)

    def _table(self, tasks: Mapping[str, Task], ledgers: LedgerPlay, seconds: float) -> Table:
        states = Counter(task.process_state for task in tasks.values())
        lanes = len(ledgers.acts.orders)
        total = len(self.acts.orders) + lanes
        title = (
            f"{total} orders, {seconds:.1f} s; {self.notices} notices to submitters; "
            f"{ledgers.applied} events applied, {ledgers.ended} of {lanes} lanes ended"
        )
        table = Table(title=title, title_justify="left")
        table.add_column("state")
        table.add_column("orders", justify="right")
        table.add_row("not yet submitted", str(total - len(tasks)))
        for state in _COUNTED:
            table.add_row(state.value, str(states[state]))
        return table
