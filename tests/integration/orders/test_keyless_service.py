"""W7, I4: the example's payment service in its mode without keys, over HTTP."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from orders import app
from orders.fulfilment import API_KEY, charge, find_charge, refund
from orders.messages import OrderSubmitted
from orders.returns import pay_back, returns
from stepward import UNDO, App, Step, Workflow, minutes
from stepward.local.services import Services
from stepward.local.services.request import local_secret
from stepward.service_urls import ADDRESSES
from stepward.testing import Engine, known_secrets

ORDER = {"customerId": "c-1", "currency": "EUR", "items": [{"sku": "A", "qty": 2, "unitPrice": "9.99"}]}
PLAIN = Step(charge, undo=refund, complete_within=minutes(1), on_timeout=UNDO)
CHECKED = replace(PLAIN, check=find_charge)


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    ledger = tmp_path / "ledger.db"
    with (
        known_secrets({API_KEY: local_secret(API_KEY)}),
        Services(ledger, honour_keys=False, secrets={"payments": [API_KEY]}) as services,
    ):
        monkeypatch.setenv(ADDRESSES, json.dumps({"payments": services.url("payments")}))
        yield services


def twice(engine: Engine) -> None:
    """The first attempt is delivered a second time while it runs, and once more after it was handled."""
    engine.service(charge).takes(20)
    engine.double("agent-payments")
    engine.run(lambda: bool(engine.calls))
    (request,) = engine.parts.queues.agents["payments"].bodies
    engine.post("agent-payments", request)


def dies(engine: Engine) -> None:
    """The agent is killed between the call and its answer."""
    engine.service(charge).dies_after_effect()


@pytest.mark.parametrize("trouble", [twice, dies])
@pytest.mark.parametrize("undone", [False, True])
def test_a_charge_happens_once(services: Services, trouble: Callable[[Engine], None], undone: bool) -> None:
    workflow = Workflow("fulfilment", 1, [CHECKED], order=OrderSubmitted)
    with Engine(App("shop", workflows=[workflow])) as engine:
        order = engine.submit(workflow, ORDER)
        trouble(engine)
        if undone:
            engine.run(lambda: bool(services.ledger.effects()))
            order.undo()
        engine.run()
        engine.verdict()

    assert order.state == ("Undone" if undone else "Processed")
    assert services.ledger.doubled() == {}
    assert [(effect.operation, effect.undid) for effect in services.ledger.effects()] == [
        ("charge", False),
        *([("refund", True)] if undone else []),
    ]


def test_a_return_is_paid_back_once(services: Services) -> None:
    """The example's own workflow, whose bank keeps no keys."""
    label = {"purchase": "1042", "coolingOffEnds": "2027-01-20T00:00:00Z"}
    with Engine(app) as engine:
        for operation in {each for step in returns.steps for each in step.operations if each.agent.name != "payments"}:
            engine.service(operation).returns({"label": operation.name})
        order = engine.submit(returns, ORDER | label)
        engine.service(pay_back).dies_after_effect()
        order.signal("goods", {"condition": "as_new"})
        engine.run()
        engine.verdict()

    assert order.state == "Processed"
    assert [effect.operation for effect in services.ledger.effects()] == ["pay_back"]


def test_without_a_check_this_service_charges_twice(services: Services) -> None:
    workflow = Workflow("fulfilment", 1, [PLAIN], order=OrderSubmitted)
    with Engine(App("shop", workflows=[workflow])) as engine:
        engine.submit(workflow, ORDER)
        dies(engine)
        engine.run()

    assert list(services.ledger.doubled().values()) == [2]
