"""What a run shows at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from stepward.domain.history import HistoryKind
from tests.lab.chaos.audit import Findings
from tests.lab.chaos.plan import VICTIMS

RECOVERIES = {
    HistoryKind.RECOVERED: "steps that ran past complete-by, run again",
    HistoryKind.UNCOUNTED: "steps whose attempt cannot have started, run again",
    HistoryKind.REMINDED: "tasks that no Scheduler had started, sent again",
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
    dead_letters: int
    settled: bool
    resubmitted: int
    findings: Findings

    @property
    def passed(self) -> bool:
        return not self.faults

    @property
    def faults(self) -> Sequence[str]:
        return [*self.findings.faults, *([] if self.settled else ["stuck: a queue still holds messages"])]

    def show(self, console: Console) -> None:
        """Print the tables, every fault, and the summaries."""
        console.print()
        console.print(self._faults(), self._kills(), self._recoveries())
        for fault in self.faults:
            console.print(fault, style="red", markup=False, soft_wrap=True)
        style = "green" if self.passed else "red"
        for summary in self.findings.summaries:
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
        rows = sorted((f"{service}  {action}", times) for (service, action), times in by_kind.items())
        return table("made to fail", "what", "requests", rows=rows)

    def _kills(self) -> Table:
        rows = ((victim, *(self.killed.get((victim, busy), 0) for busy in (True, False))) for victim in VICTIMS)
        return table("killed with SIGKILL", "function", "at work", "idle", rows=rows)

    def _recoveries(self) -> Table:
        rows = [
            *((text, self.happened.get(kind, 0)) for kind, text in RECOVERIES.items()),
            ("messages that ended in a dead-letter queue", self.dead_letters),
            ("orders undone because a step had used up its attempts", len(self.findings.given_up)),
            ("orders that an operator resubmitted when AWS worked again", self.resubmitted),
        ]
        return table("what the system did about it", "what", "times", rows=rows)


def table(title: str, *columns: str, rows: Iterable[Sequence[object]] = ()) -> Table:
    """A table of these rows; its first column is text, the others are numbers."""
    made = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        made.add_column(column, justify="right" if number else "left")
    for row in rows:
        made.add_row(*map(str, row))
    return made
