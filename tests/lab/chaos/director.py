"""Does to a deployment what a plan says, beside whatever else happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from time import monotonic

from stepward.local.proxy import Proxy
from tests.lab.chaos.plan import Plan, Storm, drizzle, weather
from tests.lab.chaos.reaper import Reaper

Told = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class Director:
    """Carries out `plan`; `told` hears of each storm, and of the end."""

    plan: Plan
    proxy: Proxy
    reaper: Reaper
    told: Told

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Begin, and have ended with it, at the latest, when the block ends."""
        over = Event()
        with ThreadPoolExecutor(2) as threads:
            began = monotonic()
            works = [threads.submit(self._storms, began, over), threads.submit(self._kills, began, over)]
            try:
                yield
            finally:
                over.set()
        for work in works:
            work.result()

    def _storms(self, began: float, over: Event) -> None:
        self.proxy.apply(drizzle())
        for storm in self.plan.storms:
            if not _wait(over, began + storm.at):
                break
            self._tell(storm)
            self.proxy.apply(weather(storm))
            _wait(over, began + storm.until)
            self.proxy.apply(drizzle())
        _wait(over, began + self.plan.seconds)
        self.proxy.apply([])
        self.told("all faults stop", monotonic() - began)

    def _kills(self, began: float, over: Event) -> None:
        for kill in self.plan.kills:
            if not _wait(over, began + kill.at):
                return
            self.reaper.kill(kill.victim, kill.wait)

    def _tell(self, storm: Storm) -> None:
        share, lasts = f"{storm.chance:.0%} of the requests to {storm.service}", storm.until - storm.at
        self.told(f"for {lasts:.1f} s, {share}: {storm.kind.value}", storm.at)


def _wait(over: Event, until: float) -> bool:
    """Wait until a moment; False if all is over by then."""
    return not over.wait(max(0.0, until - monotonic()))
