"""What a person sees while the demonstration runs: orders by state, and recoveries as they happen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from stepward.domain.facts import Fact, FactKind
from stepward.domain.task import ProcessState, Task

_TOLD = {
    FactKind.RECOVERED: ("yellow", "ran past complete-by and was recovered"),
    FactKind.EXCUSED: ("yellow", "never got its turn and was recovered"),
    FactKind.REMINDED: ("yellow", "had been picked up by nobody and was sent again"),
    FactKind.FAILED: ("red", "ended in Error"),
    FactKind.ALERTED: ("red", "was brought to the operator"),
}


@dataclass(slots=True)
class Screen:
    """A live table of `total` orders, with a line above it for each thing that went wrong and was mended."""

    console: Console
    total: int
    live: Live
    told: Counter[str] = field(default_factory=Counter)

    def show(self, tasks: Mapping[str, Task], seconds: float) -> None:
        """Bring the table up to date and tell what is new."""
        for task in tasks.values():
            for fact in task.history[self.told[task.order_id] :]:
                self._tell(task, fact, seconds)
            self.told[task.order_id] = len(task.history)
        self.live.update(_table(tasks, self.total, seconds))

    def _tell(self, task: Task, fact: Fact, seconds: float) -> None:
        style, words = _TOLD.get(fact.kind, ("", fact.kind.value))
        line = Text(f"{seconds:5.1f} s  {task.order_id}  {fact.step}, attempt {fact.attempt}, ")
        line.append(words, style)
        if fact.kind is FactKind.FAILED:
            line.append(f": {fact.note}")
        self.console.print(line, soft_wrap=True)


def _table(tasks: Mapping[str, Task], total: int, seconds: float) -> Table:
    states = Counter(task.process_state for task in tasks.values())
    table = Table(title=f"{total} orders, {seconds:.1f} s", title_justify="left")
    table.add_column("state")
    table.add_column("orders", justify="right")
    table.add_row("not yet submitted", str(total - len(tasks)))
    for state in ProcessState:
        table.add_row(state.value, str(states[state]))
    return table
