"""What a lane cannot take becomes a reject once, whoever dies, and never by a change that was not written."""

import json

import pytest

from stepward.domain.convoy.lane import MOST_DONE
from stepward.domain.history import HistoryKind
from stepward.testing.faults.record import Died
from tests.factories import MINUTE
from tests.lab.convoy.gate import Fault
from tests.lab.convoy.world import ConvoyWorld, entry, order
from tests.sample import ShopEvent, numbered_notice
from tests.unit.convoy.lanes import arrive, poisoned, with_gap, work_and_die

MENDED = entry("A", 2, "add", amount="2.00")
TIMES_OF_DEATH = pytest.mark.parametrize("fault", [Fault.DIES_BEFORE, Fault.DIES_AFTER])


@pytest.fixture
def blocked() -> ConvoyWorld:
    """An order that is stopped at its second event, with one behind it."""
    return poisoned(2)


def test_a_lost_race_leaves_nothing_behind() -> None:
    """C4: the end was skipped meanwhile, so that what comes after it is no reject, and nothing is logged twice."""
    world, events = with_gap(5)
    arrive(world, {**events[1], "end": True}, events[2], ledger_id="L9")
    batch = world.events.receive()
    world.telemetry.history.clear()

    def somebody() -> None:
        world.skip("A", 2)
        world.clock.now += MINUTE
        world.work([message for message in world.events.receive() if message.body not in {m.body for m in batch}])

    world.gate.arm(Fault.SUPERSEDED, somebody=somebody, at="Lanes.save")
    world.work(batch)

    assert (world.applied(), world.lane().end) == ([1, 3], 0)
    assert world.reasons() == ["sequence: 2 was skipped: skipped by ann: not needed"]
    assert (world.telemetry.count(HistoryKind.REJECTED), world.telemetry.count(HistoryKind.ENDED)) == (1, 0)


def test_what_arrives_and_cannot_be_taken_becomes_a_reject_though_its_consumer_dies() -> None:
    """C5: its lane is written by then, and its message is not deleted."""
    world, events = ConvoyWorld(), order("A", 3)
    world.run(events[0])
    arrive(world, events[1], {**events[0], "currency": "EUR"}, events[2], ledger_id="L9")
    world.gate.arm(Fault.DIES_BEFORE, at="Rejects.keep")

    work_and_die(world)

    assert (world.gate.hits, world.applied()) == (1, [1, 2, 3])
    assert world.reasons() == ["sequence: 1 came before with other content"]


@pytest.mark.parametrize("at", ["Rejects.keep", "Lanes.save", "SharedRecords.write"])
@TIMES_OF_DEATH
def test_an_event_that_was_replaced_is_kept_though_the_consumer_dies(
    blocked: ConvoyWorld, fault: Fault, at: str
) -> None:
    """C6: nothing that was sent is lost."""
    blocked.replace("A", 2, MENDED)
    blocked.gate.arm(fault, at=at)

    work_and_die(blocked)

    assert (blocked.gate.hits, blocked.applied()) == (1, [1, 2, 3])
    assert blocked.reasons() == ["sequence: replaced by ann: corrected"]


@pytest.mark.parametrize("after", range(4))
@pytest.mark.parametrize("at", ["Rejects.keep", "Lanes.save"])
@TIMES_OF_DEATH
def test_what_came_behind_the_end_becomes_a_reject_though_the_consumer_dies(after: int, fault: Fault, at: str) -> None:
    """C5."""
    world, events = ConvoyWorld(), order("A", 5)
    world.run(events[0], events[3], events[4])
    arrive(world, {**events[2], "end": True}, events[1], ledger_id="L9")
    world.gate.arm(fault, after, at=at)

    work_and_die(world)

    assert (world.applied(), world.lane().end, world.lane().highest) == ([1, 2, 3], 3, 3)
    assert world.reasons() == ["sequence: the order was ended at 3; nothing comes after it"] * 2


def test_an_unsequenced_event_whose_position_another_holds_becomes_a_reject_though_the_consumer_dies() -> None:
    """C6: it was replaced by one for which another had come."""
    world = ConvoyWorld()
    world.run(*order("A", 2), entry("A", None, "add"))
    world.replace("A", -1, entry("A", 2, "add", amount="9.00"))
    world.gate.arm(Fault.DIES_BEFORE, at="Rejects.keep")

    work_and_die(world)

    assert world.reasons() == ["sequence: 2 came before with other content"]
    assert (world.applied(), world.lane().blocked) == ([1, 2], None)


def test_a_replacement_that_comes_again_after_many_commands_loses_neither_event() -> None:
    """C3: the lane knows its newest commands only, so an older one may replace an event again."""
    world = ConvoyWorld()
    world.run(*order("A", 1), entry("A", 2, "delete"), entry("A", 3, "add", amount="3.00"))
    world.replace("A", 3, entry("A", 3, "add", amount="4.00"))
    command = world.events.receive()
    world.work(command)
    for _ in range(MOST_DONE):
        world.retry("A")
    world.run()

    world.work(command)

    bodies = [reject.body for reject in world.rejects.newest(9)]
    assert ["3.00" in bodies[1], "4.00" in bodies[0], len(bodies)] == [True, True, 2]


def test_an_event_that_was_replaced_is_kept_though_another_one_is_replaced_before_the_command_comes_again() -> None:
    """C6: each command has a row for what it rejected."""
    world = poisoned(2, 3)
    world.replace("A", 2, MENDED)
    world.replace("A", 3, entry("A", 3, "add", amount="3.00"))
    first, second = world.events.receive()
    world.gate.arm(Fault.DIES_BEFORE, at="Rejects.keep")
    with pytest.raises(Died):
        world.work([first])
    world.gate.calm()
    world.work([second])

    world.work([first])

    assert sorted(json.loads(reject.body)["sequence"] for reject in world.rejects.newest(9)) == [2, 3]


def test_a_later_command_does_not_reject_again_what_an_earlier_one_has(blocked: ConvoyWorld) -> None:
    blocked.replace("A", 2, MENDED)
    blocked.run()
    blocked.run({**entry("A", 4, "add"), "op": "remove"})

    blocked.skip("A", 4, asked="once")
    blocked.skip("A", 4, asked="once")
    blocked.run()

    assert blocked.reasons() == ["sequence: replaced by ann: corrected"]


UNKNOWN = {
    "notificationType": "Message",
    "resource": {"typeId": "order", "id": "A"},
    "sequenceNumber": 2,
    "type": "OrderEditApplied",
    "note": "\u00fc" * 3_000,
}
LONG = "x" * 5_000
BAD = [
    '{"orderId":"A","sequence":2,"op":"add","amount":"2.00","x":NaN}',
    f'{{"orderId":"A","sequence":2,"op":"add","amount":"2.00","text":"{LONG}","x":1e999}}',
    '{"orderId":"A","sequence":2,"op":"add","amount":"2.00","x":1,"x":2}',
    json.dumps(UNKNOWN),
]


def the_reject(world: ConvoyWorld) -> str:
    """The body that is kept when an operator has replaced the event that blocks the lane."""
    world.replace("A", 2, MENDED)
    world.run()
    (reject,) = world.rejects.kept.values()
    return reject.body


@pytest.mark.parametrize("text", BAD)
def test_an_event_that_came_directly_is_kept_as_its_sender_wrote_it(text: str) -> None:
    """K5: so it can be mended, and sent again as it is."""
    world = ConvoyWorld(sources=[numbered_notice], schema=ShopEvent)
    world.run(order("A", 1)[0])
    for _ in range(2):
        world.events.send(text, group="A", deduplication=f"d-{next(world.names)}")
    world.run()

    assert the_reject(world) == text


@pytest.mark.parametrize("text", BAD)
def test_an_entry_is_kept_as_its_ledger_had_it(text: str) -> None:
    """K5: what was no JSON value is named in its place."""
    world = ConvoyWorld(sources=[numbered_notice], schema=ShopEvent)
    world.objects.objects["a"] = "\n".join([json.dumps(order("A", 1)[0]), text]).encode()
    world.ledgers.send('{"ledgerId":"L","customerId":"c1","objectKey":"a"}', group="c1", deduplication="L")
    world.run()

    kept = the_reject(world)

    assert json.loads(kept).items() >= {k: v for k, v in json.loads(text).items() if k != "x"}.items()
    assert "Fault" not in kept
    assert "stepward" not in kept


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ('{"op":"add","amount":1.50}', '{"amount":1.5,"op":"add"}'),
        ('{"op":"add","x":NaN}', '{"op":"add","x":"(is NaN, which is not a JSON number)"}'),
        ('["a",1.0]', '["a",1]'),
        ('"text"', '"text"'),
    ],
)
def test_an_entry_of_no_order_is_kept_as_json(raw: str, kept: str) -> None:
    """K5: and no name of the code stands in it."""
    world = ConvoyWorld()
    text = f'{{"ledgerId":"L","customerId":"c1","entries":[{raw}]}}'
    world.ledgers.send(text, group="c1", deduplication="L")
    world.run()
    assert [reject.body for reject in world.rejects.kept.values()] == [kept]


FIELDS = [
    {"invalid": "x: y"},
    {"begins": "x", "fault": "y", "skipped": "z"},
    {"type": "convoy.skip", "position": 1, "who": "eve", "why": "free goods", "commandId": "c"},
    {"type": "order.cancelled", "version": 7},
    {"stepward:invalid": "x: y", "stepward:text": "z"},
]


@pytest.mark.parametrize("more", FIELDS)
def test_no_field_of_an_entry_has_a_meaning_of_ours(more: dict[str, object]) -> None:
    """K5: a ledger's sender writes data, never a command and never a fault."""
    world = ConvoyWorld()
    first, second = order("A", 2)
    world.run({**first, **more}, {**second, **more})
    assert (world.applied(), world.reasons()) == ([1, 2], [])


@pytest.mark.parametrize("more", [FIELDS[0], FIELDS[1], FIELDS[3]])
def test_no_field_of_a_direct_event_has_one_either(more: dict[str, object]) -> None:
    """K5: commands are an operator's, who may send to that queue."""
    world = ConvoyWorld()
    for event in order("A", 2):
        world.events.send(json.dumps({**event, **more}), group="A", deduplication=f"d-{next(world.names)}")
    world.run()
    assert (world.applied(), world.reasons()) == ([1, 2], [])
