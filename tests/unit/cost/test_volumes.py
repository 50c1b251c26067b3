"""What orders cost at any volume: the model of load, the peers, and the settings."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from stepward.cli.cost.counting import count, pretended, warm_up
from stepward.cli.cost.estimate import MILLION, Assumptions, prices
from stepward.cli.cost.load import Load, Source, Taking, mean_batch
from stepward.cli.cost.peers import DURABLE, Bill, Peers, Work, business_usd
from stepward.cli.cost.priced import Priced, calls_in_a_row, order_id
from stepward.cli.cost.volumes import Deployment

ASSUMED = replace(Assumptions(), operation_ms=100)
ORDINARY = Priced(calls_in_a_row(3))
LOAD, WORK = Load.of(ORDINARY), Work.of(ORDINARY)
QUICK = Taking({"messages": 1.0, "invocations": 1.0}, {"messages": 1.0, "invocations": 0.1})
"""Runs of 2 ms, and 7 ms for each message."""


def deployment(**settings: Any) -> Deployment:
    return Deployment(load=LOAD, settings=settings, assumed=ASSUMED)


def bills(orders: float = MILLION, **changed: Any) -> Mapping[str, Bill]:
    return {bill.name: bill for bill in Peers(replace(WORK, **changed), ASSUMED, orders).bills()}


@pytest.mark.parametrize(
    ("rate", "source", "expected"),
    [
        pytest.param(1, Source(10, 50), 1, id="a message comes alone: a poller takes it at once"),
        pytest.param(5000, Source(10, 50), 1, id="Lambda adds pollers rather than let messages wait"),
        pytest.param(6500, Source(10, 50), 2.9, id="all pollers are busy, and batches fill"),
        pytest.param(9000, Source(10, 50), 10, id="more comes than they can take"),
        pytest.param(9000, Source(1, 50), 1, id="a batch holds one"),
        pytest.param(10, Source(10, 50, window=1), 3, id="each of five pollers gathers for a second"),
        pytest.param(100, Source(10, 50, window=1), 10, id="a batch is full before its window is over"),
    ],
)
def test_a_batch_fills_in_its_window_or_once_all_pollers_are_busy(rate: float, source: Source, expected: float) -> None:
    assert mean_batch(rate, source, QUICK, ASSUMED) == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize("size", [1, 2, 10])
def test_an_order_in_batches_takes_what_the_meter_counts(size: int) -> None:
    """But for sends: in the meter all orders are at the same step, and ten requests go to one agent in one call."""
    modelled, metered = LOAD.order(dict.fromkeys(LOAD.takings, size)), count(ORDINARY, size)
    sends = {"sqs requests", "fair requests", "sends waited for"}

    assert {name: modelled[name] for name in metered.keys() - sends} == pytest.approx(
        {name: metered[name] for name in metered.keys() - sends}, abs=1
    )
    assert all(modelled[name] >= metered[name] - 0.01 for name in sends)


def test_messages_of_one_run_go_to_all_agents() -> None:
    """Ten replies in a run: to each of two agents with a chance of a third, and to none after the last step."""
    full, runs = LOAD.takings["responses"].at(10), 0.3

    assert full["sqs sends"] == pytest.approx(runs * 2 * (1 - (2 / 3) ** 10))


@pytest.mark.parametrize(("orders", "cold"), [(730, 4.6), (MILLION, 0.08)])
def test_functions_that_rest_long_start_cold_each_by_itself(orders: int, cold: float) -> None:
    assert deployment().counted(orders)["cold starts"] == pytest.approx(cold, abs=0.05)


@pytest.mark.parametrize(
    ("name", "usd"),
    [
        (DURABLE, 34.84),
        ("Durable, fed by a queue", 34.84 + 3 * 0.40),
        ("Step Functions Standard", 102.60),
        ("Standard + nested Express", 7.42 + 50),
        ("Step Functions Express", 7.42),
        ("Temporal Cloud", 221.16),
        ("Temporal, local activities", 111.16),
    ],
)
def test_a_million_orders_cost_elsewhere_what_the_documentation_says(name: str, usd: float) -> None:
    """Warm; $8 a million operations, $25 a million transitions, $50 a million actions and 10%, and so on."""
    bill = bills()[name]
    warm = sum(each.usd for each in bill.lines if each.name != "cold starts")
    assert warm * MILLION == pytest.approx(usd, abs=0.01)


def test_every_price_is_used() -> None:
    own = deployment(watching="full").estimate(1), deployment().estimate(1)
    lines = [each for bill in own for each in (*bill.per_order, *bill.per_month, *bill.storage)]
    assert {each.price for bill in bills().values() for each in bill.lines} | {each.price for each in lines} == set(
        prices()
    )


@pytest.mark.parametrize(("millions", "usd"), [(2, 0), (13.75, 525), (402.5, 250 + 225 + 400 + 1050 + 1500 + 7500)])
def test_a_million_actions_cost_less_the_more_there_are(millions: float, usd: float) -> None:
    """The second is the example of Temporal's documentation; prices above 200 million are not published."""
    assert business_usd(millions * MILLION) == pytest.approx(usd)


def test_express_and_local_activities_are_no_place_to_wait() -> None:
    waiting = bills(waits=True)
    assert not {"Step Functions Express", "Standard + nested Express", "Temporal, local activities"} & waiting.keys()


def test_it_tells_from_which_volume_it_costs_less_than_a_peer() -> None:
    least = deployment().cheaper_from(WORK)

    assert least
    for orders, cheaper in ((least * 0.98, False), (least * 1.02, True)):
        assert (deployment().usd(orders) < bills(orders)[DURABLE].usd(orders)) is cheaper
    assert deployment().cheaper_from(WORK, "Step Functions Express") is None


@pytest.mark.parametrize(
    ("settings", "setting"),
    [({}, "supervise_minutes"), ({"watching": "full"}, "watching"), ({"tracing": True}, "tracing")],
)
def test_the_setting_that_saves_most_comes_first(settings: dict[str, Any], setting: str) -> None:
    usd, name = deployment(**settings).savings(MILLION)[0]

    assert name == setting
    assert deployment(**settings).usd(MILLION) - usd < deployment(**settings).usd(MILLION)


def test_no_item_is_written_by_two_orders() -> None:
    """No key grows hot with the orders: each that they write has the id of one of them."""
    with pretended(ORDINARY, 10) as functions:
        warm_up(functions, ORDINARY)
        items = functions.meter.bill.items
        before = dict(items)
        functions.send([ORDINARY.text(number) for number in range(1, 11)])
        functions.run()
        written = [row[1] for row, item in items.items() if before.get(row) is not item]

    assert len(written) == 20
    assert all(any(order_id(number) in key for number in range(1, 11)) for key in written)
