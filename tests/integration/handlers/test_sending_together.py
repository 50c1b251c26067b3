"""A batch sends together what its messages ask for, gives back what does not get out, and keeps the bad."""

import json
import threading

import pytest

from stepward.adapters.lambda_.batch import BatchWorker
from stepward.adapters.sqs.outbox import Outbox
from stepward.adapters.sqs.queues import SqsQueues
from stepward.adapters.telemetry import PowertoolsTelemetry
from stepward.app.intake import Intake
from stepward.domain.messages import Outcome, Reply
from stepward.domain.task.record import ProcessState
from stepward.testing.memory.task_store import MemoryRejects
from stepward.testing.memory.telemetry import MemoryTelemetry
from tests.integration.functions import Function, agent, convoy, ledger, scheduler, submission
from tests.integration.handlers.deployment import PLENTY, Deployment, batch, failed, order_body, sample
from tests.unit.sqs.flaky_sqs import FlakySqs

ORDERS = ["ord-0", "ord-1", "ord-2"]
PATIENCE_S = 30
LARGE = "no JSON " * 2_000


def test_what_cannot_be_sent_brings_its_messages_back_and_the_next_delivery_sends_it(deployment: Deployment) -> None:
    """S22: written first, sent second; nothing is claimed twice."""
    deployment.put(*map(order_body, ORDERS))
    starts = batch("sqs-scheduler-start.json", deployment.taken("scheduler"))
    deployment.lose("agent-inventory")

    assert failed(scheduler.handler(starts, PLENTY)) == ["m-0", "m-1", "m-2"]
    deployment.sqs.create_queue(QueueName="agent-inventory")

    assert failed(scheduler.handler(starts, PLENTY)) == []
    assert len(deployment.taken("agent-inventory")) == len(ORDERS)
    steps = [deployment.step("reserve", name) for name in ORDERS]
    assert [(step.process_state, step.attempt) for step in steps] == [(ProcessState.PROCESSING, 1)] * len(ORDERS)


def test_an_answer_does_not_wait_for_a_neighbour_that_takes_its_time() -> None:
    """S5: what an agent serves side by side goes out as it is done."""
    sent = threading.Event()

    def taken(_body: str, _attempt: int) -> str:
        sent.set()
        return ""

    sqs = FlakySqs(fails=taken)
    outbox = Outbox(SqsQueues(sqs.client(), "https://sqs/scheduler", "https://sqs/responses", {}))

    def handle(text: str) -> None:
        if text == "slow":
            assert sent.wait(PATIENCE_S), "its neighbour's answer was held back"
        outbox.reply([Reply(text, "charge", 1, "token", Outcome.OK)])

    intake = Intake(handle, MemoryRejects(), MemoryTelemetry(), lambda: 0)
    worker = BatchWorker(intake, PowertoolsTelemetry(), True, None, outbox)

    assert failed(worker.answer(batch("sqs-scheduler-start.json", ["slow", "quick"]), lambda: PATIENCE_S * 1000)) == []
    assert [json.loads(body)["orderId"] for call in sqs.calls for body in call] == ["quick", "slow"]


@pytest.mark.parametrize(
    ("function", "event"),
    [
        (submission, "sqs-order-plain.json"),
        (scheduler, "sqs-scheduler-start.json"),
        (agent, "sqs-agent-request.json"),
        (ledger, "sqs-ledger.json"),
        (convoy, "sqs-order-events.json"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_large_message_that_is_rejected_is_kept_in_the_bucket(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, function: Function, event: str
) -> None:
    """S18, K4."""
    monkeypatch.setenv("STEPWARD_AGENT", "payments")
    monkeypatch.setenv("STEPWARD_REQUESTS_QUEUE", deployment.queues["agent-payments"])
    record = sample(event)["Records"][0] | {"body": LARGE}
    if "MessageGroupId" in record["attributes"]:
        record["attributes"]["MessageGroupId"] = "no/order"

    assert failed(function.handler({"Records": [record]}, PLENTY)) == []

    (row,) = deployment.rejects()
    assert "BodyKey" in row
    assert row["Body"]["B"].decode() == LARGE
