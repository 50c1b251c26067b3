"""Alerts through the functions: one by one, then in one summary, and as events for machines."""

import json
from typing import Any

import pytest
import time_machine
from botocore.session import Session

from stepward.domain.coordination.alert_limit import MOST_SINGLES
from stepward.domain.task.record import StepRecord
from stepward.testing.sqs.lambda_events import LambdaContext
from stepward.wiring.clock import now
from tests.integration.functions import scheduler, submission, supervisor
from tests.integration.handlers.deployment import PLENTY, Deployment, batch, order_body, sample

LONG_ENOUGH = LambdaContext("supervisor", "r-1", ends_at=60_000, clock=lambda: 0)
ORDERS = [f"ord-{number}" for number in range(MOST_SINGLES + 3)]


def refusal(step: StepRecord) -> str:
    claim = {"orderId": step.order_id, "step": step.name, "attempt": step.attempt, "token": step.token}
    return json.dumps({"type": "step.reply", "outcome": "permanent", "error": "out of stock"} | claim)


def all_refused(deployment: Deployment) -> None:
    """Every order's first step is refused for good."""
    submission.handler(batch("sqs-order-plain.json", [order_body(name) for name in ORDERS]), PLENTY)
    scheduler.handler(batch("sqs-scheduler-start.json", deployment.taken("scheduler")), PLENTY)
    answers = [refusal(deployment.step("reserve", name)) for name in ORDERS]
    assert scheduler.handler(batch("sqs-scheduler-start.json", answers), PLENTY) == {"batchItemFailures": []}


def received(deployment: Deployment) -> list[dict[str, Any]]:
    return [json.loads(body) for body in deployment.taken("inbox")]


def unalerted(deployment: Deployment) -> int:
    return sum(deployment.step("reserve", name).alert_by is not None for name in ORDERS)


def sweep_later(minutes: int) -> None:
    with time_machine.travel(now() / 1000 + 60 * minutes, tick=False):
        supervisor.handler(sample("eventbridge-schedule.json"), LONG_ENOUGH)


def test_more_alerts_than_people_can_read_come_in_one_summary(deployment: Deployment) -> None:
    """S7: once each; a later sweep has nothing to add."""
    all_refused(deployment)
    assert len(received(deployment)) == MOST_SINGLES
    assert unalerted(deployment) == 3

    sweep_later(minutes=2)

    (summary,) = received(deployment)
    name = deployment.env["POWERTOOLS_SERVICE_NAME"]
    assert summary["Subject"] == f"{name}: 3 orders ended in Error"
    assert summary["MessageAttributes"]["stack"] == {"Type": "String", "Value": name}
    assert f"\n  stepward list --needs-attention --stack {name} --region us-east-1\n" in summary["Message"]
    assert summary["MessageAttributes"]["alerts"] == {"Type": "Number", "Value": "3"}
    assert "reserve 3 times: out of stock" in summary["Message"]
    assert unalerted(deployment) == 0

    sweep_later(minutes=4)

    assert received(deployment) == []


def test_every_alert_is_one_event(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    """S7: with the single alert, or with the summary."""
    details: list[dict[str, Any]] = []

    def watch(params: dict[str, Any], **_: object) -> None:
        details.extend(json.loads(entry["Detail"]) for entry in params["Entries"])

    make: Any = Session.create_client

    def watched(session: Session, name: str, *where: Any, **how: Any) -> Any:
        client = make(session, name, *where, **how)
        client.meta.events.register("provide-client-params.events.PutEvents", watch)
        return client

    monkeypatch.setattr(Session, "create_client", watched)
    all_refused(deployment)
    sweep_later(minutes=2)
    sweep_later(minutes=4)

    assert sorted(detail["orderId"] for detail in details) == sorted(ORDERS)
    assert {detail["reason"] for detail in details} == {"out of stock"}
