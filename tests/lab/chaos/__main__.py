"""Makes AWS fail and kills functions under a steady flow of orders and ledgers: `python -m tests.lab.chaos`."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.live import Live

from orders.demo.audit import Heard
from orders.demo.ledger_play import LedgerPlay
from orders.demo.ledgers import LedgerScenario, ledger_scenario
from orders.demo.live import Screen
from orders.demo.play import Play
from orders.demo.scenario import Expected, Scenario, scenario
from stepward.domain.task.record import ProcessState, Task
from stepward.local.proxy import Proxy, faulty
from stepward.local.server import free_port
from tests.lab.chaos.audit import audit_run
from tests.lab.chaos.director import Director
from tests.lab.chaos.operator import OnCall
from tests.lab.chaos.plan import plan
from tests.lab.chaos.queues import dead_letters, settle
from tests.lab.chaos.report import killed, made_to_fail, recovered
from tests.lab.chaos.scene import SAMPLES, SETTINGS, Scene, scene
from tests.lab.reaper import Reaper
from tests.lab.results import verdict

ORDERS_PER_S = 0.5
LEDGER_ORDERS_PER_S = 0.25
PATIENCE_S = 300.0


def main(
    seconds: Annotated[float, typer.Option(help="how long AWS fails and functions are killed")] = 180.0,
    seed: Annotated[int, typer.Option(help="decides what is sent, what fails, and who is killed when")] = 1,
) -> None:
    """Make AWS fail and kill functions under a steady flow of orders and ledgers; 1 if an audit found a fault."""
    console, proxies = Console(), list[Proxy]()

    @contextmanager
    def through_a_proxy(endpoint: str) -> Iterator[str]:
        with TemporaryDirectory() as folder, faulty(endpoint, free_port(), Path(folder) / "log", seed) as proxy:
            proxies.append(proxy)
            yield proxy.endpoint

    with scene(console, SETTINGS, through_a_proxy) as deployed:
        deployed.hasten()
        acts, ledgers = _orders(seconds, seed, deployed.stage.submitter.url), _ledgers(seconds, seed)
        ledger_text = f"{ledgers.entries} events of {len(ledgers.orders)} more"
        console.print(f"{len(acts.orders)} orders, and {ledger_text}, seed {seed}")
        director = Director(plan(seconds, seed), proxies[0], Reaper(deployed.cloud.pid))
        code = _perform(deployed, director, acts, ledgers, console)
    raise typer.Exit(code)


def _perform(scene: Scene, director: Director, acts: Scenario, ledgers: LedgerScenario, console: Console) -> int:
    """Send orders and ledgers steadily under the faults, wait until they end, and show what was found."""
    stage, services, seconds, began = scene.stage, scene.services, director.plan.seconds, monotonic()
    with Live(console=console, auto_refresh=False) as live:
        screen = CountingScreen(console, acts, live)
        on_call = OnCall(stage, seconds, _left_alone(acts), screen.line)
        theirs = LedgerPlay(ledgers, stage, screen.line, pace_s=seconds)
        play = Play(acts, stage, services, screen, theirs, pace_s=seconds, patience_s=PATIENCE_S, operator=on_call.act)
        with stage.supervised(), director.at_work(screen.line):
            play.perform()
            screen.line("waiting until no queue holds a message", monotonic() - began)
            settled = settle(stage, PATIENCE_S)
    evidence = stage.evidence(services.ledger, {order.order_id for order in ledgers.orders})
    lasted, injected, kills = monotonic() - began, director.proxy.injected(), director.reaper.killed
    found = audit_run(acts, ledgers, evidence, theirs.evidence(services.ledger))
    dead = sum(dead_letters(stage).values())
    console.print()
    console.print(made_to_fail(injected), killed(kills))
    console.print(recovered(screen.happened, dead, len(found.given_up), on_call.resubmitted.total()))
    faults = [*found.faults, *([] if settled else ["stuck: a queue still holds messages"])]
    failed = f"{sum(injected.values())} of {director.proxy.passed()} requests failed"
    summary = f"chaos: {lasted:.0f} s, {failed}, {kills.total()} processes killed; {len(faults)} faults found"
    return verdict(console, faults, *(text.removeprefix("demo: ") for text in found.summaries), summary)


class CountingScreen(Screen):
    """The demonstration's table, without its sentences."""

    def notice(self, heard: Heard, seconds: float) -> None:  # noqa: ARG002 - as its parent's
        self.notices += 1

    def _tell(self, order: Expected, task: Task, seconds: float) -> None:
        """Nothing."""


def _orders(seconds: float, seed: int, reply_to: str) -> Scenario:
    """The demonstration's orders, without those whose submitter must cancel before their agents end."""
    acts = scenario(round(ORDERS_PER_S * seconds), seed, SAMPLES, reply_to)
    return replace(acts, orders=tuple(order for order in acts.orders if not order.kind.cancelled))


def _ledgers(seconds: float, seed: int) -> LedgerScenario:
    """The demonstration's ledgers, one of each customer in turn."""
    template = json.loads((SAMPLES / "order.json").read_text())
    ledgers = ledger_scenario(round(LEDGER_ORDERS_PER_S * seconds), seed, template)
    by_customer: dict[str, list[Mapping[str, Any]]] = {}
    for ledger in ledgers.ledgers:
        by_customer.setdefault(ledger["customerId"], []).append(ledger)
    turns = chain.from_iterable(zip_longest(*by_customer.values()))
    return replace(ledgers, ledgers=tuple(ledger for ledger in turns if ledger is not None))


def _left_alone(acts: Scenario) -> frozenset[str]:
    """The orders that must end in Error, and those that the play's own operator resubmits."""
    left = [order for order in acts.orders if order.ends is ProcessState.ERROR or order.kind.resubmitted]
    return frozenset(order.order_id for order in left)


if __name__ == "__main__":
    typer.run(main)
