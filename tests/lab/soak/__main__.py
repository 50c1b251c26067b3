"""Runs orders at a steady rate, kills functions, checks that nothing grows: `python -m tests.lab.soak --minutes 10`."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Event
from time import monotonic
from typing import Annotated

import typer
from rich.console import Console

from orders.demo.stage import Stage
from stepward.domain.task.record import ProcessState
from stepward.local.services import Services
from tests.lab.chaos.plan import VICTIMS
from tests.lab.chaos.scene import SAMPLES as MESSAGES
from tests.lab.chaos.scene import SETTINGS, scene
from tests.lab.reaper import Reaper
from tests.lab.results import verdict
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
                    status.update(str(self.samples[-1]))
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


def main(
    minutes: float = 10.0,
    rate: Annotated[float, typer.Option(help="orders a second; one in four comes in a ledger")] = 1.0,
    seed: Annotated[int, typer.Option(help="decides who is killed")] = 1,
) -> None:
    """Run orders at a steady rate and kill functions; 1 if something grew, or did not end as it must."""
    console = Console()
    with scene(console, SETTINGS) as deployed:
        deployed.hasten()
        stage, reaper = deployed.stage, Reaper(deployed.cloud.pid)
        flow = Flow(stage, json.loads((MESSAGES / "order.json").read_text()), rate, seed)
        chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
        soak = Soak(stage, flow, Sampler(stage, deployed.cloud.pid), reaper, minutes * 60, chance)
        with stage.supervised():
            soak.perform(console)
            faults = [*soak.faults(deployed.services), *findings(soak.samples)]
        console.print(samples_table(soak.samples), trends_table(soak.samples))
        sent = f"{flow.sent} orders at {rate:g} a second, {reaper.killed.total()} processes killed"
        code = verdict(console, faults, f"soak: {sent}; {len(faults)} faults found")
    raise typer.Exit(code)


if __name__ == "__main__":
    typer.run(main)
