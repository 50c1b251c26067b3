"""One run: the stack on the local cloud, a proxy that makes AWS fail, functions that are killed, and the audit."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from rich.console import Console
from rich.live import Live

from orders.demo.audit import Heard
from orders.demo.ledger_play import LedgerPlay
from orders.demo.ledgers import LedgerScenario, ledger_scenario
from orders.demo.live import Screen
from orders.demo.play import Play
from orders.demo.run import deployed
from orders.demo.scenario import Scenario, scenario
from orders.demo.stage import Stage
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.task.record import ProcessState, Task
from stepward.local.proxy import Proxy, faulty
from stepward.local.server import Server, free_port
from stepward.local.services import Services
from stepward.project import Project
from tests.lab.chaos.audit import audit_run
from tests.lab.chaos.director import Director
from tests.lab.chaos.operator import OnCall
from tests.lab.chaos.plan import plan
from tests.lab.chaos.queues import dead_letters, settle
from tests.lab.chaos.reaper import Reaper
from tests.lab.chaos.report import Report

ORDERS_PER_S = 0.5
LEDGER_ORDERS_PER_S = 0.25
PATIENCE_S = 300.0
COME_BACK_AFTER_S = 30
"""Visibility timeout of the engine's queues: the messages of a killed function come back within the run."""
SETTINGS = {"complete_within_ms": 12_000, "lease_ms": 10_000, "event_attempts": 100, "ledger_timeout_s": 30}


@dataclass(frozen=True, slots=True)
class Scene:
    """The deployment of a run, and what surrounds it."""

    stage: Stage
    cloud: Server
    proxy: Proxy
    services: Services


def run(seconds: float, seed: int, console: Console) -> int:
    """Send orders and ledgers steadily under `seconds` of faults, and wait until they end; returns the exit code."""
    with _scene(seed, console) as scene:
        samples = Project.here().root / "events" / "orders"
        acts, ledgers = _orders(seconds, seed, samples, scene.stage.submitter.url), _ledgers(seconds, seed, samples)
        ledger_text = f"{ledgers.entries} events of {len(ledgers.orders)} more"
        console.print(f"{len(acts.orders)} orders, and {ledger_text}, seed {seed}")
        report = _perform(scene, acts, ledgers, seconds, seed, console)
        report.show(console)
    return 0 if report.passed else 1


def _perform(
    scene: Scene, acts: Scenario, ledgers: LedgerScenario, seconds: float, seed: int, console: Console
) -> Report:
    stage, services, reaper, began = scene.stage, scene.services, Reaper(scene.cloud.pid), monotonic()
    with Live(console=console, auto_refresh=False) as live:
        screen = CountingScreen(console, acts, live)
        on_call = OnCall(stage, seconds, _left_alone(acts), screen.line)
        theirs = LedgerPlay(ledgers, stage, screen.line, pace_s=seconds)
        play = Play(acts, stage, services, screen, theirs, pace_s=seconds, patience_s=PATIENCE_S, operator=on_call.act)
        director = Director(plan(seconds, seed), scene.proxy, reaper, screen.line)
        with stage.supervised(), director.at_work():
            play.perform()
            screen.line("waiting until no queue holds a message", monotonic() - began)
            settled = settle(stage, PATIENCE_S)
    evidence = stage.evidence(services.ledger, {order.order_id for order in ledgers.orders})
    return Report(
        seconds=monotonic() - began,
        requests=scene.proxy.passed(),
        injected=scene.proxy.injected(),
        killed=reaper.killed,
        happened=screen.happened,
        dead_letters=sum(dead_letters(stage).values()),
        settled=settled,
        resubmitted=on_call.resubmitted.total(),
        findings=audit_run(acts, ledgers, evidence, theirs.evidence(services.ledger)),
    )


@dataclass(slots=True)
class CountingScreen(Screen):
    """The demonstration's table; it counts the history entries in `happened` instead of printing each."""

    happened: Counter[HistoryKind] = field(default_factory=Counter)

    def notice(self, heard: Heard, seconds: float) -> None:  # noqa: ARG002 - as its parent's
        self.notices += 1

    def _tell(self, task: Task, entry: HistoryEntry, seconds: float) -> None:  # noqa: ARG002 - as its parent's
        self.happened[entry.kind] += 1


@contextmanager
def _scene(seed: int, console: Console) -> Iterator[Scene]:
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(TemporaryDirectory(prefix="stepward-")))
        services = stack.enter_context(Services(scratch / "ledger.sqlite"))
        proxies: list[Proxy] = []

        @contextmanager
        def through_a_proxy(endpoint: str) -> Iterator[str]:
            with faulty(endpoint, free_port(), scratch / "proxy.log", seed) as proxy:
                proxies.append(proxy)
                yield proxy.endpoint

        stage, cloud = stack.enter_context(
            deployed(Project.here().root, scratch, services, console, SETTINGS, functions_reach=through_a_proxy)
        )
        hasten(stage)
        yield Scene(stage, cloud, proxies[0], services)


def hasten(stage: Stage) -> None:
    """Let the messages of killed functions come back sooner than in an account."""
    names = stage.deployment
    for url in (names.orders_queue_url, names.scheduler_queue_url, names.responses_queue_url, names.ledgers_queue_url):
        stage.sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": str(COME_BACK_AFTER_S)})


def _orders(seconds: float, seed: int, samples: Path, reply_to: str) -> Scenario:
    """The demonstration's orders, without those whose submitter must cancel before their agents end."""
    acts = scenario(round(ORDERS_PER_S * seconds), seed, samples, reply_to)
    return replace(acts, orders=tuple(order for order in acts.orders if not order.kind.cancelled))


def _ledgers(seconds: float, seed: int, samples: Path) -> LedgerScenario:
    """The demonstration's ledgers, one of each customer in turn."""
    template = json.loads((samples / "order.json").read_text())
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
