"""How often the text of an event is read, and by whose idea of what is valid."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from stepward.adapters.sqs.delivery import lane_messages
from stepward.app.convoy.history import balance
from stepward.domain.convoy.lane_message import LaneMessage
from stepward.domain.errors import Rejected
from stepward.testing.memory.queues import send
from stepward.wire import strict_json
from stepward.wire.order_event import EventMessage
from tests.lab.convoy.world import TODAY, ConvoyWorld, order
from tests.unit.convoy.lanes import arrive


class Priced(EventMessage, frozen=True, kw_only=True):
    """An event of a deployment in which every add has an amount."""

    amount: str | None = None

    def __post_init__(self) -> None:
        if self.op == "add" and self.amount is None:
            raise Rejected("amount", "is missing")


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that is parsed from here on."""
    texts: list[str] = []
    load = strict_json._load

    def counting(text: str) -> object:
        texts.append(text)
        return load(text)

    monkeypatch.setattr(strict_json, "_load", counting)
    return texts


def together(world: ConvoyWorld, entries: list[dict[str, Any]]) -> Iterator[Callable[[], None]]:
    arrive(world, *entries)
    yield world.run


def one_by_one(world: ConvoyWorld, entries: list[dict[str, Any]]) -> Iterator[Callable[[], None]]:
    for number, each in enumerate(entries):
        arrive(world, each, ledger_id=f"L{number}")
        yield world.run


@pytest.mark.parametrize("way", [together, one_by_one])
def test_three_events_are_parsed_three_times_in_all(parsed: list[str], way: Any) -> None:
    """The create becomes an order without being read again, and no event is read again in its lane."""
    world = ConvoyWorld()
    counted = 0

    for work in way(world, order("A", 3)):
        before = len(parsed)
        work()
        counted += len(parsed) - before

    assert (world.applied(), "A" in world.store.orders) == ([1, 2, 3], True)
    assert counted == 3


def test_an_order_reads_as_the_text_of_its_event_does() -> None:
    """C6: whether its create waits in the lane or not, 2.0 is 2."""
    at_once, waits = ConvoyWorld(), ConvoyWorld()
    for world, sequence in ((at_once, 1), (waits, 2)):
        create = f'{{"orderId": "A", "op": "create", "sequence": {sequence}, "submittedAt": "{TODAY}"'
        text = create + ', "version": 2.0, "rates": [1.50, {"of": 1e2}]}'
        send(world.events, lane_messages([LaneMessage("A", "L/0", text)]))
        world.run()
    waits.skip("A", 1)
    waits.run()

    order_text = at_once.store.orders["A"].body
    assert order_text == waits.store.orders["A"].body
    assert '"rates":[1.5,{"of":100}],' in order_text
    assert order_text.endswith('"version":2}')


@pytest.mark.parametrize("waits", [True, False], ids=["behind a gap", "in the way"])
def test_an_event_is_judged_by_what_is_deployed_when_its_turn_comes(*, waits: bool) -> None:
    """C6: a fault that another deployment removes needs no new event."""
    world, events = ConvoyWorld(schema=Priced), order("A", 3)
    unpriced = {name: value for name, value in events[1].items() if name != "amount"}
    if waits:
        world.run(events[0], {**events[2], "amount": None})
    else:
        world.run(events[0], unpriced, events[2])

    world.schema = EventMessage
    if waits:
        world.run(events[1])
    else:
        world.retry("A")
        world.run()

    assert (world.applied(), world.lane().blocked) == ([1, 2, 3], None)
    assert [stored.event.fault for stored in world.history()] == ["", "", ""]
    assert sorted(balance(world.lanes, world.lane()).additions) == [2, 3]
