"""The Supervisor's sweep of the agents: it alerts operators to defects of code and settings, which blame no order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from stepward.app.supervisor.task_sweep import Watch
from stepward.domain.coordination.blame import DefectNews
from stepward.domain.coordination.breaker import Breaker
from stepward.domain.history import HistoryEntry
from stepward.domain.messages import AgentDefect, Alert
from stepward.ports import Alerts


@dataclass(frozen=True, slots=True)
class DefectSweep:
    """Checks the breakers' records for defects that began or ended, and that nobody has heard of."""

    watch: Watch
    now: Callable[[], int]

    def due(self, shard: int) -> Iterator[str]:
        """The agents with news; they belong to the first shard, so that one Supervisor checks them."""
        for agent in self.watch.agents if shard == 0 else ():
            if any(self._alerts(agent)):
                yield agent

    def check(self, alerts: Alerts) -> Callable[[str], Sequence[HistoryEntry]]:
        """What alerts to the defects of an agent by `alerts`."""

        def check(agent: str) -> Sequence[HistoryEntry]:
            for alert in self._alerts(agent):
                alerts.send(alert)
            return ()

        return check

    def confirm(self, alert: Alert) -> None:
        """Note that operators have heard of it; raises Transient or Corrupt."""
        if isinstance(alert, AgentDefect):
            key, over = (alert.operation, alert.name, alert.place), alert.over

            def told(found: Breaker) -> Breaker:
                return replace(found, blame=found.blame.told(key, over=over))

            self.watch.breakers.change(alert.agent, told)

    def _alerts(self, agent: str) -> Iterator[AgentDefect]:
        now = self.now()
        yield from (_alert(agent, news, now) for news in self.watch.of(agent, now).blame.news(now))


def _alert(agent: str, news: DefectNews, now: int) -> AgentDefect:
    suspect = news.suspect
    return AgentDefect(
        agent=agent,
        operation=suspect.operation,
        name=suspect.name,
        place=suspect.place,
        error=suspect.text,
        orders=len(suspect.orders),
        since=suspect.worked_at if news.over else suspect.since,
        at=now,
        over=news.over,
        is_setting=suspect.is_setting,
    )
