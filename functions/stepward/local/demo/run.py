"""Runs the demonstration from nothing to its verdict, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from rich.console import Console, RenderableType
from rich.live import Live

from stepward.local.access import REGION
from stepward.local.cloud import local_cloud
from stepward.local.demo.audit import audit
from stepward.local.demo.inbox import Inbox
from stepward.local.demo.live import Screen
from stepward.local.demo.play import Play
from stepward.local.demo.scenario import SERVICES, Expected, Scenario, kinds_of, scenario
from stepward.local.demo.stage import Stage
from stepward.local.deploy import ACCOUNT, deploy
from stepward.local.deployment import Deployment
from stepward.local.server import LOOPBACK, free_port
from stepward.local.services import FaultKind, Services
from stepward.local.standing import project_root
from stepward.local.synth import synthesise
from stepward.ports import Loaded

View = Callable[[Loaded], RenderableType]

QUICK = {"claim_within_ms": 2_000, "skew_margin_ms": 200}
FEW_PROCESSES = {"engine_concurrency": 2, "agent_batch_size": 5}
"""This machine has fewer cores than Lambda: more functions at once would only start more slowly."""
REPLIES = "demo-replies"


def run(
    orders: int,
    seed: int,
    console: Console,
    view: View,
    *,
    complete_within_ms: int = 4_000,
    honour_keys: bool = True,
) -> int:
    """Deploy, send `orders` orders, wait until each has ended, show one by `view`, audit; the exit code.

    An attempt has `complete_within_ms`: short, so that a demonstration of lateness is not late itself.
    `honour_keys=False` makes the remote services forget idempotency keys, to show that the audit notices.
    """
    root = project_root()
    with (
        TemporaryDirectory(prefix="stepward-") as scratch,
        Services(Path(scratch) / "ledger.sqlite", honour_keys=honour_keys) as services,
        _deployed(root, Path(scratch), services, console, complete_within_ms) as stage,
    ):
        acts = scenario(orders, seed, root / "events" / "orders", stage.submitter.url)
        _introduce(acts, seed, console)
        with stage.supervised(), Live(console=console, auto_refresh=False) as live:
            Play(acts, stage, services, Screen(console, acts, live)).perform()
        _tell_one(acts, stage, console, view)
        findings = audit(acts, stage.evidence(services.ledger))
    console.print()
    for fault in findings.faults():
        console.print(fault, style="red", markup=False, soft_wrap=True)
    style = "green" if findings.passed else "red"
    console.print(findings.summary, style=style, markup=False, highlight=False, soft_wrap=True)
    return 0 if findings.passed else 1


@contextmanager
def _deployed(
    root: Path, scratch: Path, services: Services, console: Console, complete_within_ms: int
) -> Iterator[Stage]:
    """The stack, synthesised while the local cloud starts, and deployed there; gone afterwards."""
    began, port = monotonic(), free_port()
    context = {
        "platform": "local",
        "service_urls": {name: services.url(name) for name in SERVICES},
        "reply_accounts": ACCOUNT,
        "reply_regions": REGION,
        "reply_prefixes": REPLIES,
        "reply_endpoint": f"http://{LOOPBACK}:{port}",
        "complete_within_ms": complete_within_ms,
        **QUICK,
        **FEW_PROCESSES,
    }
    with ThreadPoolExecutor(1) as beside, console.status("synthesising the stack, starting the local cloud") as status:
        synthesis = beside.submit(synthesise, root, scratch / "cdk.out", context)
        with local_cloud(log=scratch / "cloud.log", port=port) as cloud:
            synthesis.result()
            console.print(f"{monotonic() - began:5.1f} s  synthesised the stack; the local cloud answers")
            status.update("deploying")
            outputs = deploy(scratch / "cdk.out", cloud.endpoint)
            stage = Stage(cloud.endpoint, Deployment.from_outputs(outputs), Inbox(cloud.endpoint, f"{REPLIES}-shop"))
            console.print(f"{monotonic() - began:5.1f} s  deployed it: queues, tables, functions, schedule, alarms")
            status.stop()
            yield stage


def _introduce(acts: Scenario, seed: int, console: Console) -> None:
    console.print(f"\nSending {len(acts.orders)} orders (seed {seed}):")
    for name, count in kinds_of(acts.orders):
        console.print(f"  {count:3d}  {name}", highlight=False)
    console.print(f"  {len(acts.malformed):3d}  malformed messages beside them\n", highlight=False)


def _tell_one(acts: Scenario, stage: Stage, console: Console, view: View) -> None:
    """Show the order with the most to tell: one whose undo failed, or that outlived its agent."""
    told = sorted(acts.orders, key=lambda order: (not order.kind.resubmitted, not _outlives_its_agent(order)))
    for order in told:
        loaded = stage.store.load(order.order_id, with_order=False)
        if loaded and loaded.task.history:
            console.print(f"\nOne of them ({order.kind.name}), as `stepward show` tells it:\n", highlight=False)
            console.print(view(loaded))
            return


def _outlives_its_agent(order: Expected) -> bool:
    return any(fault.kind is FaultKind.DIE_AFTER_EFFECT for fault in order.faults)
