"""Runs orders at a steady rate, kills functions, checks that nothing grows: `python -m tests.lab.soak --minutes 10`."""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import monotonic

from rich.console import Console

from orders.demo.run import deployed
from orders.demo.stage import Stage
from stepward.domain.task.record import ProcessState
from stepward.local.services import Services
from stepward.project import Project
from tests.lab.chaos.plan import VICTIMS
from tests.lab.chaos.reaper import Reaper
from tests.lab.chaos.run import SETTINGS, hasten
from tests.lab.soak.flow import Flow
from tests.lab.soak.report import findings, samples_table, trends_table
from tests.lab.soak.sampling import Sample, Sampler

STEP_S = 0.5
KILL_EVERY_S = 15.0
SAMPLES = 24
LEAST_BETWEEN_SAMPLES_S = 5.0
PATIENCE_S = 180.0


@dataclass(slots=True)
class Soak:
    """One run of `seconds` on `stage`."""

    stage: Stage
    flow: Flow
    sampler: Sampler
    reaper: Reaper
    seconds: float
    chance: random.Random
    began: float = field(default_factory=monotonic)
    samples: list[Sample] = field(default_factory=list)
    kills: int = 0

    def perform(self, console: Console) -> None:
        """Send, kill and take samples until the time is over; then wait until queues and due indexes are empty."""
        pause, between = Event(), max(LEAST_BETWEEN_SAMPLES_S, self.seconds / SAMPLES)
        with console.status("") as status:
            while self._at < self.seconds:
                self.flow.send_until(self._at)
                self._kill_when_due()
                if self._at >= between * (len(self.samples) + 1):
                    self.samples.append(self.sampler.sample(self._at, self.flow.sent))
                    status.update(summary(self.samples[-1]))
                pause.wait(STEP_S)
            while not self.is_quiet() and self._at < self.seconds + PATIENCE_S:
                status.update("waiting for the last orders")
                pause.wait(2 * STEP_S)

    def is_quiet(self) -> bool:
        """Whether all queues and due indexes are empty."""
        now = self.sampler.sample(self._at, self.flow.sent)
        return not now.waiting and not any(now.due.values())

    def faults(self, services: Services) -> Iterator[str]:
        """The orders and effects that did not end as they must."""
        tasks = self.stage.tasks()
        if len(tasks) != self.flow.sent:
            yield f"{self.flow.sent} orders were sent, {len(tasks)} have a task"
        for order_id, task in tasks.items():
            if task.process_state is not ProcessState.PROCESSED:
                yield f"{order_id} is {task.process_state}"
        yield from (f"{key} had its effect {times} times" for key, times in services.ledger.doubled().items())
        if not self.is_quiet():
            left = self.sampler.sample(self._at, self.flow.sent)
            yield f"left over: {left.backlog}, due: {left.due}"

    @property
    def _at(self) -> float:
        return monotonic() - self.began

    def _kill_when_due(self) -> None:
        if self._at >= (self.kills + 1) * KILL_EVERY_S:
            self.kills += 1
            self.reaper.kill(self.chance.choice(VICTIMS), self.chance.uniform(0, 0.1))


def summary(sample: Sample) -> str:
    """A sample in one line."""
    return f"{sample.at:.0f} s: {sample.orders} orders, {sample.waiting} messages wait, {sum(sample.due.values())} due"


def run(minutes: float, rate: float, seed: int, console: Console) -> int:
    """Soak for `minutes`, with `rate` orders a second; returns the exit code."""
    template = json.loads((Project.here().root / "events" / "orders" / "order.json").read_text())
    with (
        TemporaryDirectory(prefix="stepward-") as scratch,
        Services(Path(scratch) / "ledger.sqlite") as services,
        deployed(Project.here().root, Path(scratch), services, console, SETTINGS) as (stage, cloud),
    ):
        hasten(stage)
        flow, reaper = Flow(stage, template, rate, seed), Reaper(cloud.pid)
        chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
        soak = Soak(stage, flow, Sampler(stage, cloud.pid), reaper, minutes * 60, chance)
        with stage.supervised():
            soak.perform(console)
            faults = [*soak.faults(services), *findings(soak.samples)]
        console.print(samples_table(soak.samples), trends_table(soak.samples))
        for fault in faults:
            console.print(fault, style="red", markup=False, soft_wrap=True)
        console.print(
            f"soak: {flow.sent} orders at {rate:g} a second, {sum(reaper.killed.values())} processes killed; "
            f"{len(faults)} faults found",
            style="red" if faults else "green",
            highlight=False,
            soft_wrap=True,
        )
    return 1 if faults else 0


def main() -> int:
    """Run with the options of the command line; 1 if something grew, or did not end as it must."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=1.0, help="orders a second; one in four comes in a ledger")
    parser.add_argument("--seed", type=int, default=1, help="decides who is killed")
    options = parser.parse_args()
    return run(options.minutes, options.rate, options.seed, Console())


if __name__ == "__main__":
    sys.exit(main())
