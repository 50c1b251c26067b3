"""C6: a bad event means the same whether it comes directly or in a ledger: it blocks its order's lane."""

import json
from typing import Any

import pytest

from stepward.domain.convoy.commands import RetryLane
from stepward.domain.convoy.lane import LaneRules
from stepward.wire.convoy import encode_command
from tests.lab.convoy.record import held
from tests.lab.convoy.world import TODAY, ConvoyWorld
from tests.sample import ShopEvent
from tests.unit.convoy.lanes import blocked

GOOD = '{"orderId":"A","op":"add","amount":"1.00","x":1}'
BAD = {
    "not a number": GOOD.replace("1}", "NaN}"),
    "a key twice": GOOD.replace('"x"', '"op"'),
    "39 digits": GOOD.replace("1}", "1" * 39 + "}"),
    "NUL": GOOD.replace("1}", '"\\u0000"}'),
    "half a surrogate pair": GOOD.replace("1}", '"\\ud800"}'),
    "40 levels": GOOD.replace("1}", "[" * 40 + "]" * 40 + "}"),
    "far too many levels": GOOD.replace("1}", "[" * 100_000),
    "cut off": GOOD[:40],
    "a wrong type": GOOD.replace('"1.00"', "1"),
    "an amount that its currency cannot express": GOOD.replace('"1.00"', '"1.5","currency":"JPY"'),
}


def world(*, numbered: bool) -> ConvoyWorld:
    return ConvoyWorld(rules=LaneRules(sequenced=numbered), schema=ShopEvent)


def texts(bad: str, *, numbered: bool, brought: bool) -> list[str]:
    """A create, the bad event, and the last event."""
    create = {"orderId": "A", "op": "create", "submittedAt": TODAY}
    events = [json.dumps(create), bad, json.dumps(json.loads(GOOD) | {"end": True})]
    found = []
    for number, event in enumerate(events, 1):
        key: dict[str, Any] = {"n": 0} | ({"sequence": number} if numbered else {})
        key |= {"ledgerId": "L", "customerId": "c1", "index": number - 1} if brought else {}
        found.append(event.replace("{", f"{json.dumps(key)[:-1]}, ", 1))
    return found


def directly(found: ConvoyWorld, *bodies: str, group: str = "A", again: int = 1) -> ConvoyWorld:
    for _ in range(again):
        for body in bodies:
            found.events.send(body, group=group, deduplication=f"d-{next(found.names)}")
    found.run()
    return found


def by_ledger(found: ConvoyWorld, *bodies: str) -> ConvoyWorld:
    found.objects.objects["a"] = "\n".join(bodies).encode()
    text = json.dumps({"ledgerId": "L", "customerId": "c1", "objectKey": "a"})
    found.ledgers.send(text, group="c1", deduplication="L")
    found.run()
    return found


@pytest.mark.parametrize("numbered", [True, False], ids=["numbered", "without numbers"])
@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_bad_event_blocks_its_lane_at_both_doors(bad: str, *, numbered: bool) -> None:
    """Case 11: sent twice, it is one event; nothing is rejected, and nothing is applied over it."""
    bodies = texts(bad, numbered=numbered, brought=True)

    direct = directly(world(numbered=numbered), *bodies, again=2)
    split = by_ledger(world(numbered=numbered), *texts(bad, numbered=numbered, brought=False))

    assert direct.applied("A") == split.applied("A") == [1]
    # A text that is no JSON has no position, and a fault at another column.
    if bad.endswith("}"):
        assert blocked(direct) == blocked(split)
    assert blocked(direct)[1]
    assert direct.reasons() == split.reasons() == []

    before = direct.lane().unsequenced
    direct.retry("A")
    directly(direct, bodies[1])
    assert (direct.applied("A"), direct.lane().unsequenced) == ([1], before)


@pytest.mark.parametrize("bad", [*BAD.values(), "hello", "[]", '{"orderId": 5, "op": "add"}', ""])
def test_a_bad_event_that_names_no_order_blocks_the_lane_of_its_group(bad: str) -> None:
    nameless = bad.replace('"orderId":"A"', '"orderNo":"A"') or " "

    found = directly(world(numbered=True), texts(GOOD, numbered=True, brought=False)[0], nameless)

    assert found.applied("A") == [1]
    assert blocked(found)[1]


def test_what_neither_text_nor_group_names_stays_a_reject() -> None:
    found = directly(world(numbered=True), "hello", group="shop/7")

    assert (found.lanes.lanes, len(found.reasons())) == ({}, 1)


@pytest.mark.parametrize("numbered", [True, False], ids=["numbered", "without numbers"])
def test_an_event_in_a_foreign_group_blocks_its_own_lane_and_no_other(*, numbered: bool) -> None:
    """Case 12: only its own group keeps it in sequence. It is kept whole, so that an operator can give it again."""
    first, stray, last = texts(GOOD, numbered=numbered, brought=True)
    found = directly(directly(world(numbered=numbered), first), stray, group="B", again=2)
    directly(found, last)

    assert (found.applied("A"), "B" in found.lanes.lanes) == ([1], False)
    position, reason = blocked(found)
    assert reason == "messageGroupId: is 'B'; what is for order A belongs to the group 'A'"
    kept = held(found.lanes, found.lane())[position].event.body
    assert json.loads(kept).items() > json.loads(stray).items()

    found.retry("A")
    found.run()
    assert (found.applied("A"), blocked(found)[0]) == ([1], position)

    found.replace("A", position, json.loads(stray))
    found.run()
    assert found.applied("A") == [1, 2, 3]


def test_a_command_in_a_foreign_group_is_a_reject() -> None:
    """There it would not wait for the events before it."""
    body: Any = encode_command(RetryLane("A", "ann", "mended", "a-1"))

    found = directly(world(numbered=True), body, group="B")

    assert found.reasons() == ["messageGroupId: is 'B'; what is for order A belongs to the group 'A'"]
