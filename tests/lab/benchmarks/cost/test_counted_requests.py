"""The counts behind `stepward cost` are those of the real functions, and an order stays within its price."""

import pytest

from stepward.cli.cost.estimate import MILLION, estimate, measured
from tests.lab.benchmarks.cloud import cloud
from tests.lab.benchmarks.cost import cost
from tests.lab.benchmarks.workload import line, order_text

LOGGED = ("log bytes", "metric bytes")


def differing(found: cost.Quantities, stored: cost.Quantities) -> dict[str, tuple[float, float]]:
    """Each count, now and as stored, where the two differ; log bytes may differ by one percent."""
    return {
        name: (found[name], stored[name])
        for name in stored
        if abs(found[name] - stored[name]) > (0.01 * stored[name] if name in LOGGED else 0.001)
    }


@pytest.mark.parametrize("batch", cost.BATCHES)
@pytest.mark.parametrize("steps", [1, 3])
def test_the_stored_counts_of_an_order_are_those_of_today(steps: int, batch: int) -> None:
    """`make bench ONLY=cost` stores new counts after an intended change."""
    assert differing(cost.happy(steps, batch), measured().orders[steps][batch]) == {}


def test_the_stored_counts_of_a_recovery_are_those_of_today() -> None:
    assert differing(cost.recovered(), measured().recovery) == {}


def test_the_stored_counts_of_an_idle_sweep_are_those_of_today() -> None:
    assert differing(cost.swept(), measured().sweep) == {}


def test_three_steps_take_at_most_ten_write_units_and_five_calls_in_sequence_each() -> None:
    with cloud(line(3), 1) as deployed:
        cost.warm_up(deployed)
        deployed.send([order_text(1)])
        deployed.run()
        calls = [f"{call.function} {call.operation}" for call in deployed.meter.calls]

    assert deployed.meter.bill.totals["write units"] <= 10
    step = ["scheduler BatchGetItem", "scheduler PutItem", "scheduler SendMessageBatch"]
    step += ["agent GetItem", "agent SendMessageBatch"]
    submitted, ended = ["submission TransactWriteItems", "submission SendMessageBatch"], step[:2]
    assert calls == [*submitted, *step, *step, *step, *ended]


@pytest.mark.parametrize(("batch", "most", "in_all"), [(1, 20.5, 22.6), (10, 9.1, 10)])
def test_a_million_orders_of_three_steps_stay_within_their_price(batch: int, most: float, in_all: float) -> None:
    """`most` is for requests and computing, `in_all` with logs and traces."""
    bill = estimate(measured(), steps=3, batch=batch)
    watching = sum(line.usd for line in bill.per_order if line.name in {"Logs", "Traces"})

    assert (bill.order_usd - watching) * MILLION <= most
    assert bill.order_usd * MILLION <= in_all
