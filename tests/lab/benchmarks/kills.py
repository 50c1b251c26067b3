"""A deployment on the local cloud whose processes are killed, and when it noticed and recovered."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Literal

import psutil

from orders.demo.inbox import Inbox
from orders.demo.run import FEW_PROCESSES, QUICK
from orders.demo.scenario import SERVICES, scenario
from orders.demo.stage import Stage
from stepward.domain.errors import Transient
from stepward.domain.history import HistoryKind
from stepward.domain.task.record import ProcessState, Task
from stepward.local.cloud import local_cloud
from stepward.local.deploy import deploy
from stepward.local.server import Server
from stepward.local.services import Fault, FaultKind, Services
from stepward.local.synth import synthesise
from stepward.project import Project
from stepward.stack_outputs import Deployment
from stepward.wiring.clock import now

POLL_S = 0.02
PATIENCE_S = 60.0
WORK_S = 0.5
"""How long the service takes over the call during which a Scheduler is caught."""
IN_FLIGHT: Literal["ApproximateNumberOfMessagesNotVisible"] = "ApproximateNumberOfMessagesNotVisible"
MOST_WARM_UPS = 5
ONE_BY_ONE = {"agent_batch_size": 1}


class Spoiled(Exception):
    """A kill that says nothing about recovery; the message says why."""


@dataclass(frozen=True, slots=True)
class Killed:
    """When it was (epoch ms), the order as it stands at its end, and the step that had to be run again."""

    at: int
    task: Task
    step: str

    @property
    def noticed(self) -> int:
        """When the Supervisor freed the step, or asked for it again (epoch ms)."""
        for entry in self.task.history:
            if entry.kind in (HistoryKind.RECOVERED, HistoryKind.UNCOUNTED, HistoryKind.REMINDED):
                return entry.at
        raise Spoiled(f"{self.task.order_id} ended without the Supervisor: the kill came too early or too late")


@dataclass(slots=True)
class Bench:
    """A deployment, ready to be hurt; `server` is the cloud whose processes run its functions."""

    stage: Stage
    services: Services
    server: Server
    orders: Iterator[str]

    def kill_agent(self) -> Killed:
        """Kill the process that has just charged a customer, before it hears the answer."""
        order_id = self._next()
        self.services.misbehave(Fault("payments", f"{order_id}/charge", FaultKind.DIE_AFTER_EFFECT))
        self._send(order_id)
        task = self._ended(order_id)
        killed = next(it for it in self.services.ledger.entries(f"{order_id}/charge") if it.note.startswith("killed"))
        assert not psutil.pid_exists(int(killed.note.removeprefix("killed: ")))
        return Killed(killed.at, task, "charge")

    def kill_scheduler_with_start(self) -> Killed:
        """Kill the process that has received the start of an order, before it has read it."""
        order_id = self._next()
        with self._caught(self.stage.deployment.scheduler_queue_url) as killed_at:
            self._send(order_id)
        return Killed(killed_at(), self._ended(order_id), "reserve")

    def kill_scheduler_with_reply(self) -> Killed:
        """Kill the process that has received an agent's reply, before it has written it down."""
        order_id, responses = self._next(), self.stage.deployment.responses_queue_url
        held = self._in_flight(responses)
        self.services.misbehave(Fault("payments", f"{order_id}/charge", FaultKind.SLOW, seconds=WORK_S))
        self._send(order_id)
        self._until(lambda: not self.services.script.pending("payments", f"{order_id}/charge"))
        self._until(lambda: self._in_flight(responses) <= held)
        with self._caught(responses) as killed_at:
            pass
        return Killed(killed_at(), self._ended(order_id), "charge")

    def seconds_after(self, killed: Killed) -> tuple[float, float, float]:
        """Until it was noticed, until the step was called again, and until the order's end; each effect came once."""
        assert not self.services.ledger.doubled()
        calls = self.services.ledger.entries(f"{killed.task.order_id}/{killed.step}")
        again = next(call.at for call in calls if call.at > killed.at)
        noticed, again_s, end = ((at - killed.at) / 1000 for at in (killed.noticed, again, killed.task.ended_at or 0))
        return round(noticed, 2), round(again_s, 2), round(end, 2)

    def warm_up(self) -> None:
        """Run orders that nothing is done to until one ends well: while functions start, a short limit is missed."""
        for _ in range(MOST_WARM_UPS):
            order_id = self._next()
            self._send(order_id)
            with suppress(Spoiled):
                self._ended(order_id)
                return

    @contextmanager
    def _caught(self, queue: str) -> Iterator[Callable[[], int]]:
        """Stop every Scheduler until one holds a message of `queue`, kill them, and tell when that was (epoch ms)."""
        caught, at = self._schedulers(), 0
        for process in caught:
            process.send_signal(signal.SIGSTOP)
        # What a killed one held stays in flight for as long as its visibility timeout.
        held = self._in_flight(queue)
        try:
            yield lambda: at
            self._until(lambda: self._in_flight(queue) > held)
        finally:
            at = now()
            for process in caught:
                process.kill()
        psutil.wait_procs(caught, timeout=5)

    def _schedulers(self) -> Sequence[psutil.Process]:
        return [it for it in psutil.Process(self.server.pid).children(recursive=True) if "Scheduler" in _function(it)]

    def _in_flight(self, queue: str) -> int:
        asked = self.stage.sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=[IN_FLIGHT])
        return int(asked["Attributes"][IN_FLIGHT])

    def _next(self) -> str:
        return next(self.orders)

    def _send(self, order_id: str) -> None:
        (order,) = scenario(1, 1, Project.here().root / "events" / "orders").orders
        self.stage.send([json.dumps({**json.loads(order.messages[0]), "orderId": order_id})])

    def _task(self, order_id: str) -> Task:
        loaded = self.stage.store.load(order_id, with_order=False)
        if loaded is None:
            raise Transient(f"{order_id} is not there yet")
        return loaded.task

    def _ended(self, order_id: str) -> Task:
        self._until(lambda: self._task(order_id).due is None)
        task = self._task(order_id)
        if task.process_state is not ProcessState.PROCESSED:
            raise Spoiled(f"{order_id} is {task.process_state}: too busy a machine to meet the limit")
        return task

    def _until(self, holds: Callable[[], bool]) -> None:
        give_up_at, pause = monotonic() + PATIENCE_S, threading.Event()
        while monotonic() < give_up_at:
            with suppress(Transient):
                if holds():
                    return
            pause.wait(POLL_S)
        raise Spoiled(f"what was waited for did not come about within {PATIENCE_S:g} s")


@contextmanager
def deployed(folder: Path, complete_by_s: float) -> Iterator[Bench]:
    """The stack on a local cloud of its own, every step with this limit."""
    root, name = Project.here().root, f"{complete_by_s:g}"
    with ExitStack() as stack:
        services = stack.enter_context(Services(folder / f"ledger-{name}.sqlite"))
        context = {
            "platform": "local",
            "service_urls": {service: services.url(service) for service in SERVICES},
            "complete_within_ms": round(complete_by_s * 1000),
            **QUICK,
            **FEW_PROCESSES,
            **ONE_BY_ONE,
        }
        synthesise(root, folder / f"cdk-{name}", context)
        cloud = stack.enter_context(local_cloud(log=folder / f"cloud-{name}.log"))
        deployment = Deployment.from_outputs(deploy(folder / f"cdk-{name}", cloud.endpoint))
        stage = Stage(cloud.endpoint, deployment, Inbox(cloud.endpoint, "bench-shop"))
        yield Bench(stage, services, cloud, (f"recovery-{number:03d}" for number in range(1, 1000)))


def _function(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return process.environ().get("AWS_LAMBDA_FUNCTION_NAME", "")
    return ""
