"""Runs the demonstration on a local cloud of its own, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep  # noqa: TID251 - a command on a person's machine may wait

import boto3

from stepward.adapters.dynamodb.tables import Access
from stepward.adapters.dynamodb.task_store import DynamoTaskStore
from stepward.adapters.sqs.delivery import Outgoing
from stepward.adapters.sqs.queues import SqsSender
from stepward.cli.local.demo.acts import Act, acts_of, samples_of
from stepward.cli.orders.view import order_view
from stepward.cli.terminal import ERR, OUT, cell, complain, say, table, typed
from stepward.domain.errors import Transient
from stepward.domain.task.record import ProcessState, Task
from stepward.domain.workflow.plan import Plan, StepKind
from stepward.local.access import REGION, access
from stepward.local.cloud import local_cloud
from stepward.local.deploy import deploy
from stepward.local.secret_store import demanded
from stepward.local.services import FaultKind, Ledger, Services
from stepward.local.synth import notices, synthesise
from stepward.local.wake import wake
from stepward.project import Project
from stepward.stack_outputs import Deployment
from stepward.wiring.tasks import task_store

PATIENCE_S = 90.0
REFRESH_S = 0.5
QUICK = {"claim_within_ms": 2_000, "skew_margin_ms": 200, "complete_within_ms": 4_000, "breaker_open_ms": 5_000}
FEW_PROCESSES = {"engine_concurrency": 2, "agent_batch_size": 5}
"""A single machine has few cores: more functions at once would only start more slowly."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The deployed stack, as the demonstration uses it."""

    endpoint: str
    deployment: Deployment
    store: DynamoTaskStore

    def perform(self, acts: Sequence[Act]) -> None:
        """Send the orders, and wait until each has ended, or waits for a person or a time; or the patience is over."""
        functions = boto3.client("lambda", **access(self.endpoint))
        bodies = [Outgoing(act.body) for act in acts for _ in range(act.times)]
        SqsSender(boto3.client("sqs", **access(self.endpoint))).send(self.deployment.orders_queue_url, bodies)
        give_up_at = monotonic() + PATIENCE_S
        with ERR.status(f"{len(acts)} orders run"):
            while monotonic() < give_up_at and not all(self._rests(act.key) for act in acts):
                sleep(REFRESH_S)
                with suppress(Transient):  # what is overdue stays due until the next sweep
                    wake(functions, self.deployment.supervisor_function)

    def _rests(self, key: str) -> bool:
        loaded = self.store.load(key, with_order=False)
        return loaded is not None and (_has_ended(loaded.task) or _waits(loaded.task, loaded.plan))


def run(project: Project, env: str) -> bool:
    """Deploy, send, and show how each order ended; whether all went as promised."""
    app = project.app()
    acts = acts_of(app, samples_of(app, project.root / "events"))
    with (
        TemporaryDirectory(prefix="stepward-") as scratch,
        Services(Path(scratch) / "ledger.sqlite", secrets=demanded(app.agents)) as services,
        _deployed(project, env, Path(scratch), {name: services.url(name) for name in app.services}) as stage,
    ):
        for act in acts:
            if act.fault:
                services.misbehave(act.fault)
        stage.perform(acts)
        return _told(acts, stage, services.ledger)


@contextmanager
def _deployed(project: Project, env: str, scratch: Path, addresses: Mapping[str, str]) -> Iterator[Stage]:
    context = {"env": env, "platform": "local", "service_urls": addresses, **QUICK, **FEW_PROCESSES}
    out = scratch / "cdk.out"
    with ThreadPoolExecutor(1) as beside, ERR.status("Synthesising the stack, starting the local cloud") as status:
        synthesis = beside.submit(synthesise, project.root, out, context)
        with local_cloud(log=scratch / "cloud.log") as cloud:
            told = notices(synthesis.result(), context)
            status.update("Deploying")
            parts = Deployment.from_outputs(deploy(out, cloud.endpoint))
            there = Access(REGION, cloud.endpoint, ("test", "test"))
            store = task_store(there, orders=None, tasks=parts.tasks_table, shards=parts.shards)
            status.stop()
            if told:
                complain(told)
            yield Stage(cloud.endpoint, parts, store)


def _told(acts: Sequence[Act], stage: Stage, ledger: Ledger) -> bool:
    """Print how each order ended; whether each did, and no service did anything twice."""
    rows, unfinished = table("order", "accident", "ends", "attempts", least=["attempts"]), []
    shown = None
    for act in acts:
        loaded = stage.store.load(act.key, with_order=False)
        task = loaded.task if loaded else None
        attempts = sum(record.attempt for record in task.steps.values()) if task else 0
        ends = _end(task) if task else "lost"
        rows.add_row(*(cell(text) for text in (act.key, act.accident, ends, str(attempts))))
        if not loaded or not (_has_ended(loaded.task) or _waits(loaded.task, loaded.plan)):
            unfinished.append(act.key)
        if act.fault and act.fault.kind is FaultKind.DIE_AFTER_EFFECT:
            shown = loaded
    OUT.print(rows)
    if shown:
        say("\nThe order whose agent died, as `stepward show` shows it:\n")
        OUT.print(order_view(shown))
    for key in unfinished:
        look = f"to look into it, {typed('local', 'up')}, and send it there"
        complain(f"{key} has not ended within {PATIENCE_S:g} s; {look}")
    for key, times in (doubled := ledger.doubled()).items():
        complain(f"{key} was done {times} times: its operation does not pass call.idempotency_key on")
    replayed = sum(entry.outcome == "replayed" for entry in ledger.entries())
    effects = f"{len(ledger.effects())} effects, none twice, despite {replayed} repeated calls"
    if not (doubled or unfinished):
        say(f"\n{len(acts)} orders, {effects}. To stay up: {typed('local', 'up')}")
    return not (doubled or unfinished)


def _end(task: Task) -> str:
    errors = [record.error for record in task.steps.values() if record.error]
    waiting = "" if _has_ended(task) else " (waits)"
    return f"{task.process_state.value}{waiting}{f': {errors[-1]}' if errors else ''}"


def _has_ended(task: Task) -> bool:
    running = any(record.process_state is ProcessState.PROCESSING for record in task.steps.values())
    return task.due is None and not running


def _waits(task: Task, plan: Plan) -> bool:
    """Whether nothing runs but what a person, a time or a service's own answer ends."""
    kinds = {step.name: step.kind for step in plan.steps}
    running = [record for record in task.steps.values() if record.process_state is ProcessState.PROCESSING]
    outside = {StepKind.TIMER, StepKind.SIGNAL}
    return bool(running) and all(kinds.get(each.name) in outside or each.locked_by == "service" for each in running)
