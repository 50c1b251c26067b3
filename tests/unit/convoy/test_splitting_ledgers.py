"""Ledgers are walked entry by entry into the lanes of their orders, whatever dies on the way."""

import json
from contextlib import suppress
from typing import Any

import pytest

from stepward.app.ledger.split import TIME_TO_FINISH
from stepward.domain.convoy.lane import LaneRules
from stepward.domain.errors import Conflict, Rejected, RetryLater, Transient
from stepward.domain.history import HistoryKind
from stepward.testing.faults.record import Died
from stepward.wire.ledger import LONGEST_LINE
from tests.factories import MINUTE
from tests.lab.convoy.gate import Fault
from tests.lab.convoy.world import ConvoyWorld, entry, order
from tests.unit.convoy.lanes import blocked

BIG = "c1/big.jsonl"


@pytest.fixture
def world() -> ConvoyWorld:
    return ConvoyWorld()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is noted after every three entries."""
    monkeypatch.setattr("stepward.app.ledger.split.CHUNK", 3)


def split(world: ConvoyWorld, text: str, left: int = 10 * MINUTE, customer: str = "") -> None:
    """A ledger is split, with so many milliseconds left."""
    world.split(customer).handle(text, lambda: left)


def lines(*events: Any) -> bytes:
    return "\n".join(event if isinstance(event, str) else json.dumps(event) for event in events).encode()


def in_object(key: str = BIG, ledger_id: str = "L1") -> str:
    return json.dumps({"ledgerId": ledger_id, "customerId": "c1", "objectKey": key})


def bodies(world: ConvoyWorld) -> list[tuple[str, int]]:
    return [(found["orderId"], found["index"]) for found in map(json.loads, world.events.bodies)]


def test_each_entry_goes_to_the_group_of_its_order(world: ConvoyWorld) -> None:
    """C3: in the order of the ledger."""
    split(world, world.ledger("L1", *order("A", 2), entry("B", 1, "create")))

    received = world.events.receive()

    assert [message.attributes["MessageGroupId"] for message in received] == ["A", "A", "B"]
    assert bodies(world) == [("A", 0), ("A", 1), ("B", 2)]
    assert world.shared_records.kept["ledger/c1|L1"].body["done"]


def test_a_ledger_that_is_done_is_a_duplicate_when_it_comes_again(world: ConvoyWorld) -> None:
    """C3: progress is stored, also beyond the five minutes for which the queue knows its messages."""
    world.run(*order("A", 2))
    world.clock.now += 6 * MINUTE

    world.ledger("L1", *order("A", 2), again=True)
    world.walk(world.ledgers.receive(1))

    assert not world.events.bodies
    assert world.telemetry.count(HistoryKind.DUPLICATE) == 1


def test_no_two_ledgers_share_their_progress(world: ConvoyWorld) -> None:
    """A customer's id may hold a `/`, and so may a ledger's."""
    split(world, world.ledger("b/c", *order("A", 2), customer="a"))
    split(world, world.ledger("c", *order("B", 2), customer="a/b"))

    assert bodies(world) == [("A", 0), ("A", 1), ("B", 0), ("B", 1)]


def test_another_ledger_under_a_known_name_is_refused_and_kept(world: ConvoyWorld) -> None:
    world.run(*order("A", 2))

    world.ledger("L1", *order("A", 3), again=True)
    world.run()

    assert world.reasons() == ["ledgerId: 'L1' was sent before with other content"]


def test_the_ledgers_of_two_customers_may_have_one_name(world: ConvoyWorld) -> None:
    """C7."""
    world.ledger("L1", *order("A", 2), customer="c1")
    world.ledger("L1", *order("B", 2), customer="c2")
    world.run()
    assert (world.applied("A"), world.applied("B")) == ([1, 2], [1, 2])


def test_a_customers_own_processor_takes_no_other_ledgers(world: ConvoyWorld) -> None:
    """C7: a lane of its own, by configuration."""
    text = world.ledger("L1", *order("A", 2), customer="c2")
    with pytest.raises(Rejected, match="customerId: is 'c2'; only 'c1' has its ledgers here"):
        split(world, text, customer="c1")


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("fault", [Fault.DIES_BEFORE, Fault.DIES_AFTER, Fault.FAILS, Fault.ANSWER_LOST])
@pytest.mark.parametrize("after", range(8))
def test_a_crash_anywhere_loses_nothing_and_doubles_nothing(world: ConvoyWorld, after: int, fault: Fault) -> None:
    """C3: after the deduplication window, too."""
    world.ledger("L1", None, *order("A", 4), *order("B", 4, end=True))
    world.gate.arm(fault, after)
    with suppress(Died):
        world.walk(world.ledgers.receive(1))
    world.gate.calm()
    world.clock.now += 6 * MINUTE
    world.run()

    assert (world.applied("A"), world.applied("B")) == ([1, 2, 3, 4], [1, 2, 3, 4])
    assert world.reasons() == ["entries[0]: is not an object"]


@pytest.mark.usefixtures("small")
def test_a_ledger_goes_on_where_it_was_left(world: ConvoyWorld) -> None:
    """C3: what is noted is not sent again."""
    text = world.ledger("L1", *order("A", 7))

    with pytest.raises(RetryLater) as retry_later:
        split(world, text, TIME_TO_FINISH - 1)
    assert retry_later.value.seconds == 0
    assert bodies(world) == [("A", 0), ("A", 1), ("A", 2)]
    world.clock.now += 6 * MINUTE
    split(world, text)

    assert bodies(world) == [("A", index) for index in range(7)]


@pytest.mark.usefixtures("small")
def test_two_processors_of_one_ledger_do_not_both_note_their_progress(world: ConvoyWorld) -> None:
    text = world.ledger("L1", *order("A", 7))
    world.gate.arm(Fault.SUPERSEDED, somebody=lambda: split(world, text), at="SharedRecords.write")

    with pytest.raises(Conflict):
        split(world, text)
    world.run()

    assert world.applied() == list(range(1, 8))


def test_an_entry_that_is_not_taken_holds_back_its_own_order_only(world: ConvoyWorld) -> None:
    """C3: convoy_send_batch_partial; no later entry of the order is sent before it."""
    a, b = order("A", 3), order("B", 2)
    text = world.ledger("L1", a[0], b[0], a[1], a[2], b[1])
    world.events.faults = lambda sent: "InternalError" if json.loads(sent.body)["index"] == 2 else ""

    with pytest.raises(Transient, match="1 of 5 messages were not taken"):
        split(world, text)
    sent = bodies(world)
    world.events.faults = lambda _: ""
    world.clock.now += 6 * MINUTE
    world.run()

    assert [index for order_id, index in sent if order_id == "B"] == [1, 4]
    assert (world.applied("A"), world.applied("B")) == ([1, 2, 3], [1, 2])


def test_an_entry_without_a_number_is_never_passed_within_one_call() -> None:
    """C1, C3: SQS may take the later one of two entries in a call; without numbers nobody would know."""
    world = ConvoyWorld(rules=LaneRules(sequenced=False))
    adds = [entry("A", None, "add", amount=f"{number}.00") for number in (1, 2)]
    world.ledger("L1", entry("A", None, "create"), *adds)
    world.events.faults = lambda sent: "InternalError" if json.loads(sent.body)["index"] == 1 else ""
    world.walk(world.ledgers.receive(1))
    sent = bodies(world)
    world.events.faults = lambda _: ""
    world.clock.now += MINUTE
    world.run()

    assert sent == [("A", 0)]
    assert [json.loads(stored.event.body).get("amount") for stored in world.history()] == [None, "1.00", "2.00"]


def test_an_entry_without_an_order_is_kept_with_field_and_reason_and_stops_nobody(world: ConvoyWorld) -> None:
    """C2."""
    world.run({"op": "add"}, 7, {"orderId": "a b", "op": "add"}, *order("A", 2))

    assert world.applied() == [1, 2]
    assert [reason.partition(":")[0] for reason in sorted(world.reasons())] == ["entries[1]", "orderId", "orderId"]
    assert {reject.source for reject in world.rejects.kept.values()} == {"ledger of c1"}


def test_a_long_entry_without_an_order_is_kept_whole(world: ConvoyWorld) -> None:
    """S18: it can be mended, and sent again."""
    long = {"note": "x" * 400_000, "op": "add"}
    world.run(long)

    (reject,) = world.rejects.kept.values()
    assert json.loads(reject.body) == long


def test_an_entry_that_cannot_be_kept_as_it_is_stops_its_order(world: ConvoyWorld) -> None:
    """C6: it must not vanish."""
    text = '{"ledgerId":"L1","customerId":"c1","entries":[{"orderId":"A","sequence":1,"op":"create","total":NaN}]}'
    world.ledgers.send(text, group="c1", deduplication="1")

    world.run()

    assert blocked(world) == (1, "total: is NaN, which is not a JSON number")


def test_a_ledger_without_entries_or_object_or_with_both_is_refused(world: ConvoyWorld) -> None:
    for more in ({}, {"entries": [1], "objectKey": "c1/a"}):
        with pytest.raises(Rejected, match="entries: is needed, or objectKey in its place"):
            split(world, json.dumps({"ledgerId": "L", "customerId": "c1", **more}))


@pytest.mark.parametrize("key", ["/etc/passwd", "a\nb", "", "x" * 513, "ü"])
def test_the_key_of_an_object_is_checked(world: ConvoyWorld, key: str) -> None:
    with pytest.raises(Rejected, match="objectKey"):
        split(world, in_object(key))


def test_a_ledger_in_an_object_is_walked_line_by_line(world: ConvoyWorld) -> None:
    """C2: empty lines are nothing, a line that is not JSON stops its order if it names one."""
    create, add = order("A", 2)
    world.objects.objects[BIG] = lines(create, "", '{"orderId": "B", ', "no", add, "")

    split(world, in_object())
    world.run()

    assert world.applied("A") == [1, 2]
    assert world.lane("B").unsequenced == (-1,)
    assert [reason.partition(":")[0] for reason in world.reasons()] == ["(body)"]


def test_a_line_that_is_too_long_is_refused_and_the_next_one_goes_on(world: ConvoyWorld) -> None:
    create, add = order("A", 2)
    world.objects.objects[BIG] = lines(create, "x" * (LONGEST_LINE + 9), add)

    split(world, in_object())
    world.run()

    assert world.applied() == [1, 2]
    assert world.reasons() == [f"(body): line 2 is {LONGEST_LINE + 10:,} bytes; the limit is {LONGEST_LINE:,}"]


@pytest.mark.usefixtures("small")
def test_an_object_that_changes_on_the_way_is_refused(world: ConvoyWorld) -> None:
    """C3: what is left of it belongs to another ledger."""
    world.objects.objects[BIG] = lines(*order("A", 7))
    with pytest.raises(RetryLater):
        split(world, in_object(), 0)
    world.objects.objects[BIG] = lines(*reversed(order("A", 7)))

    with pytest.raises(Rejected, match="has changed since the ledger was begun"):
        split(world, in_object())


def test_another_object_under_the_key_of_a_ledger_that_is_done_is_no_duplicate(world: ConvoyWorld) -> None:
    """C3: it would be lost, and nobody would know."""
    world.objects.objects[BIG] = lines(*order("A", 1))
    split(world, in_object())
    split(world, in_object())
    world.objects.objects[BIG] = lines(*order("A", 2))

    with pytest.raises(Rejected, match="has changed since the ledger was begun"):
        split(world, in_object())


def test_an_object_that_is_not_there_is_refused(world: ConvoyWorld) -> None:
    """body_extended_client_pointer: a missing object is no hot loop."""
    with pytest.raises(Rejected, match="objectKey: there is no object"):
        split(world, in_object())
