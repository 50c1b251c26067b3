"""A run begins no message that it cannot end: it sends and acknowledges what is done, and gives back the rest."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from aws_lambda_powertools import Logger, Metrics

from stepward.adapters.lambda_.batch import BatchWorker
from stepward.adapters.sqs.outbox import Outbox
from stepward.adapters.sqs.queues import SqsQueues
from stepward.adapters.telemetry import PowertoolsTelemetry
from stepward.app.intake import Intake
from stepward.domain.messages import Start
from stepward.testing.memory.task_store import MemoryRejects
from stepward.testing.memory.telemetry import MemoryTelemetry
from stepward.testing.sqs.lambda_events import LambdaContext
from stepward.testing.sqs.poller import Poller
from stepward.testing.sqs.queue import MemoryQueue
from stepward_cdk.settings.settings import FUNCTION_TIMEOUT_S, VISIBILITY_TIMES_TIMEOUT
from tests.factories import SECOND, T0
from tests.unit.sqs.flaky_sqs import FlakySqs

AT = "https://sqs.us-east-1.amazonaws.com/123456789012/"


@dataclass
class Slow:
    """Ten messages, each of which takes `took` ms, in a queue as it is deployed; it has the method that hides one."""

    took: int
    now: int = T0
    handled: Counter[str] = field(default_factory=Counter)
    ends: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        timeout = VISIBILITY_TIMES_TIMEOUT * FUNCTION_TIMEOUT_S
        self.queue = MemoryQueue(name="orders", clock=lambda: self.now, visibility_timeout=timeout)
        self.sqs = FlakySqs()
        self.outbox = Outbox(SqsQueues(self.sqs.client(), f"{AT}scheduler", f"{AT}responses", {}))
        for number in range(10):
            self.queue.send(f"ord-{number}")

    def hide(self, _queue: str, receipt: str, seconds: int) -> None:
        self.queue.change_visibility(receipt, seconds)

    def handle(self, text: str) -> None:
        self.now += self.took
        self.handled[text] += 1
        self.outbox.to_scheduler([Start(text)])

    def run(self, worker: BatchWorker) -> Sequence[int]:
        """Receive until nothing is left; how many messages each run has done."""

        def handler(event: dict[str, Any], context: LambdaContext) -> object:
            answer = worker.answer(event, context.get_remaining_time_in_millis)
            self.ends.append(context.get_remaining_time_in_millis())
            return answer

        poller = Poller(source=self.queue, handler=handler, clock=lambda: self.now, timeout=FUNCTION_TIMEOUT_S)
        done = [0]
        while (ready := self.queue.ready_at()) is not None:
            self.now = max(self.now, ready)
            poller.poll()
            done.append(self.handled.total())
        return [after - before for before, after in pairwise(done)]


@pytest.fixture
def telemetry() -> Iterator[PowertoolsTelemetry]:
    yield PowertoolsTelemetry(Logger(service="timely"), Metrics(namespace="Stepward", service="timely"))
    Metrics._metrics.clear()


def worker_of(slow: Slow, telemetry: PowertoolsTelemetry) -> BatchWorker:
    intake, visibility = Intake(slow.handle, MemoryRejects(), MemoryTelemetry(), lambda: 0), slow
    return BatchWorker(intake, telemetry, visibility=visibility, outbox=slow.outbox, lasting=True)  # type: ignore[arg-type]


@pytest.mark.parametrize(("took", "runs"), [(10, [10]), (3_300, [7, 3]), (6_300, [3, 3, 3, 1]), (14_000, [1] * 10)])
def test_slow_messages_are_done_part_by_part(telemetry: PowertoolsTelemetry, took: int, runs: list[int]) -> None:
    """S22, case 15: 3.3 s is an order, and 6.3 s a reply, while DynamoDB answers after 3 s."""
    slow = Slow(took)

    assert slow.run(worker_of(slow, telemetry)) == runs

    assert min(slow.ends) > 2 * SECOND, "there was time to send, and to give back"
    assert slow.handled == dict.fromkeys([f"ord-{number}" for number in range(10)], 1)
    assert [len(taken) for taken in slow.sqs.taken] == runs
    assert slow.now - T0 == 10 * took, "what was given back came at once"


def test_what_a_failed_run_left_unsent_goes_out_in_no_other_run(telemetry: PowertoolsTelemetry) -> None:
    """Its messages come back, and send it themselves."""
    slow = Slow(10)
    with slow.outbox.on_behalf_of("m-before"):
        slow.outbox.to_scheduler([Start("ord-before")])

    slow.run(worker_of(slow, telemetry))

    assert not any("ord-before" in body for call in slow.sqs.calls for body in call)
