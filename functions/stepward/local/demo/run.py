"""Runs the demonstration from nothing to its verdict, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep  # noqa: TID251 - a command on a person's machine may wait

from rich.console import Console, RenderableType
from rich.live import Live

from stepward.domain.task import ProcessState
from stepward.local.cloud import local_cloud
from stepward.local.demo.audit import audit
from stepward.local.demo.live import Screen
from stepward.local.demo.scenario import SERVICES, Scenario, kinds_of, scenario
from stepward.local.demo.stage import Stage
from stepward.local.deploy import deploy
from stepward.local.deployment import Deployment
from stepward.local.services import FaultKind, Services
from stepward.local.standing import project_root
from stepward.local.synth import synthesise
from stepward.ports import Loaded

View = Callable[[Loaded], RenderableType]

COMPLETE_WITHIN_MS = 3_000
CLAIM_WITHIN_MS = 2_000
SKEW_MARGIN_MS = 200
FEW_PROCESSES = {"engine_concurrency": 2, "agent_batch_size": 5}
"""This machine has fewer cores than Lambda: more functions at once would only start more slowly."""
REFRESH_S = 0.4
PATIENCE_S = 60.0
PATIENCE_PER_ORDER_S = 1.0


def run(orders: int, seed: int, console: Console, view: View, *, honour_keys: bool = True) -> int:
    """Deploy, send `orders` orders, wait until each has ended, show one by `view`, audit; the exit code.

    `honour_keys=False` makes the remote services forget idempotency keys, to show that the audit notices.
    """
    root = project_root()
    acts = scenario(orders, seed, root / "events" / "orders")
    with (
        TemporaryDirectory(prefix="stepward-") as scratch,
        Services(Path(scratch) / "ledger.sqlite", honour_keys=honour_keys) as services,
        _deployed(root, Path(scratch), services, console) as stage,
    ):
        _tell(acts, seed, console)
        for order in acts.orders:
            if order.fault:
                services.misbehave(order.fault)
        _perform(acts, stage, console)
        _tell_one(acts, stage, console, view)
        findings = audit(acts, stage.evidence(services.ledger))
    console.print()
    for fault in findings.faults():
        console.print(fault, style="red", markup=False, soft_wrap=True)
    style = "green" if findings.passed else "red"
    console.print(findings.summary, style=style, markup=False, highlight=False, soft_wrap=True)
    return 0 if findings.passed else 1


@contextmanager
def _deployed(root: Path, scratch: Path, services: Services, console: Console) -> Iterator[Stage]:
    """The stack, synthesised while the local cloud starts, and deployed there; gone afterwards."""
    context = {
        "platform": "local",
        "service_urls": {name: services.url(name) for name in SERVICES},
        "complete_within_ms": COMPLETE_WITHIN_MS,
        "claim_within_ms": CLAIM_WITHIN_MS,
        "skew_margin_ms": SKEW_MARGIN_MS,
        **FEW_PROCESSES,
    }
    began = monotonic()
    with ThreadPoolExecutor(1) as beside, console.status("synthesising the stack, starting the local cloud") as status:
        synthesis = beside.submit(synthesise, root, scratch / "cdk.out", context)
        with local_cloud(log=scratch / "cloud.log") as cloud:
            synthesis.result()
            console.print(f"{monotonic() - began:5.1f} s  synthesised the stack; the local cloud answers")
            status.update("deploying")
            outputs = deploy(scratch / "cdk.out", cloud.endpoint)
            stage = Stage(cloud.endpoint, Deployment.from_outputs(outputs))
            console.print(f"{monotonic() - began:5.1f} s  deployed it: queues, tables, functions, schedule, alarms")
            status.stop()
            yield stage


def _tell(acts: Scenario, seed: int, console: Console) -> None:
    console.print(f"\nSending {len(acts.orders)} orders (seed {seed}):")
    for name, count in kinds_of(acts.orders):
        console.print(f"  {count:3d}  {name}", highlight=False)
    console.print(f"  {len(acts.malformed):3d}  malformed messages beside them\n", highlight=False)


def _perform(acts: Scenario, stage: Stage, console: Console) -> None:
    """Send everything and watch until every order has ended, or patience has."""
    began = monotonic()
    patience = PATIENCE_S + PATIENCE_PER_ORDER_S * len(acts.orders)
    with stage.supervised(), Live(console=console, auto_refresh=False) as live:
        screen = Screen(console, len(acts.orders), live)
        stage.send(acts.first_messages)
        later = list(acts.later_messages)
        while (spent := monotonic() - began) < patience:
            tasks = stage.tasks()
            screen.show(tasks, spent)
            if later and len(tasks) == len(acts.orders):
                stage.send(later)
                later = []
            elif len(tasks) == len(acts.orders) and _quiet(acts, stage):
                return
            sleep(REFRESH_S)


def _tell_one(acts: Scenario, stage: Stage, console: Console, view: View) -> None:
    """Show an order that outlived its agent, or else another that was recovered."""
    tasks = stage.tasks()
    recovered = [order for order in acts.orders if (task := tasks.get(order.order_id)) and task.history]
    recovered.sort(key=lambda order: order.kind.fault is not FaultKind.DIE_AFTER_EFFECT)
    if recovered and (loaded := stage.store.load(recovered[0].order_id, with_order=False)):
        console.print(f"\nOne of them ({recovered[0].kind.name}), as `stepward show` tells it:\n", highlight=False)
        console.print(view(loaded))


def _quiet(acts: Scenario, stage: Stage) -> bool:
    """Whether nothing is left to happen: every order ended, every Error told, every reject kept."""
    tasks = stage.tasks()
    ended = all(task.due is None and task.process_state is not ProcessState.PROCESSING for task in tasks.values())
    return ended and len(stage.rejects.newest(len(acts.rejected))) >= len(acts.rejected)
