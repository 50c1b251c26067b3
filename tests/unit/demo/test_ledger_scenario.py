"""The ledgers of the demonstration: what their customers meant is in them, and each thing that goes wrong is, too."""

import json
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from orders.demo.ledgers import LedgerScenario, Story, ledger_scenario, replacement

TEMPLATE = json.loads((Path(__file__).parents[3] / "events" / "orders" / "order.json").read_text())


def scenario(orders: int = 60, seed: int = 1) -> LedgerScenario:
    return ledger_scenario(orders, seed, TEMPLATE)


def sent(acts: LedgerScenario) -> Mapping[str, list[Any]]:
    lanes: dict[str, list[Any]] = {}
    for ledger in acts.ledgers[:-1]:
        for entry in ledger["entries"]:
            lanes.setdefault(entry.get("orderId", ""), []).append(entry.get("sequence"))
    return lanes


def test_the_same_seed_brings_the_same_ledgers() -> None:
    assert scenario() == scenario()
    assert scenario() != scenario(seed=2)


def test_three_customers_send_four_hundred_entries_of_sixty_orders() -> None:
    acts = scenario()
    assert len({ledger["customerId"] for ledger in acts.ledgers}) == 3
    assert acts.entries >= 400
    assert set(acts.by_story) == set(Story)


def test_a_ledger_mixes_the_events_of_many_orders() -> None:
    first = [entry.get("orderId") for entry in scenario().ledgers[0]["entries"]]
    changes = sum(before != after for before, after in pairwise(first))
    assert changes > len(first) / 2


def test_each_story_is_in_what_is_sent() -> None:
    """C2, C5, C6: duplicates, two swapped, one missing, one wrong, one after the end, one without an order."""
    acts, lanes = scenario(), sent(scenario())
    for order in acts.orders:
        sequences, meant = lanes[order.order_id], list(range(1, len(order.entries) + 1))
        match order.story:
            case Story.LATE:
                assert Counter(sequences) == Counter(meant) - Counter([order.troubled])
            case Story.AFTER_END:
                assert sequences == [*meant, len(meant) + 1]
            case Story.SWAPPED:
                assert sequences != meant
                assert sorted(sequences) == meant
            case Story.PLAIN:
                assert list(dict.fromkeys(sequences)) == meant
            case _:
                assert sequences == meant
    assert any(len(lanes[order.order_id]) > len(order.entries) for order in acts.orders if order.story is Story.PLAIN)
    assert len(lanes[""]) == 1
    assert acts.ledgers[-1] == acts.ledgers[0], "one ledger comes twice"


def test_what_is_missing_comes_late_and_what_is_wrong_can_be_replaced() -> None:
    acts = scenario()
    (late,) = [order for order in acts.orders if order.story is Story.LATE]
    (poison,) = [order for order in acts.orders if order.story is Story.POISON]
    assert [entry for ledger in acts.late for entry in ledger["entries"]] == [late.entries[late.troubled - 1]]
    assert poison.wrong is not None
    assert json.loads(replacement(poison))["sequence"] == poison.wrong["sequence"] == poison.troubled


@pytest.mark.parametrize("orders", [0, 1, 2, 3, 7])
def test_there_may_be_any_number_of_orders(orders: int) -> None:
    acts = scenario(orders)
    assert len(acts.orders) == orders
    assert bool(acts.entries) == bool(orders)
