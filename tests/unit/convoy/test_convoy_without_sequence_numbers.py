"""Orders whose events carry no sequence number: the queue's order counts."""

import json
from typing import Any

import pytest

from stepward.adapters.sqs.delivery import lane_messages
from stepward.domain.convoy.lane import LaneRules
from stepward.domain.convoy.lane_message import LaneMessage
from stepward.domain.history import HistoryKind
from stepward.domain.task.record import ProcessState
from stepward.testing.memory.queues import send
from tests.factories import MINUTE
from tests.lab.convoy.world import ConvoyWorld, entry
from tests.unit.convoy.lanes import blocked

CREATE = entry("A", None, "create")
NEWER = entry("A", None, "modify", modifies=1, status="paid", asOf="2026-01-01T00:00:02Z")


@pytest.fixture
def world() -> ConvoyWorld:
    return ConvoyWorld(rules=LaneRules(sequenced=False))


def add(amount: str, **more: Any) -> dict[str, Any]:
    return entry("A", None, "add", amount=amount, **more)


def test_events_are_applied_in_the_order_in_which_they_were_sent(world: ConvoyWorld) -> None:
    """C1."""
    world.run(CREATE, add("1.00"), add("1.00"))
    assert world.applied() == [1, 2, 3]


def test_a_ledger_that_is_walked_again_is_recognised_by_its_entries(world: ConvoyWorld) -> None:
    """C3: after the five minutes for which the queue knows its messages."""
    world.run(CREATE, add("1.00"), add("1.00"))
    for name in [name for name in world.shared_records.kept if name.startswith("ledger/")]:
        del world.shared_records.kept[name]

    world.clock.now += 6 * MINUTE
    world.ledger("L1", CREATE, add("1.00"), add("1.00"), again=True)
    world.run()

    assert world.applied() == [1, 2, 3]
    assert world.telemetry.count(HistoryKind.DUPLICATE) == 3


def test_the_ledgers_of_two_customers_may_have_one_name(world: ConvoyWorld) -> None:
    """C7: nothing of the one is taken for a duplicate of the other."""
    world.ledger("L1", CREATE, add("1.00"), customer="c1")
    world.ledger("L1", CREATE | {"orderId": "B"}, add("2.00") | {"orderId": "B"}, customer="c2")

    world.run()

    assert (world.applied("A"), world.applied("B")) == ([1, 2], [1, 2])


def test_what_comes_before_the_create_waits_for_it(world: ConvoyWorld) -> None:
    world.run(add("1.00"), add("2.00"))
    assert (world.lane().last, world.lane().highest) == (0, 3)
    world.run(CREATE)

    assert [stored.event.op for stored in world.history()] == ["create", "add", "add"]


def test_a_change_that_is_older_than_one_applied_before_is_skipped(world: ConvoyWorld) -> None:
    """The source says by asOf how new its state is; nothing is applied over a newer one."""
    older = entry("A", None, "modify", modifies=1, status="open", asOf="2026-01-01T00:00:01Z")
    world.run(CREATE, NEWER, older)
    assert [stored.skipped for stored in world.history()] == ["", "", "asOf: something newer was applied before"]


def test_an_addition_and_a_cancellation_count_however_late_they_come(world: ConvoyWorld) -> None:
    """Nothing newer makes up for them."""
    cancelled = entry("A", None, "delete", asOf="2026-01-01T00:00:01Z")

    world.run(CREATE, NEWER, add("1.00", asOf="2026-01-01T00:00:01Z"), cancelled)

    assert (world.applied(), world.lane().deleted) == ([1, 2, 3, 4], 4)
    assert world.store.tasks["A"].process_state is ProcessState.UNDONE


def test_a_numbered_event_stops_an_order_whose_others_had_no_number(world: ConvoyWorld) -> None:
    world.run(CREATE, entry("A", 7, "add"))
    assert blocked(world) == (2, "sequence: the order's earlier events had none")


def test_orders_with_and_without_numbers_live_side_by_side(world: ConvoyWorld) -> None:
    world.run(CREATE, entry("B", 1, "create"), add("1.00"), entry("B", 3, "add"))
    assert (world.applied("A"), world.applied("B"), world.lane("B").highest) == ([1, 2], [1], 3)


def test_what_is_behind_the_end_in_one_change_is_not_applied(world: ConvoyWorld) -> None:
    """C5: a poison event held all of it back until an operator skipped it."""
    world.run(CREATE, entry("A", None, "remove"), add("1.00", end=True), add("2.00"))

    world.skip("A", 2)
    world.run()

    assert (world.applied(), world.lane().highest) == ([1, 3], 3)
    assert world.reasons() == ["sequence: the order was ended at 3; nothing comes after it"]


def test_an_entry_that_later_ones_of_its_ledger_have_overtaken_stops_the_order(world: ConvoyWorld) -> None:
    """C6: its queue had given it up and it came back; nobody ever saw it, so it is no duplicate."""
    came = [CREATE, add("1.00"), add("2.00")]
    for index in (0, 2, 1, 2, 1):
        body = json.dumps({**came[index], "ledgerId": "L1", "index": index})
        send(world.events, lane_messages([LaneMessage("A", f"{index}-{next(world.names)}", body)]))
        world.run()

    assert blocked(world) == (-1, "index: entry 1 of ledger L1 comes after later entries")
    assert (world.lane().last, world.lane().unsequenced_seen, world.telemetry.count(HistoryKind.DUPLICATE)) == (2, 1, 2)
