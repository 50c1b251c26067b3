"""The convoy's benchmark, on short runs."""

import json

import pytest

from stepward.cli.cost.estimate import Assumptions, run_ms
from stepward.cli.cost.priced import order_id
from tests.lab.benchmarks.convoy.convoys import million_usd
from tests.lab.benchmarks.convoy.lane_memory import beside, pace
from tests.lab.benchmarks.workload import LONGEST_LEDGER, adds, ledgers

BILLED = {"write units": 2.0, "read units": 1.0, "fifo requests": 2.0, "invocations": 1.0, "messages": 1.0}


def test_the_orders_entries_come_in_turn() -> None:
    entries = adds(3, 7)

    assert [(entry["orderId"], entry["sequence"]) for entry in entries] == [
        (order_id(n % 3), 2 + n // 3) for n in range(7)
    ]


def test_no_ledger_is_longer_than_the_queue_may_hold() -> None:
    sent = [json.loads(text) for text in ledgers("l", adds(3, LONGEST_LEDGER + 1))]

    assert [len(ledger["entries"]) for ledger in sent] == [LONGEST_LEDGER, 1]
    assert len({ledger["ledgerId"] for ledger in sent}) == 2


@pytest.mark.parametrize(("orders", "batch"), [(1, 10), (20, 1)])
def test_every_entry_is_applied_and_timed(orders: int, batch: int) -> None:
    found = pace(orders, batch, 40)

    assert (found.orders, found.batch, found.entries) == (orders, batch, 40)
    assert found.split_per_s > 0
    assert found.applied_per_s > 0


def test_a_hot_order_does_not_slow_the_others() -> None:
    """C8, I7: it occupies one consumer at a time, however long it is."""
    alone, behind, far_behind = beside(0, orders=40), beside(300, orders=40), beside(600, orders=40)

    assert behind.last_ms <= alone.last_ms * 1.3
    assert far_behind.last_ms == behind.last_ms
    assert far_behind.hot_ms > 2 * far_behind.last_ms


def test_a_million_entries_cost_their_requests_and_the_time_that_functions_wait() -> None:
    assumed = Assumptions()
    seconds = run_ms(BILLED, assumed) / 1000
    expected = 2 * 0.625 + 0.125 + 2 * 0.50 + 0.20 + seconds * 0.5 * 0.0000133334e6
    expected += assumed.platform_log_bytes / 1024**3 * 0.50e6 + assumed.traced * 5

    assert million_usd(BILLED) == pytest.approx(expected)
