"""Carries out a plan of faults on a running deployment, in threads of its own."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from time import monotonic

from stepward.local.proxy import Proxy
from tests.lab.chaos.plan import Plan, drizzle, weather
from tests.lab.reaper import Reaper

Log = Callable[[str, float], None]
"""Prints a line, with the seconds since the run began."""


@dataclass(frozen=True, slots=True)
class Director:
    """Carries out `plan`."""

    plan: Plan
    proxy: Proxy
    reaper: Reaper

    @contextmanager
    def at_work(self, log: Log) -> Iterator[None]:
        """Carry out the plan while the block runs, log each storm and the end, and stop at its end."""
        over = Event()
        with ThreadPoolExecutor(2) as threads:
            began = monotonic()
            works = [threads.submit(self._storms, began, over, log), threads.submit(self._kills, began, over)]
            try:
                yield
            finally:
                over.set()
        for work in works:
            work.result()

    def _storms(self, began: float, over: Event, log: Log) -> None:
        self.proxy.apply(drizzle())
        for storm in self.plan.storms:
            if not _wait(over, began + storm.at):
                break
            share, lasts = f"{storm.chance:.0%} of the requests to {storm.service}", storm.until - storm.at
            log(f"for {lasts:.1f} s, {share}: {storm.kind.value}", storm.at)
            self.proxy.apply(weather(storm))
            _wait(over, began + storm.until)
            self.proxy.apply(drizzle())
        _wait(over, began + self.plan.seconds)
        self.proxy.apply([])
        log("all faults stop", monotonic() - began)

    def _kills(self, began: float, over: Event) -> None:
        for kill in self.plan.kills:
            if not _wait(over, began + kill.at):
                return
            self.reaper.kill(kill.victim, kill.wait)


def _wait(over: Event, until: float) -> bool:
    """Wait until `until`; False if the run is over by then."""
    return not over.wait(max(0.0, until - monotonic()))
