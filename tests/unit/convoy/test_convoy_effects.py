"""What events do beyond their lane: each effect once, however often its event comes."""

from typing import NoReturn

import pytest

from stepward.domain.convoy.lane import LaneRules
from stepward.domain.errors import Corrupt, NotUnderstood
from stepward.domain.history import HistoryKind
from stepward.domain.task.record import ProcessState
from stepward.testing.faults.record import Died
from stepward.testing.memory.task_store import MemoryTaskStore
from tests.factories import MINUTE
from tests.lab.convoy.gate import Fault
from tests.lab.convoy.world import ConvoyWorld, entry, order
from tests.unit.convoy.lanes import arrive, blocked


def test_a_create_submits_the_order_and_a_delete_takes_it_back() -> None:
    """C2: by the use cases that order messages go through."""
    world = ConvoyWorld()

    world.run(entry("A", 1, "create", currency="EUR"), entry("A", 2, "delete", reason="by mistake"))

    order_text = world.store.orders["A"].body
    assert '"currency":"EUR"' in order_text
    assert '"type":"order.submitted"' in order_text
    assert '"customerId":"c1"' in order_text
    assert "sequence" not in order_text
    assert world.store.tasks["A"].process_state is ProcessState.UNDONE
    assert world.lane().deleted == 2


def test_a_create_may_carry_the_complete_by_of_its_order() -> None:
    """S24, C6: one that cannot be kept stops its own order only, with field and reason."""
    world = ConvoyWorld()
    world.run(
        entry("A", 1, "create", completeBy="2026-03-01T00:00:00Z"),
        entry("B", 1, "create", completeBy="2020-03-01T00:00:00Z"),
    )

    assert world.store.tasks["A"].complete_by == 1_772_323_200_000
    assert blocked(world, "B") == (1, "completeBy: is not after submittedAt; name a later time, or leave it out")


def test_a_delete_of_an_order_whose_task_was_deleted_stops_its_lane() -> None:
    """It ended long ago; there is nothing to wait for."""
    world = ConvoyWorld()
    world.run(entry("A", 1, "create"))
    del world.store.tasks["A"]

    world.run(entry("A", 2, "delete"))

    assert blocked(world) == (2, "orderId: 'A' has ended, and its task was deleted since")


def test_what_comes_after_a_delete_stops_the_order() -> None:
    world = ConvoyWorld()
    world.run(entry("A", 1, "create"), entry("A", 2, "delete"), entry("A", 3, "add"))
    assert blocked(world) == (3, "op: the order was cancelled at 2")


def test_an_effect_that_fails_for_now_is_tried_again_and_then_stops_the_order() -> None:
    """C6: attempts are counted in the lane."""
    world = ConvoyWorld(rules=LaneRules(attempts=10))
    arrive(world, *order("A", 2))
    for _ in range(10):
        world.gate.arm(Fault.FAILS, at="submit")
        world.work(world.events.receive())
        world.clock.now += MINUTE

    assert blocked(world) == (1, "it failed 10 times; the last error: MemoryTaskStore.submit: fails")


def test_an_effect_that_only_newer_code_can_have_counts_nothing() -> None:
    """D1: the order's task waits for a deployment, however often its event comes."""
    world = ConvoyWorld(rules=LaneRules(attempts=3))
    arrive(world, *order("A", 2))
    world.store, knowing = Older(shard_of=lambda _: 0), world.store
    for _ in range(10):
        world.work(world.events.receive())
        world.clock.now += 10 * MINUTE
    assert world.lanes.load("A") is None

    world.store = knowing
    world.work(world.events.receive())

    assert (world.lane().blocked, world.lane().last) == (None, 2)


def test_an_effect_that_fails_once_is_had_the_next_time() -> None:
    """C4: nothing is deleted before its work is done, and nothing comes before it."""
    world = ConvoyWorld()
    arrive(world, *order("A", 2))
    world.gate.arm(Fault.FAILS, at="submit")

    world.work(world.events.receive())
    between = (world.lane().last, world.lane().attempts, len(world.events.bodies))
    world.clock.now += MINUTE
    world.run()

    assert between == (0, 1, 2)
    assert (world.applied(), world.lane().attempts) == ([1, 2], 0)


def test_a_consumer_that_dies_between_effect_and_write_has_the_effect_once() -> None:
    """C4, I7: the effect comes first and can be asked for again."""
    world = ConvoyWorld()
    arrive(world, *order("A", 2), entry("A", 3, "delete"))
    world.gate.arm(Fault.DIES_BEFORE, at="Lanes.save")

    with pytest.raises(Died):
        world.work(world.events.receive())
    assert "A" in world.store.orders
    assert "A" not in world.lanes.lanes
    world.clock.now += MINUTE
    world.run()

    assert (world.applied(), world.lane().deleted) == ([1, 2, 3], 3)
    assert world.telemetry.count(HistoryKind.SUBMITTED) == 1


def test_a_corrupt_task_stops_the_order_at_its_cancellation() -> None:
    """C6: no number of tries makes it readable, so an operator is alerted at once."""
    world = ConvoyWorld()
    world.run(*order("A", 1))
    world.store = Damaged(shard_of=lambda _: 0)

    world.run(entry("A", 2, "delete"))

    assert blocked(world) == (2, "the order's task cannot be read: A: it lacks CreatedAt")


class Older(MemoryTaskStore):
    """A state store of older code than its records."""

    def submit(self, order: object, task: object, plan: object, *, meets: object = None) -> NoReturn:  # noqa: ARG002 - as the port has it
        raise NotUnderstood("an item with Signals")


class Damaged(MemoryTaskStore):
    """A state store whose records nobody can understand."""

    def load(self, order_id: str, *, with_order: bool = True) -> NoReturn:  # noqa: ARG002 - as the port has it
        raise Corrupt(f"{order_id}: it lacks CreatedAt")
