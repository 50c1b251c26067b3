"""What a run tells at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from stepward.domain.history import HistoryKind
from tests.lab.chaos.plan import VICTIMS
from tests.lab.chaos.verdict import Verdict

RECOVERIES = {
    HistoryKind.RECOVERED: "steps that ran past complete-by, run again",
    HistoryKind.UNCOUNTED: "steps that never got their turn, run again",
    HistoryKind.REMINDED: "tasks that nobody had picked up, sent again",
    HistoryKind.LATE_EFFECT: "effects of a fenced attempt, undone",
    HistoryKind.ALERTED: "alerts to operators",
}


@dataclass(frozen=True, slots=True)
class Report:
    """The counts of a run, and what the audits found."""

    seconds: float
    requests: int
    injected: Mapping[tuple[str, str, str], int]
    killed: Mapping[tuple[str, bool], int]
    happened: Mapping[HistoryKind, int]
    dead: int
    settled: bool
    resubmitted: int
    verdict: Verdict

    @property
    def passed(self) -> bool:
        """Whether no fault was found."""
        return not self.faults

    @property
    def faults(self) -> Sequence[str]:
        """Every fault as a line."""
        return [*self.verdict.faults, *([] if self.settled else ["stuck: a queue still holds messages"])]

    def show(self, console: Console) -> None:
        """Print tables, the verdict, and every fault."""
        console.print()
        for table in (self._faults(), self._kills(), self._recoveries()):
            console.print(table)
        for fault in self.faults:
            console.print(fault, style="red", markup=False, soft_wrap=True)
        style = "green" if self.passed else "red"
        for summary in self.verdict.summaries:
            console.print(summary.removeprefix("demo: "), style=style, markup=False, highlight=False, soft_wrap=True)
        console.print(
            f"chaos: {self.seconds:.0f} s, {sum(self.injected.values())} of {self.requests} requests failed, "
            f"{sum(self.killed.values())} processes killed; {len(self.faults)} faults found",
            style=style,
            highlight=False,
            soft_wrap=True,
        )

    def _faults(self) -> Table:
        by_kind: Counter[tuple[str, str]] = Counter()
        for (service, _, action), times in self.injected.items():
            by_kind[service, action] += times
        rows = ((f"{service}  {action}", times) for (service, action), times in by_kind.items())
        return _table("made to fail", "requests", sorted(rows))

    def _kills(self) -> Table:
        table = Table(title="killed with SIGKILL", title_justify="left")
        table.add_column("function")
        table.add_column("at work", justify="right")
        table.add_column("idle", justify="right")
        for victim in VICTIMS:
            table.add_row(victim, *(str(self.killed.get((victim, busy), 0)) for busy in (True, False)))
        return table

    def _recoveries(self) -> Table:
        return _table("what the system did about it", "times", self._remedies())

    def _remedies(self) -> Iterator[tuple[str, int]]:
        yield from ((words, self.happened.get(kind, 0)) for kind, words in RECOVERIES.items())
        yield "messages that ended in a dead-letter queue", self.dead
        yield "orders undone because a step had used up its attempts", len(self.verdict.given_up)
        yield "orders that an operator resubmitted when AWS worked again", self.resubmitted


def _table(title: str, unit: str, rows: Iterator[tuple[str, int]] | list[tuple[str, int]]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("what")
    table.add_column(unit, justify="right")
    for what, times in rows:
        table.add_row(what, str(times))
    return table
