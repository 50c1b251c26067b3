"""Runs the whole demonstration, from deployment to audit, and leaves nothing behind."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from rich.console import Console
from rich.live import Live

from orders.demo.audit import Findings, audit
from orders.demo.inbox import Inbox
from orders.demo.ledger_audit import LedgerFindings, audit_ledgers
from orders.demo.ledger_play import LedgerPlay
from orders.demo.ledgers import ledger_scenario
from orders.demo.limits import CLAIM_MS, LANE_S, limits, slowness
from orders.demo.live import Screen
from orders.demo.play import PATIENCE_S, Play
from orders.demo.scenario import LATE_ORDERS, SERVICES, scenario
from orders.demo.stage import Stage
from orders.fulfilment import fulfilment
from stepward.local.access import REGION
from stepward.local.cloud import local_cloud
from stepward.local.deploy import ACCOUNT, deploy
from stepward.local.secret_store import demanded
from stepward.local.server import LOOPBACK, Server, free_port
from stepward.local.services import Services
from stepward.local.synth import synthesise
from stepward.project import Project
from stepward.stack_outputs import Deployment

QUICK = {"claim_within_ms": CLAIM_MS, "skew_margin_ms": 200, "gap_ms": 3_000, "lane_timeout_s": LANE_S}
FEW_PROCESSES = {"engine_concurrency": 2, "agent_batch_size": 5}
"""A single machine has few cores: more functions at once would only start more slowly."""
REPLIES = "demo-replies"
LOG = Path(".local", "demo.log")
TOO_BUSY = "{orders} ran out of time: an attempt has {limit}, and this machine is busy. Run it again when it is idle."
OPENING = """{orders} orders, and {ledger_orders} more whose events come in ledgers, go through the stack
on this machine. Services fail, hang and decline; agents are killed in mid-call;
messages come twice, late or wrong. At the end everything is audited.
"""
NEXT = """
Try next:
  make demo ORDERS=100 SEED=7                         other faults
  make local                                          the stack stays up; then
  .venv/bin/stepward send events/orders/order.json --local
  .venv/bin/stepward show ord-1001 --local            what happened to this order"""


def alone(_stage: Stage, _console: Console) -> AbstractContextManager[None]:
    """Nothing beside the demonstration."""
    return nullcontext()


def run(
    orders: int,
    seed: int,
    console: Console,
    *,
    ledger_orders: int = 60,
    complete_within_ms: int = 0,
    beside: Callable[[Stage, Console], AbstractContextManager[None]] = alone,
) -> int:
    """Deploy, send `orders` orders and ledgers of `ledger_orders` more, wait for their ends, audit; the exit code.

    An attempt has `complete_within_ms`; 0 is a short time, which is longer if this machine is busy. All of it is
    `beside` something else that looks.
    """
    root = Project.here().root
    console.print(OPENING.format(orders=orders, ledger_orders=ledger_orders), highlight=False)
    slow, log = 1.0 if complete_within_ms else slowness(), root / LOG
    settings = limits(slow, complete_within_ms)
    if slow > 1:
        console.print(f"This machine is busy: an attempt has {_seconds(settings)}, and all takes longer.\n")
    log.unlink(missing_ok=True)
    with (
        TemporaryDirectory(prefix="stepward-") as scratch,
        Services(Path(scratch) / "ledger.sqlite", secrets=demanded(fulfilment.agents)) as services,
        deployed(root, Path(scratch), services, console, settings, log=log) as (stage, _),
        beside(stage, console),
    ):
        samples = root / "events" / "orders"
        acts = scenario(orders, seed, samples, stage.submitter.url)
        ledgers = ledger_scenario(ledger_orders, seed, json.loads((samples / "order.json").read_text()))
        console.print()
        with stage.supervised(), Live(console=console, auto_refresh=False) as live:
            screen = Screen(console, acts, live)
            theirs = LedgerPlay(ledgers, stage, screen.line)
            Play(acts, stage, services, screen, theirs, patience_s=PATIENCE_S * slow).perform()
        others = {order.order_id for order in ledgers.orders}
        findings = audit(acts, stage.evidence(services.ledger, others))
        of_ledgers = audit_ledgers(ledgers, theirs.evidence(services.ledger))
        return report(findings, of_ledgers, _seconds(settings), console)


def _seconds(settings: Mapping[str, int]) -> str:
    return f"{settings['complete_within_ms'] / 1000:g} s"


def report(findings: Findings, of_ledgers: LedgerFindings, limit: str, console: Console) -> int:
    """Print the results of the audits, and what to do if an attempt's `limit` was too short; the exit code."""
    console.print()
    faults, late = (*findings.faults(), *of_ledgers.faults), (*findings.late, *of_ledgers.late)
    for text in (*faults, *late):
        console.print(text, style="red", markup=False, soft_wrap=True)
    for summary in (findings.summary, of_ledgers.summary):
        style = "red" if faults or late else "green"
        console.print(summary, style=style, markup=False, highlight=False, soft_wrap=True)
    if late:
        text = TOO_BUSY.format(orders=f"{len(late)} order{'' if len(late) == 1 else 's'}", limit=limit)
        console.print(text, style="red", markup=False, highlight=False, soft_wrap=True)
    hint = f"\nThe log of the local cloud is {LOG}." if faults or late else NEXT
    console.print(hint, style="dim", markup=False, highlight=False, soft_wrap=True)
    return 1 if faults or late else 0


@contextmanager
def deployed(
    root: Path,
    scratch: Path,
    services: Services,
    console: Console,
    settings: Mapping[str, object],
    *,
    functions_reach: Callable[[str], AbstractContextManager[str]] = nullcontext,
    log: Path | None = None,
) -> Iterator[tuple[Stage, Server]]:
    """Synthesise the stack while the local cloud starts, deploy it there, and remove it after the block.

    `settings` extend those of the demonstration; `functions_reach` turns the cloud's endpoint into the one that its
    functions use for AWS. The cloud's `log` is in `scratch` unless given.
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
        with local_cloud(log=log or scratch / "cloud.log", port=port, functions_reach=reach) as cloud:
            synthesis.result()
            console.print(f"{monotonic() - began:5.1f} s  the stack is synthesised, and the local cloud is running")
            status.update("deploying")
            outputs = deploy(scratch / "cdk.out", cloud.endpoint)
            stage = Stage(cloud.endpoint, Deployment.from_outputs(outputs), Inbox(cloud.endpoint, f"{REPLIES}-shop"))
            deployed = "the stack is deployed: queues, tables, functions, schedule, alarms"
            console.print(f"{monotonic() - began:5.1f} s  {deployed}")
            status.stop()
            yield stage, cloud
            status.update("removing the local cloud and its files")
            status.start()


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
