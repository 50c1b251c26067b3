"""An agent that spares its service: its requests return to their queue, and nothing is answered."""

from dataclasses import replace
from typing import Any

import pytest

from stepward.domain.coordination.breaker import AgentPause, Mode
from stepward.local.services import Fault, FaultKind, Services
from tests.integration.functions import agent
from tests.integration.handlers.conftest import Log
from tests.integration.handlers.deployment import Deployment, failed
from tests.integration.handlers.test_agent import charged, replies, request

QUEUE = "agent-payments"
HIGH = "agent-payments-high"
PAUSE = AgentPause("ada", "the bank works on it", 1)


@pytest.fixture
def services(services: Services, deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Services:
    """Payments with a priority queue; its agent opens its breaker at the third failure."""
    deployment.queues[HIGH] = deployment.sqs.create_queue(QueueName=HIGH)["QueueUrl"]
    monkeypatch.setenv("STEPWARD_BREAKER_FAILURES", "3")
    return services


def received(deployment: Deployment, *bodies: str, queue: str = QUEUE) -> dict[str, Any]:
    """Requests as they lie in the queue, taken out for 30 seconds, as Lambda hands them over."""
    for body in bodies:
        deployment.sqs.send_message(QueueUrl=deployment.queues[queue], MessageBody=body)
    return deployment.received(queue)


def ids(event: dict[str, Any]) -> set[str]:
    return {record["messageId"] for record in event["Records"]}


def test_requests_of_a_paused_agent_return_to_their_queue(deployment: Deployment, services: Services, log: Log) -> None:
    """S13: the record is named in the answer, nobody is called, and nothing is answered."""
    deployment.breakers.pause("payments", PAUSE)
    event = received(deployment, request("ord-1"), request("ord-2"), "not JSON")

    answer = agent.handler(event, None)

    back = log.of("RetryLater")
    assert set(failed(answer)) == {record["messageId"] for record in event["Records"] if record["body"] != "not JSON"}
    assert {line["task"] for line in back} == {"ord-1", "ord-2"}
    assert all(line["reason"].startswith("paused by ada: the bank works on it; back in ") for line in back)
    assert (replies(deployment), charged(services), len(deployment.rejects())) == ([], [], 1)


@pytest.mark.parametrize("queue", [QUEUE, HIGH])
@pytest.mark.usefixtures("services")
def test_a_request_to_be_retried_later_is_hidden_up_to_its_complete_by(deployment: Deployment, queue: str) -> None:
    """S6: in the very queue that it came from, whose own timeout is 30 seconds; the neighbour's time is its own."""
    deployment.breakers.pause("payments", PAUSE)
    event = received(deployment, request("ord-1", left=12_000), request("ord-2", left=300_000), queue=queue)

    assert set(failed(agent.handler(event, None))) == ids(event)

    soon, later = sorted(deployment.hidden_for(queue))
    assert 0 < soon < 14, "up to its complete-by"
    assert 30 < later < 70, "as long as a pause is left alone, not the queue's own 30 seconds"


def test_a_failing_service_is_spared_probed_then_called(deployment: Deployment, services: Services, log: Log) -> None:
    """S5, S22: opened when a third order fails, probed by one request, closed; the answer is that of attempt 1."""
    deployment.breakers.change("payments", lambda breaker: replace(breaker, failures=2, orders=("one", "other")))
    services.misbehave(Fault(service="payments", target="ord-1", kind=FaultKind.FAIL, times=3))
    first, second = [{"Records": [one]} for one in received(deployment, request("ord-1"), request("ord-2"))["Records"]]

    assert failed(agent.handler(first, None)) == [*ids(first)]
    assert failed(agent.handler(second, None)) == [*ids(second)]
    opened = log.read()
    assert deployment.breakers.of("payments").mode is Mode.OPEN
    (report,) = replies(deployment)
    assert (report["outcome"], report["error"]) == ("failing", "Transient: payments/charge: HTTP 503 unavailable")
    assert charged(services) == []

    its_time_is_over(deployment)
    assert failed(agent.handler(second, None)) == []

    (reply,) = replies(deployment)
    assert (reply["orderId"], reply["outcome"], reply["attempt"]) == ("ord-2", "ok", 1)
    assert deployment.breakers.of("payments").mode is Mode.CLOSED
    assert [line["BreakerOpened"] for line in opened if "BreakerOpened" in line] == [[1.0]]
    (warning,) = [line for line in opened if line.get("message") == "BreakerOpened"]
    assert (warning["level"], warning["by"]) == ("WARNING", "payments")
    changes = [line["message"] for line in log.read() if line.get("by") == "payments"]
    assert changes == ["BreakerProbing", "BreakerClosed"]


def its_time_is_over(deployment: Deployment) -> None:
    """The breaker has been open for long enough, and the next request comes to an instance that starts."""
    deployment.breakers.change("payments", lambda breaker: replace(breaker, until=1))
    vars(agent.handler).pop("worker", None)


def test_a_message_that_cannot_be_hidden_still_comes_back(deployment: Deployment, services: Services, log: Log) -> None:
    """Its receipt is that of an earlier receive, say: the answer stands, and the queue's own timeout brings it back."""
    deployment.breakers.pause("payments", PAUSE)
    event = received(deployment, request("ord-1"))
    event["Records"][0]["receiptHandle"] = "AQEBhandle1"

    assert failed(agent.handler(event, None)) == [*ids(event)]

    (line,) = log.of("Returned")
    assert "send again" in line["reason"]
    assert charged(services) == []


@pytest.mark.usefixtures("services")
def test_full_watching_measures_the_health_of_a_service_for_its_agent(
    deployment: Deployment, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S22: beside the engine's own metrics, whose dimension stays the service alone."""
    monkeypatch.setenv("STEPWARD_WATCHING", "full")
    agent.handler(received(deployment, request("ord-1"), request("ord-2")), None)

    (written,) = [line for line in log.read() if "InFlight" in line]
    (directive,) = written["_aws"]["CloudWatchMetrics"]
    assert [sorted(names) for names in directive["Dimensions"]] == [["agent", "service"]]
    assert written["agent"] == "payments"
    counts = dict.fromkeys(("InFlight", "CallSucceeded", "CallFailed"), "Count")
    units = counts | {"BreakerState": "None", "CallTime": "Milliseconds"}
    assert {metric["Name"]: metric["Unit"] for metric in directive["Metrics"]} == units
    assert (written["CallSucceeded"], written["CallFailed"], written["BreakerState"]) == ([2], [0], [0])
    assert max(written["InFlight"]) <= 2
    assert deployment.sqs.get_queue_url(QueueName=QUEUE)
