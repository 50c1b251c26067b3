"""Fault sequences that broke systems like this one, as batches of order-events.fifo."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stepward.domain.convoy.lane import Alerted, LaneRules
from stepward.domain.errors import Transient
from stepward.domain.history import HistoryKind
from stepward.domain.submission import Order, Submission
from stepward.domain.task.record import Task
from stepward.domain.wish import Wish
from stepward.domain.workflow.plan import Plan
from stepward.testing.memory.task_store import MemoryTaskStore
from tests.factories import HOUR, of_lanes
from tests.lab.convoy.world import ConvoyWorld, entry

FIELD_CASES = Path(__file__).parents[2] / "field_cases"


def case(name: str) -> Any:
    return json.loads((FIELD_CASES / f"{name}.json").read_text())


def play(world: ConvoyWorld, event: Any) -> None:
    for record in event["Records"]:
        given = record["attributes"]
        world.events.send(record["body"], group=given["MessageGroupId"], deduplication=given["MessageDeduplicationId"])
    world.run()


def test_interleaved_orders_are_applied_and_closed_at_their_end() -> None:
    """C1, C2, C5: convoy_happy.json."""
    world = ConvoyWorld()
    play(world, case("convoy_happy")["event"])
    assert (world.applied("A"), world.applied("B")) == ([1, 2, 3], [1, 2])
    assert (world.lane("A").end, world.lane("B").end) == (3, 2)


def test_a_second_delivery_is_acknowledged_and_other_content_is_kept() -> None:
    """C5: convoy_duplicate_seq.json."""
    world = ConvoyWorld()
    play(world, case("convoy_duplicate_seq")["event"])
    assert world.applied() == [1, 2]
    assert world.telemetry.count(HistoryKind.DUPLICATE) == 1
    assert world.reasons() == ["sequence: 2 came before with other content"]
    assert not world.events.bodies


def test_a_gap_that_a_dead_letter_left_holds_its_order_until_it_is_redriven() -> None:
    """C5: convoy_gap_after_dlq.json; field case 20."""
    world, found = ConvoyWorld(), case("convoy_gap_after_dlq")
    play(world, found["event"])
    held = world.applied()
    world.clock.now += world.rules.gap_within
    world.lane_sweep()

    play(world, found["later"])

    assert (held, world.applied()) == ([1], [1, 2, 3])
    assert [(alert.trouble, alert.event) for alert in of_lanes(world.alerts.told)] == [(Alerted.GAP, "2")]


def test_an_end_that_never_comes_is_reported_and_the_order_kept() -> None:
    """C5: convoy_end_never_comes.json."""
    found = case("convoy_end_never_comes")
    world = ConvoyWorld(rules=LaneRules(idle_after=found["idle_hours"] * HOUR))
    play(world, found["event"])
    world.clock.now += found["idle_hours"] * HOUR
    world.lane_sweep()
    assert world.applied() == [1, 2]
    assert [alert.trouble for alert in of_lanes(world.alerts.told)] == [Alerted.IDLE]


@dataclass(slots=True)
class Failing(MemoryTaskStore):
    """Fails for now whenever a certain order is submitted."""

    failing: str = ""

    def submit(self, order: Order, task: Task, plan: Plan, *, meets: Wish | None = None) -> Submission | Wish:
        if order.order_id == self.failing:
            raise Transient("not now")
        return MemoryTaskStore.submit(self, order, task, plan, meets=meets)


@pytest.mark.parametrize(
    ("name", "stay"),
    [
        ("fifo_first_record_fails", [("A", 1), ("A", 2), ("A", 3)]),
        ("fifo_two_groups_fail_middle", [("B", 1), ("B", 2)]),
    ],
)
def test_a_failed_record_holds_back_the_rest_of_its_group_only(name: str, stay: list[tuple[str, int]]) -> None:
    """C4: they come again in their order; field cases 7 and 8."""
    world, found = ConvoyWorld(), case(name)
    bodies = {record["messageId"]: json.loads(record["body"]) for record in found["event"]["Records"]}
    failing = bodies[found["fail_on"][0]]["orderId"]
    world.store = Failing(shard_of=lambda _: 0, failing=failing)
    for number, body in enumerate(bodies.values()):
        event = entry(body["orderId"], body["seq"], "create" if body["seq"] == 1 else "add")
        world.events.send(json.dumps(event), group=body["orderId"], deduplication=str(number))

    world.work(world.events.receive())

    left = [json.loads(body) for body in world.events.bodies]
    assert [(event["orderId"], event["sequence"]) for event in left] == stay
    assert world.lane(failing).last == 0


@pytest.mark.parametrize("found", case("body_extended_client_pointer")["cases"], ids=lambda found: found["why"])
def test_a_pointer_reads_nothing_but_objects_of_the_own_bucket(found: Any) -> None:
    """C2: body_extended_client_pointer.json; field case 39."""
    world = ConvoyWorld()
    world.objects.objects["k1"] = b"{}"
    world.ledgers.send(found["body"], group="c1", deduplication="1")
    world.run()
    (kept,) = world.rejects.kept.values()
    assert kept.field == found["field"]
    assert found["says"] in kept.reason
    assert not world.ledgers.bodies
