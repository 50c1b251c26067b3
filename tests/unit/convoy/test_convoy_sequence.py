"""Events of one order are applied in their sequence, once, however they come."""

from functools import partial
from typing import Any

import pytest

from stepward.domain.convoy.change import LONGEST_RECENT, MOST_ROWS
from stepward.domain.convoy.needs import PAGE
from stepward.domain.convoy.sequence import MOST_UNSEQUENCED
from stepward.domain.history import HistoryKind
from tests.factories import MINUTE, of_lanes
from tests.lab.convoy.gate import Fault
from tests.lab.convoy.world import ConvoyWorld, entry, order
from tests.unit.convoy.lanes import arrive, blocked, with_gap


def test_interleaved_orders_are_each_applied_in_order() -> None:
    """C1, C2: two orders come interleaved; each is applied 1..n."""
    world, a, b = ConvoyWorld(), order("A", 3), order("B", 2)
    world.run(a[0], b[0], a[1], b[1], a[2])
    assert (world.applied("A"), world.applied("B")) == ([1, 2, 3], [1, 2])


def test_events_that_come_in_one_batch_are_applied_in_one_write() -> None:
    world = ConvoyWorld()

    world.run(*order("A", 5))

    assert world.lane().revision == 1
    assert world.gate.passed.count("MemoryLanes.save") == 1


def test_an_event_ahead_of_its_turn_waits_for_it() -> None:
    """C5: 3 comes before 2, and is applied after it."""
    world, events = with_gap(3)
    assert world.applied() == [1]

    world.run(events[1])

    assert world.applied() == [1, 2, 3]


def test_a_gap_is_never_jumped_however_long_it_stays() -> None:
    """C5: nothing but the missing event, or an operator, closes a gap."""
    world, events = ConvoyWorld(), order("A", 4)
    world.run(events[0], events[2])

    world.clock.now += 90 * 24 * 60 * MINUTE
    world.lane_sweep()
    world.run(events[3])

    assert (world.applied(), world.lane().highest) == ([1], 4)


def test_the_same_event_again_is_a_duplicate_and_nothing_else() -> None:
    """C5: from another ledger, too."""
    world = ConvoyWorld()
    world.run(*order("A", 2))

    world.run(*order("A", 2))

    assert (world.applied(), world.lane().revision) == ([1, 2], 1)
    assert world.telemetry.count(HistoryKind.DUPLICATE) == 2
    assert not world.rejects.kept


@pytest.mark.parametrize("applied_before", [True, False], ids=["applied", "parked"])
def test_other_content_for_a_sequence_that_came_before_is_kept_among_the_rejects(*, applied_before: bool) -> None:
    """C5: it is no duplicate, and it does not replace what came first."""
    world, events = ConvoyWorld(), order("A", 3)
    world.run(events[0], *([events[1]] if applied_before else []), events[2])

    world.run({**events[2], "amount": "0.01"})

    assert world.reasons() == ["sequence: 3 came before with other content"]
    world.run(*order("A", 3))
    assert '"amount":"3.00"' in world.history()[2].event.body


def test_what_comes_after_the_end_is_refused_and_kept() -> None:
    """C5: end of sequence."""
    world = ConvoyWorld()
    world.run(*order("A", 2, end=True))

    world.run(entry("A", 3, "add", amount="3.00"))

    assert (world.applied(), world.lane().highest) == ([1, 2], 2)
    assert world.reasons() == ["sequence: the order was ended at 2; nothing comes after it"]


def test_the_end_closes_the_order_once_all_before_it_is_applied() -> None:
    """C5: an end that comes early waits; what had come for positions behind it becomes a reject."""
    world, events = ConvoyWorld(), order("A", 5)
    events[2]["end"] = True

    world.run(events[0], events[4], events[2], events[3])
    assert (world.lane().end, world.lane().highest) == (0, 5)
    world.run(events[1])

    assert (world.applied(), world.lane().end, world.lane().highest) == ([1, 2, 3], 3, 3)
    assert len(world.reasons()) == 2


def test_a_poison_event_stops_its_own_order_only() -> None:
    """C6: the rest of its order waits in order; other orders go on."""
    world, a, b = ConvoyWorld(), order("A", 3), order("B", 3)
    a[1]["op"] = "remove"

    world.run(a[0], b[0], a[1], b[1], a[2], b[2])

    assert blocked(world) == (2, "op: Invalid enum value 'remove'")
    assert (world.applied("A"), world.lane("A").highest, world.applied("B")) == ([1], 3, [1, 2, 3])
    assert [(alert.order_id, alert.event) for alert in of_lanes(world.alerts.told)] == [("A", "2")]


CREATE, MODIFY = entry("A", 1, "create"), entry("A", 2, "modify")


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([entry("A", 1, "add", amount="1.00")], "op: no create came before this add"),
        ([CREATE, entry("A", 2, "create")], "op: the order was created before"),
        ([CREATE, MODIFY | {"modifies": 1}], ""),
        ([CREATE, MODIFY], "modifies: is missing: a modify names the sequence of the event that it changes"),
        ([CREATE, MODIFY | {"modifies": 2}], "modifies: is 2; it must be lower than the event's own 2"),
        ([CREATE, entry("A", 2, "add", modifies=1)], "modifies: is only for a modify, which names"),
        (
            [*order("A", 2), *(entry("A", 1 + n, "modify", modifies=n) for n in (2, 3))],
            "modifies: 3 is no earlier create or add of this order",
        ),
    ],
)
def test_an_event_that_the_order_does_not_allow_stops_it(events: list[dict[str, Any]], reason: str) -> None:
    """C6: refused by the order's state, with field and reason."""
    world = ConvoyWorld()

    world.run(*events)

    assert blocked(world)[1].startswith(reason)
    assert blocked(world)[0] == (len(events) if reason else 0)


def test_an_event_without_a_usable_sequence_stops_its_order_visibly() -> None:
    """C6: nobody can know its position; it is stored, and what comes after it waits."""
    world = ConvoyWorld()

    world.run(entry("A", 1, "create"), entry("A", None, "add"), entry("A", 2, "add"))

    assert (world.lane().unsequenced, world.applied(), world.lane().highest) == ((-1,), [1], 2)
    assert [alert.event for alert in of_lanes(world.alerts.told)] == ["u1"]


def test_events_without_a_usable_sequence_do_not_fill_a_lane_without_end() -> None:
    world = ConvoyWorld()

    world.run(*(entry("A", None, "add", amount=f"{number}.00") for number in range(MOST_UNSEQUENCED + 2)))
    world.run(entry("A", None, "add", amount="0.00"))

    assert world.lane().unsequenced_seen == MOST_UNSEQUENCED
    assert world.reasons() == ["sequence: is missing"] * 2
    assert len(world.alerts.told) == 1


def test_the_newest_events_move_out_of_a_lane_that_grows() -> None:
    world = ConvoyWorld()

    for event in order("A", 40):
        world.run(event)

    assert sum(len(stored.event.body) for stored in world.lane().recent) < LONGEST_RECENT
    assert world.applied() == list(range(1, 41))


def test_many_large_events_that_waited_are_applied_in_changes_of_bounded_size() -> None:
    """No change may be larger than one transaction holds."""
    world, events = ConvoyWorld(), order("A", 3 * PAGE)
    for event in events[1:]:
        event["note"] = "n" * 1_500
    world.run(*events[1:])
    written: list[int] = []
    save = type(world.lanes).save

    class Counting(type(world.lanes)):  # type: ignore[misc]
        def save(self, *given: Any, **named: Any) -> bool:
            written.append(len(named.get("rows", ())))
            return save(self, *given, **named)

    world.lanes = Counting(lanes=world.lanes.lanes, kept=world.lanes.kept)
    world.run(events[0])

    assert world.applied() == list(range(1, 3 * PAGE + 1))
    assert max(written) <= MOST_ROWS


def test_a_row_alone_changes_the_revision_of_its_lane() -> None:
    """C4: whoever read the lane before the row came may not close the gap without it."""
    world, events = with_gap(4)
    before = world.lane()

    world.run(events[2])

    assert world.lane().revision == before.revision + 1
    assert not world.lanes.save(before, replaces=before)


def test_an_event_that_comes_while_another_consumer_closes_the_gap_is_not_left_behind() -> None:
    """C4: both saw the lane before the other wrote."""
    world, events = with_gap(4)
    arrive(world, events[1], ledger_id="L8")
    batch = world.events.receive()
    world.clock.now += MINUTE
    arrive(world, events[2], ledger_id="L9")
    again = world.events.receive()[1:]
    world.gate.arm(Fault.SUPERSEDED, somebody=partial(world.work, again), at="Lanes.save")

    world.work(batch)

    assert world.applied() == [1, 2, 3, 4]
