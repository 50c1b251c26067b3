"""What a person sees while the demonstration runs: orders by state, and recoveries as they happen."""

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

_TOLD = {
    HistoryKind.RECOVERED: ("yellow", "ran past complete-by and was recovered"),
    HistoryKind.UNCOUNTED: ("yellow", "never got its turn and was recovered"),
    HistoryKind.REMINDED: ("yellow", "had been picked up by nobody and was sent again"),
    HistoryKind.FAILED: ("red", "ended in Error"),
    HistoryKind.ALERTED: ("red", "was brought to the operator"),
    HistoryKind.RESUBMITTED: ("cyan", "was resubmitted"),
    HistoryKind.WAITING: ("yellow", "rests before it is tried again"),
    HistoryKind.FELL_BACK: ("yellow", "goes to another agent"),
    HistoryKind.LATE_EFFECT: ("magenta", "had its effect after the undo had begun"),
    HistoryKind.UNDO_BEGUN: ("magenta", "the undo begins"),
    HistoryKind.UNDONE: ("magenta", "all of it is undone"),
}
_WITH_NOTE = {HistoryKind.FAILED, HistoryKind.UNDO_BEGUN}
_COUNTED = [state for state in ProcessState if state is not ProcessState.STOPPED]


@dataclass(slots=True)
class Screen:
    """A live table of the orders in `acts`, with a line above it for each thing worth telling.

    Of the notices that submitters hear it shows those of one order, and counts the rest.
    """

    console: Console
    acts: Scenario
    live: Live
    told: Counter[str] = field(default_factory=Counter)
    notices: int = 0

    def show(self, tasks: Mapping[str, Task], ledgers: LedgerPlay, seconds: float) -> None:
        """Bring the table up to date and tell what is new."""
        for task in tasks.values():
            for entry in task.history[self.told[task.order_id] :]:
                self._tell(task, entry, seconds)
            self.told[task.order_id] = len(task.history)
        self.live.update(self._table(tasks, ledgers, seconds), refresh=True)

    def line(self, text: str, seconds: float) -> None:
        """Tell one thing."""
        self.console.print(f"{seconds:5.1f} s  {text}", soft_wrap=True, markup=False, highlight=False)

    def notice(self, heard: Heard, seconds: float) -> None:
        """Count a notice, and tell it if it is about the order that is followed."""
        self.notices += 1
        if heard.order_id == self._followed:
            what = f"{heard.status} {heard.step}".strip()
            self.line(f"the submitter of {heard.order_id} hears: {what} (revision {heard.revision})", seconds)

    @property
    def _followed(self) -> str:
        plain = [order.order_id for order in self.acts.orders if order.kind.cancelled]
        return (plain or [self.acts.orders[0].order_id])[0]

    def _tell(self, task: Task, entry: HistoryEntry, seconds: float) -> None:
        style, words = _TOLD.get(entry.kind, ("", entry.kind.value))
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
            f"{total} orders, {seconds:.1f} s; submitters heard {self.notices} notices; "
            f"{ledgers.applied} events applied, {ledgers.ended} of {lanes} lanes ended"
        )
        table = Table(title=title, title_justify="left")
        table.add_column("state")
        table.add_column("orders", justify="right")
        table.add_row("not yet submitted", str(total - len(tasks)))
        for state in _COUNTED:
            table.add_row(state.value, str(states[state]))
        return table
