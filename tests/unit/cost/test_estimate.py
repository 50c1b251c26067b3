from dataclasses import replace
from datetime import date

import pytest

from stepward.cli.cost.estimate import Assumptions, Measured, estimate, prices, run_ms

FEW = {
    "write units": 10.0,
    "read units": 8.0,
    "sqs requests": 24.0,
    "fair requests": 3.0,
    "messages": 8.0,
    "invocations": 8.0,
    "invocations of agent": 3.0,
    "log bytes": 2000.0,
    "metric bytes": 1000.0,
    "stored bytes": 1024.0**3,
}
NOTHING = dict.fromkeys(FEW, 0.0)
STACK = {"alarms": 40.0, "queues": 6.0, "fifo queues": 2.0, "counted queues": 5.0, "metrics": 20.0, "keys": 1.0}
STACK |= {"dashboards": 1.0, "shown": 50.0}
FOUND = Measured(FEW, NOTHING, STACK)


WATCHED = Assumptions(platform_log_bytes=340, traced=0.05)


def usd(name: str, **how: float) -> float:
    bill = estimate(FEW, FOUND, **({"assumed": WATCHED} | how))  # type: ignore[arg-type]
    return next(line.usd for line in (*bill.per_order, *bill.per_month, *bill.storage) if line.name == name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("DynamoDB writes", 10 * 0.625e-6),
        ("DynamoDB reads", 8 * 0.125e-6),
        ("SQS requests", 24 * 0.40e-6),
        ("SQS fair queues", 3 * 0.10e-6),
        ("Lambda requests", 8 * 0.20e-6),
        ("Logs", (3000 + 8 * 340) / 1024**3 * 0.50),
        ("Traces", 8 * 0.05 * 5e-6),
        ("Alarms", 4.0),
        ("Custom metrics", 6.0),
        ("Dashboard", 3.0),
        ("Key of the alerts", 1.0),
        ("Empty receives", 6 * 5 * 3 * 43_800 * 0.40e-6),
        ("Empty receives, FIFO", 2 * 5 * 3 * 43_800 * 0.50e-6),
        ("Supervisor, queues", 5 * 21_900 * 0.40e-6),
        ("Stored", 0.25),
    ],
)
def test_each_line_is_its_quantity_at_its_price(name: str, expected: float) -> None:
    assert usd(name) == pytest.approx(expected)


def test_a_deployment_that_asks_for_no_traces_pays_for_its_own_log_lines_only() -> None:
    bill = {line.name: line.usd for line in estimate(FEW, FOUND).per_order}

    assert bill["Traces"] == 0
    assert bill["Logs"] == pytest.approx(3000 / 1024**3 * 0.50)


@pytest.mark.parametrize(("shown", "dashboard"), [(50, 0), (51, 3)])
def test_what_is_free_is_free_once_whatever_it_is_used_for(shown: float, dashboard: float) -> None:
    bill = estimate(FEW, replace(FOUND, stack=STACK | {"shown": shown}))
    usd = {line.name: line.usd for line in bill.per_month}
    requests = usd["Empty receives"] + usd["Supervisor, queues"] - 1_000_000 * 0.40e-6
    assert bill.month_beyond_free_usd == pytest.approx(
        usd["Alarms"] - 1 + usd["Custom metrics"] - 3 + dashboard + 1 + requests + usd["Empty receives, FIFO"]
    )


def test_a_bill_is_the_sum_of_its_lines() -> None:
    bill = estimate(FEW, FOUND)

    assert bill.order_usd == pytest.approx(sum(line.usd for line in bill.per_order))


def test_functions_are_billed_for_their_calls_their_computing_and_what_operations_wait() -> None:
    counted = FEW | {"reads waited for": 4.0, "writes waited for": 3.0, "transactions waited for": 1.0}
    assumed = Assumptions(run_ms=1, message_ms=2, read_ms=3, write_ms=4, transaction_ms=5, operation_ms=100)

    assert run_ms(counted, assumed) == 8 * 1 + 8 * 2 + 4 * 3 + 3 * 4 + 1 * 5 + 3 * 100


def test_recoveries_add_their_share() -> None:
    assert usd("DynamoDB writes", recoveries=0.5) == pytest.approx(15 * 0.625e-6)


def test_every_price_has_its_source_and_its_date() -> None:
    for price in prices().values():
        assert price["source"].startswith("https://")
        assert "/blob/" in price["source"] or date.fromisoformat(price["date"])
        assert price["usd"] > 0


def test_a_call_of_an_agent_with_a_rate_costs_more() -> None:
    """W8: a write and a read, at most; the calls of a batch share them."""
    without, paced = (
        {line.name: line.quantity for line in estimate(FEW, FOUND, paced=paced).per_order} for paced in (0, 2)
    )
    assert {name for name in paced if paced[name] != without[name]} == {
        "DynamoDB writes",
        "DynamoDB reads",
        "Lambda time",
    }
    assert paced["DynamoDB writes"] - without["DynamoDB writes"] == 2
    assert paced["DynamoDB reads"] - without["DynamoDB reads"] == 2
