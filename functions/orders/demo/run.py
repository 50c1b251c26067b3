"""Runs the whole demonstration, from deployment to audit, and leaves nothing behind."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from rich.console import Console, RenderableType
from rich.live import Live

from orders.demo.audit import Findings, audit
from orders.demo.inbox import Inbox
from orders.demo.ledger_audit import LedgerFindings, audit_ledgers
from orders.demo.ledger_play import LedgerPlay
from orders.demo.ledgers import LedgerScenario, ledger_scenario
from orders.demo.live import Screen
from orders.demo.play import Play
from orders.demo.scenario import LATE_ORDERS, SERVICES, Expected, Scenario, kinds_of, scenario
from orders.demo.stage import Stage
from orders.fulfilment import fulfilment
from stepward.domain.task.record import Loaded
from stepward.local.access import REGION
from stepward.local.cloud import local_cloud
from stepward.local.deploy import ACCOUNT, deploy
from stepward.local.secret_store import demanded
from stepward.local.server import LOOPBACK, Server, free_port
from stepward.local.services import FaultKind, Services
from stepward.local.synth import synthesise
from stepward.project import Project
from stepward.stack_outputs import Deployment

View = Callable[[Loaded], RenderableType]

QUICK = {"claim_within_ms": 2_000, "skew_margin_ms": 200, "gap_ms": 3_000, "lane_timeout_s": 5}
FEW_PROCESSES = {"engine_concurrency": 2, "agent_batch_size": 5}
"""A single machine has few cores: more functions at once would only start more slowly."""
REPLIES = "demo-replies"


def run(
    orders: int,
    seed: int,
    console: Console,
    view: View,
    *,
    ledger_orders: int = 60,
    complete_within_ms: int = 4_000,
) -> int:
    """Deploy, send `orders` orders and ledgers of `ledger_orders` more, wait for their ends, audit; the exit code.

    `view` renders one order at the end. An attempt has `complete_within_ms`, which is short to save time.
    """
    root = Project.here().root
    with (
        TemporaryDirectory(prefix="stepward-") as scratch,
        Services(Path(scratch) / "ledger.sqlite", secrets=demanded(fulfilment.agents)) as services,
        deployed(root, Path(scratch), services, console, {"complete_within_ms": complete_within_ms}) as (stage, _),
    ):
        samples = root / "events" / "orders"
        acts = scenario(orders, seed, samples, stage.submitter.url)
        ledgers = ledger_scenario(ledger_orders, seed, json.loads((samples / "order.json").read_text()))
        _introduce(acts, ledgers, seed, console)
        with stage.supervised(), Live(console=console, auto_refresh=False) as live:
            screen = Screen(console, acts, live)
            theirs = LedgerPlay(ledgers, stage, screen.line)
            Play(acts, stage, services, screen, theirs).perform()
        _show_one(acts, stage, console, view)
        others = {order.order_id for order in ledgers.orders}
        findings = audit(acts, stage.evidence(services.ledger, others))
        of_ledgers = audit_ledgers(ledgers, theirs.evidence(services.ledger))
    return _report(findings, of_ledgers, console)


def _report(findings: Findings, of_ledgers: LedgerFindings, console: Console) -> int:
    """Print the results of the audits; the exit code."""
    console.print()
    for fault in (*findings.faults(), *of_ledgers.faults):
        console.print(fault, style="red", markup=False, soft_wrap=True)
    passed = findings.passed and not of_ledgers.faults
    for summary in (findings.summary, of_ledgers.summary):
        console.print(summary, style="green" if passed else "red", markup=False, highlight=False, soft_wrap=True)
    return 0 if passed else 1


@contextmanager
def deployed(
    root: Path,
    scratch: Path,
    services: Services,
    console: Console,
    settings: Mapping[str, object],
    *,
    functions_reach: Callable[[str], AbstractContextManager[str]] = nullcontext,
) -> Iterator[tuple[Stage, Server]]:
    """Synthesise the stack while the local cloud starts, deploy it there, and remove it after the block.

    `settings` extend those of the demonstration; `functions_reach` turns the cloud's endpoint into the one that its
    functions use for AWS.
    """
    began, port = monotonic(), free_port()
    endpoint = f"http://{LOOPBACK}:{port}"
    context = {**_context(services, endpoint), **settings}
    with (
        ThreadPoolExecutor(1) as beside,
        console.status("synthesising the stack, starting the local cloud") as status,
        functions_reach(endpoint) as reach,
    ):
        synthesis = beside.submit(synthesise, root, scratch / "cdk.out", context)
        with local_cloud(log=scratch / "cloud.log", port=port, functions_reach=reach) as cloud:
            synthesis.result()
            console.print(f"{monotonic() - began:5.1f} s  the stack is synthesised, and the local cloud is running")
            status.update("deploying")
            outputs = deploy(scratch / "cdk.out", cloud.endpoint)
            stage = Stage(cloud.endpoint, Deployment.from_outputs(outputs), Inbox(cloud.endpoint, f"{REPLIES}-shop"))
            deployed = "the stack is deployed: queues, tables, functions, schedule, alarms"
            console.print(f"{monotonic() - began:5.1f} s  {deployed}")
            status.stop()
            yield stage, cloud


def _context(services: Services, endpoint: str) -> Mapping[str, object]:
    return {
        "env": "dev",
        "platform": "local",
        "service_urls": {name: services.url(name) for name in SERVICES},
        "reply_accounts": ACCOUNT,
        "reply_regions": REGION,
        "reply_prefixes": REPLIES,
        "reply_endpoint": endpoint,
        "breaker_failures": LATE_ORDERS,
        "breaker_open_ms": 5_000,
        "breaker_longest_ms": 5_000,
        **QUICK,
        **FEW_PROCESSES,
    }


def _introduce(acts: Scenario, ledgers: LedgerScenario, seed: int, console: Console) -> None:
    console.print(f"\nSending {len(acts.orders)} orders (seed {seed}):")
    for name, count in kinds_of(acts.orders):
        console.print(f"  {count:3d}  {name}", highlight=False)
    console.print(f"  {len(acts.malformed):3d}  malformed messages that belong to no order", highlight=False)
    events = f"{ledgers.entries} events of {len(ledgers.orders)} more orders"
    console.print(f"and {len(ledgers.ledgers)} ledgers with {events}:")
    for story, count in ledgers.by_story.items():
        console.print(f"  {count:3d}  {story.value}", highlight=False)
    console.print()


def _show_one(acts: Scenario, stage: Stage, console: Console, view: View) -> None:
    """Show the most eventful order: one whose undo failed, or that outlived its agent."""
    ranked = sorted(acts.orders, key=lambda order: (not order.kind.resubmitted, not _outlives_its_agent(order)))
    for order in ranked:
        loaded = stage.store.load(order.order_id, with_order=False)
        if loaded and loaded.task.history:
            console.print(f"\nOne of the orders ({order.kind.name}), from `stepward show`:\n", highlight=False)
            console.print(view(loaded))
            return


def _outlives_its_agent(order: Expected) -> bool:
    return any(fault.kind is FaultKind.DIE_AFTER_EFFECT for fault in order.faults)
