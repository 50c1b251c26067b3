from dataclasses import replace

import pytest

import orders
from orders.fulfilment import (
    cancel_shipment,
    charge,
    forward_key,
    fulfilment,
    inventory,
    payments,
    refund,
    release,
    shipping,
)
from stepward.domain.errors import Misconfigured, Transient
from stepward.domain.workflow.agents import Call
from stepward.domain.workflow.plan import Exhausted

CALL = Call(
    order={"orderId": "o-1", "currency": "EUR", "items": [{"sku": "A", "qty": 1, "unitPrice": "1.00"}]},
    results={},
    idempotency_key="o-1/charge",
    fence=1,
    attempt=1,
    remaining=lambda: 5.0,
)


def test_the_steps_run_one_after_another_and_each_can_be_undone() -> None:
    """S1, S17: a pipeline whose every step names its compensation."""
    steps = fulfilment.plan().steps
    assert [(step.name, step.after, step.undo) for step in steps] == [
        ("reserve", (), "release"),
        ("charge", ("reserve",), "refund"),
        ("ship", ("charge",), "cancel_shipment"),
    ]
    assert [(step.complete_within, step.threshold) for step in steps] == [(60_000, 3), (120_000, 5), (600_000, 3)]


def test_once_something_may_have_been_paid_an_order_that_cannot_go_on_is_undone() -> None:
    """S13: before that an operator looks at it."""
    policies = [[policy.kind for policy in step.exhausted] for step in fulfilment.plan().steps]
    assert policies == [[Exhausted.ALERT], [Exhausted.UNDO], [Exhausted.UNDO]]


def test_a_step_is_undone_by_the_agent_that_did_it() -> None:
    assert [step.agent for step in fulfilment.plan().steps] == ["inventory", "payments", "shipping"]
    for agent, undo in [(inventory, release), (payments, refund), (shipping, cancel_shipment)]:
        assert orders.app.operations(agent.name)[undo.name] is undo


def test_an_undo_names_the_call_that_it_takes_back() -> None:
    assert forward_key(replace(CALL, idempotency_key="o-1/charge/undo")) == "o-1/charge"


def test_an_undo_under_a_forward_key_is_refused_before_it_does_harm() -> None:
    with pytest.raises(ValueError, match="must end in /undo"):
        refund(CALL)


def test_a_call_without_time_left_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """S6: past complete-by nothing is sent; the address would refuse a connection with another error."""
    monkeypatch.setenv("STEPWARD_SERVICE_URLS", '{"payments": "http://127.0.0.1:9"}')
    with pytest.raises(Transient, match="no time left"):
        charge(replace(CALL, remaining=lambda: 0.0))


@pytest.mark.parametrize(
    ("setting", "fault"),
    [
        ("", "is not set"),
        ("[]", "is not a JSON object"),
        ("{}", "names no address for 'payments'"),
        ('{"payments": 7}', "must be an https address"),
        ('{"payments": "payments.example.com/v1"}', "must be an https address"),
        ('{"payments": "ftp://payments.example.com"}', "must be an https address"),
        ('{"payments": "http://payments.example.com"}', "must use https"),
        ('{"payments": "http://127.0.0.1.example.com"}', "must use https"),
        ('{"payments": "http://localhost@example.com"}', "must not hold credentials"),
        ('{"payments": "https://user:secret@example.com"}', "must not hold credentials"),
        ('{"payments": "https://example.com/?key=secret"}', "must end with its path"),
        ('{"payments": "https://example.com/#there"}', "must end with its path"),
        ('{"payments": "https://exa mple.com:port"}', "is not an address"),
    ],
)
def test_an_address_unsafe_to_call_is_refused(monkeypatch: pytest.MonkeyPatch, setting: str, fault: str) -> None:
    monkeypatch.setenv("STEPWARD_SERVICE_URLS", setting)
    with pytest.raises(Misconfigured, match=fault) as refused:
        charge(CALL)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("address", ["http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1", "https://a.example"])
def test_this_machine_is_called_in_clear_and_others_over_https(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("STEPWARD_SERVICE_URLS", f'{{"payments": "{address}/"}}')
    with pytest.raises(Transient, match="no time left"):
        charge(replace(CALL, remaining=lambda: 0.0))
