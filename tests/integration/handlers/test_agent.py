"""The function of one agent, with the services that it would call answering on this machine."""

import json
import time
from asyncio import CancelledError
from typing import Any

import pytest

from stepward.app.agent.serve import Serve
from stepward.local.services import Fault, FaultKind, Services
from tests.integration.functions import agent
from tests.integration.handlers.conftest import Log
from tests.integration.handlers.deployment import ORDER_ID, Deployment, batch, failed, sample

REQUEST = "sqs-agent-request.json"


def request(order_id: str = ORDER_ID, *, left: int = 20_000, **changes: Any) -> str:
    """The sample request with `left` milliseconds to complete-by."""
    body = json.loads(sample(REQUEST)["Records"][0]["body"])
    now = time.time_ns() // 1_000_000
    usual = {"orderId": order_id, "idempotencyKey": f"{order_id}/charge", "completeBy": now + left, "budget": left}
    return json.dumps(body | usual | changes)


def replies(deployment: Deployment) -> list[dict[str, Any]]:
    return [json.loads(body) for body in deployment.taken("responses")]


def charged(services: Services) -> list[str]:
    return [effect.key for effect in services.ledger.effects()]


@pytest.mark.usefixtures("services")
def test_an_agent_calls_its_service_and_replies(deployment: Deployment) -> None:
    """S4, S5."""
    assert failed(agent.handler(batch(REQUEST, [request()]), None)) == []

    (reply,) = replies(deployment)
    expected = {"type": "step.reply", "orderId": ORDER_ID, "step": "charge", "attempt": 1}
    expected |= {"token": "token-2", "outcome": "ok"}
    assert {name: reply[name] for name in expected} == expected
    assert reply["result"]["charge"]


def test_a_request_delivered_twice_has_one_effect_and_two_answers(deployment: Deployment, services: Services) -> None:
    """S5, S18: the stable identifier lets the service drop the second call."""
    for _ in range(2):
        assert failed(agent.handler(batch(REQUEST, [request()]), None)) == []

    first, again = replies(deployment)
    assert first == again
    assert charged(services) == [f"{ORDER_ID}/charge"]


def test_a_request_past_complete_by_is_dropped_unanswered(deployment: Deployment, services: Services, log: Log) -> None:
    """S6: no reply, no error reply, no call, and the message does not come back."""
    assert failed(agent.handler(batch(REQUEST, [request(left=-1)]), None)) == []

    assert (replies(deployment), charged(services)) == ([], [])
    assert log.kinds() == ["Expired"]


def test_a_service_that_fails_and_then_works_is_called_again(deployment: Deployment, services: Services) -> None:
    """S5: retry inside complete-by."""
    services.misbehave(Fault(service="payments", target=ORDER_ID, kind=FaultKind.FAIL, times=1))

    assert failed(agent.handler(batch(REQUEST, [request()]), None)) == []

    (reply,) = replies(deployment)
    assert reply["outcome"] == "ok"
    assert charged(services) == [f"{ORDER_ID}/charge"]


def test_a_refusal_for_good_is_an_error_reply(deployment: Deployment, services: Services) -> None:
    """S7."""
    services.misbehave(Fault(service="payments", target=ORDER_ID, kind=FaultKind.DECLINE))

    assert failed(agent.handler(batch(REQUEST, [request()]), None)) == []

    (reply,) = replies(deployment)
    assert reply["outcome"] == "permanent"
    assert reply["error"]
    assert charged(services) == []


@pytest.mark.usefixtures("services")
def test_an_operation_that_the_deployed_code_does_not_know_comes_back_and_is_told(deployment: Deployment) -> None:
    """D1."""
    assert failed(agent.handler(batch(REQUEST, [request(operation="refurbish")]), None)) == ["m-0"]

    (reply,) = replies(deployment)
    assert (reply["outcome"], "refurbish" in reply["error"]) == ("not-understood", True)


def test_a_batch_is_served_side_by_side(deployment: Deployment, services: Services) -> None:
    """All are slow, and all are answered within the time that one of them has."""
    names = [f"ord-{number}" for number in range(5)]
    for name in names:
        services.misbehave(Fault(service="payments", target=name, kind=FaultKind.SLOW, seconds=2))
    bodies = ["not JSON", *(request(name, left=8_000) for name in names)]

    assert failed(agent.handler(batch(REQUEST, bodies), None)) == []

    assert {reply["orderId"] for reply in replies(deployment)} == set(names)
    assert sorted(charged(services)) == [f"{name}/charge" for name in names]
    assert len(deployment.rejects()) == 1


@pytest.mark.usefixtures("services")
def test_a_further_attempt_is_made_alone_and_its_neighbours_go_back_first(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S11: what may have ended a process takes no other order's request with it, whatever happens to it now."""
    source = deployment.source("agent-payments")
    for body in (request("ord-1"), request("ord-2", attempt=2), request("ord-3", attempt=3)):
        deployment.sqs.send_message(QueueUrl=source.queue_url, MessageBody=body)
    event = deployment.received("agent-payments")
    event["Records"].sort(key=lambda record: str(json.loads(record["body"])["orderId"]))
    seen: list[tuple[str, set[str]]] = []

    def handle(_serve: Serve, text: str) -> None:
        here = {json.loads(body)["orderId"] for body in deployment.taken("agent-payments")}
        seen.append((json.loads(text)["orderId"], here))

    monkeypatch.setattr(Serve, "handle", handle)

    answer = agent.handler(event, None)

    assert seen == [("ord-2", {"ord-1", "ord-3"})]
    assert failed(answer) == [each["messageId"] for each in event["Records"] if "ord-2" not in each["body"]]


@pytest.mark.parametrize("error", [SystemExit(1), CancelledError()], ids=lambda each: type(each).__name__)
@pytest.mark.usefixtures("services")
def test_whatever_an_operation_raises_brings_only_its_request_back(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, log: Log, error: BaseException
) -> None:
    """S11, rule 10: its neighbours are answered, and are not asked again."""
    serve = Serve.handle

    def handle(self: Serve, text: str) -> None:
        if "ord-2" in text:
            raise error
        serve(self, text)

    monkeypatch.setattr(Serve, "handle", handle)

    answer = agent.handler(batch(REQUEST, [request(f"ord-{number}") for number in range(4)]), None)

    assert failed(answer) == ["m-2"]
    assert {each["orderId"] for each in replies(deployment)} == {"ord-0", "ord-1", "ord-3"}
    assert [line["reason"] for line in log.of("Returned")] == [type(error).__name__]


def test_a_reply_that_cannot_be_sent_brings_only_its_request_back(deployment: Deployment, services: Services) -> None:
    deployment.lose("responses")

    answer = agent.handler(batch(REQUEST, [request("ord-late", left=-1), request("ord-1")]), None)

    assert failed(answer) == ["m-1"]
    assert charged(services) == ["ord-1/charge"]
