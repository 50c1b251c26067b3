"""A deployment on the local cloud whose processes are killed, and when it noticed and recovered."""

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import psutil
from rich.console import Console

from orders.demo.scenario import scenario
from stepward.domain.history import HistoryKind
from stepward.domain.task.record import ProcessState, Task
from stepward.local.services import Fault, FaultKind
from stepward.wiring.clock import now
from tests.lab.chaos.scene import SAMPLES, Scene, scene
from tests.lab.reaper import awaited, function_of, functions_of

POLL_S = 0.02
PATIENCE_S = 60.0
WORK_S = 0.5
"""How long the service takes over the call during which a Scheduler is caught."""
IN_FLIGHT: Literal["ApproximateNumberOfMessagesNotVisible"] = "ApproximateNumberOfMessagesNotVisible"
MOST_WARM_UPS = 5


class Spoiled(Exception):
    """A kill that says nothing about recovery; the message says why."""


@dataclass(frozen=True, slots=True)
class Killed:
    """When the process was killed (epoch ms), the order's task at its end, and the step that had to be run again."""

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
    """A deployment whose processes can be killed; `orders` are the ids of its orders."""

    scene: Scene
    orders: Iterator[str]

    def kill_agent(self) -> Killed:
        """Kill the process that has just charged a customer, before it receives the answer."""
        order_id = next(self.orders)
        self.scene.services.misbehave(Fault("payments", f"{order_id}/charge", FaultKind.DIE_AFTER_EFFECT))
        self._send(order_id)
        task = self._ended(order_id)
        calls = self.scene.services.ledger.entries(f"{order_id}/charge")
        killed = next((call for call in calls if call.note.startswith("killed")), None)
        if killed is None:
            raise Spoiled(f"{order_id} ended without a kill: the machine is too busy to meet the limit")
        assert not psutil.pid_exists(int(killed.note.removeprefix("killed: ")))
        return Killed(killed.at, task, "charge")

    def kill_scheduler_with_start(self) -> Killed:
        """Kill the process that has received the start of an order, before it reads it.

        Submission claims an order itself, unless its submitter is told that it was received.
        """
        order_id = next(self.orders)
        with self._caught(self.scene.stage.deployment.scheduler_queue_url) as killed_at:
            self._send(order_id, reply_to=self.scene.stage.submitter.url)
        return Killed(killed_at(), self._ended(order_id), "reserve")

    def kill_scheduler_with_reply(self) -> Killed:
        """Kill the process that has received an agent's reply, before it writes it."""
        order_id, responses = next(self.orders), self.scene.stage.deployment.responses_queue_url
        held = self._in_flight(responses)
        self.scene.services.misbehave(Fault("payments", f"{order_id}/charge", FaultKind.SLOW, seconds=WORK_S))
        self._send(order_id)
        self._until(lambda: not self.scene.services.script.pending("payments", f"{order_id}/charge"))
        self._until(lambda: self._in_flight(responses) <= held)
        with self._caught(responses) as killed_at:
            pass
        return Killed(killed_at(), self._ended(order_id), "charge")

    def seconds_after(self, killed: Killed) -> tuple[float, float, float]:
        """Until it was noticed, until the step was called again, and until the order's end; each effect came once."""
        assert not self.scene.services.ledger.doubled()
        calls = self.scene.services.ledger.entries(f"{killed.task.order_id}/{killed.step}")
        again = next(call.at for call in calls if call.at > killed.at)
        noticed, again_s, end = ((at - killed.at) / 1000 for at in (killed.noticed, again, killed.task.ended_at or 0))
        return round(noticed, 2), round(again_s, 2), round(end, 2)

    def started_since(self, at: int) -> str:
        """The functions of which a process was started after `at` (epoch ms) and is still there, by name."""
        processes = functions_of(self.scene.cloud.pid, bool)
        names = sorted(function_of(each) for each in processes if each.create_time() * 1000 > at)
        return ", ".join(name.removeprefix("Stepward-") for name in names)

    def warm_up(self) -> None:
        """Run undisturbed orders until one ends well: while functions start, a short limit is missed."""
        for order_id in islice(self.orders, MOST_WARM_UPS):
            self._send(order_id)
            with suppress(Spoiled):
                self._ended(order_id)
                return

    @contextmanager
    def _caught(self, queue: str) -> Iterator[Callable[[], int]]:
        """Stop every Scheduler until one holds a message of `queue`, and kill them; gives when that was (epoch ms)."""
        caught, at = functions_of(self.scene.cloud.pid, lambda name: "Scheduler" in name), 0
        for process in caught:
            process.send_signal(signal.SIGSTOP)
        # The message of a killed process stays in flight for as long as its visibility timeout.
        held = self._in_flight(queue)
        try:
            yield lambda: at
            self._until(lambda: self._in_flight(queue) > held)
        finally:
            at = now()
            for process in caught:
                process.kill()
        psutil.wait_procs(caught, timeout=5)

    def _in_flight(self, queue: str) -> int:
        answer = self.scene.stage.sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=[IN_FLIGHT])
        return int(answer["Attributes"][IN_FLIGHT])

    def _send(self, order_id: str, reply_to: str = "") -> None:
        (order,) = scenario(1, 1, SAMPLES, reply_to).orders
        self.scene.stage.send([json.dumps({**json.loads(order.messages[0]), "orderId": order_id})])

    def _ended(self, order_id: str) -> Task:
        store = self.scene.stage.store
        self._until(lambda: (loaded := store.load(order_id, with_order=False)) is not None and loaded.task.due is None)
        task = self.scene.stage.tasks()[order_id]
        if task.process_state is not ProcessState.PROCESSED:
            raise Spoiled(f"{order_id} is {task.process_state}: the machine is too busy to meet the limit")
        return task

    def _until(self, holds: Callable[[], bool]) -> None:
        if not awaited(holds, PATIENCE_S, POLL_S):
            raise Spoiled(f"the expected state did not come about within {PATIENCE_S:g} s")


@contextmanager
def bench(complete_by_s: float) -> Iterator[Bench]:
    """The stack on a local cloud of its own, every step with this limit; an agent takes one message at a time."""
    settings = {"complete_within_ms": round(complete_by_s * 1000), "agent_batch_size": 1}
    names = (f"recovery-{number:03d}" for number in range(1, 1000))
    with scene(Console(quiet=True), settings) as it:
        yield Bench(it, names)
