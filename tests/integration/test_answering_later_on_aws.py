"""A step that is answered later, through the real handlers: what its token costs, and where it is never seen (W6)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.client import BaseClient

from stepward import Agent, App, Call, Later, Permanent, Step, Workflow, days, minutes
from stepward.domain.task.record import ProcessState
from stepward.testing.aws.engine import AwsEngine
from stepward.testing.harness import Order

carrier = Agent("carrier")
raised: list[type[Exception]] = []
"""What the next call raises, as clients of services do: with all that they sent."""


@carrier.operation
def ship(call: Call) -> Later:
    if raised:
        raise raised.pop()(f"POST https://carrier.example.com/?callback={call.callback} broke off")
    return Later()


parcels = Workflow("parcels", version=1, steps=[Step(ship, complete_within=minutes(1), answer_within=days(3))])


@pytest.fixture
def engine() -> Iterator[AwsEngine]:
    with AwsEngine(App("shop", workflows=[parcels])) as made:
        yield made


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every call of AWS, as service and operation."""
    made: list[str] = []
    call: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def counted(client: Any, operation: str, arguments: Any) -> Any:
        made.append(f"{client.meta.service_model.service_name}.{operation}")
        return call(client, operation, arguments)

    monkeypatch.setattr(BaseClient, "_make_api_call", counted)
    return made


def called(engine: AwsEngine) -> Order:
    """An order whose carrier was called, and has taken it over unless it refused."""
    order = engine.submit(parcels, {"orderId": "1"})

    def is_over() -> bool:
        record = task.steps["ship"] if (task := engine.task("1")) else None
        return record is not None and (record.locked_by == "service" or record.process_state is ProcessState.ERROR)

    engine.run(is_over)
    return order


def take(engine: AwsEngine, queue: str, message: dict[str, Any]) -> None:
    engine.post(queue, json.dumps(message))
    assert engine._poll(queue)


def test_a_forgery_costs_no_read_and_leaves_a_count(
    engine: AwsEngine, calls: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor a reject, nor an alert: whoever floods the door pays more than we."""
    order = called(engine)
    content, _, mac = engine.services.callbacks["1", "ship"][-1].rpartition(".")
    flipped = ("A" if mac[0] != "A" else "B") + mac[1:]
    calls.clear()
    for forged in (f"{content}.{flipped}", "nonsense"):
        take(engine, "orders", {"type": "step.completed", "callback": forged})
        assert engine._poll("scheduler")
    assert not [each for each in calls if not each.startswith("sqs")]
    assert order.step(ship).locked_by == "service"
    assert (engine.rejects, engine.alerts) == ([], [])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["Forged"] for line in lines if "Forged" in line] == [[1.0], [1.0]]


@pytest.mark.parametrize("error", [ConnectionError, RuntimeError, Permanent])
def test_no_token_is_in_a_log_a_reject_a_record_or_an_alert(
    engine: AwsEngine, capsys: pytest.CaptureFixture[str], error: type[Exception]
) -> None:
    """Whatever an operation raises, and whatever is wrong with a message that holds one."""
    raised[:] = [error]
    order = called(engine)
    assert raised == []
    token = engine.services.callbacks["1", "ship"][0]
    callback = {"type": "step.completed", "callback": token}
    take(engine, "orders", callback | {"more": float("inf")})
    take(engine, "orders", callback | {"result": ["no object"]})
    take(engine, "orders", callback | {"type": "step.failed", "error": ""})
    take(engine, "orders", callback | {"type": "step.lost"})
    take(engine, "scheduler", callback | {"type": "step.callback", "result": 7})
    take(engine, "agent-carrier", callback | {"type": "step.request", "orderId": "1"})
    assert len(engine.rejects) == 6
    take(engine, "orders", callback)
    engine.run()
    assert order.state == "Processed"
    seen = capsys.readouterr()
    kept = f"{engine.rejects}{engine.alerts}{order.task}"
    assert "?callback=(a token) broke off" in seen.out + kept
    assert token not in seen.out + seen.err + kept
