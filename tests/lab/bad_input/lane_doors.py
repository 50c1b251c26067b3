"""The doors of the lanes: order events, and what operators ask."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from orders.messages import OrderEvent, OrderSubmitted
from orders.shops.sources import SOURCES
from stepward.app.intake import Received
from stepward.domain.convoy.commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.convoy.lane import LaneRules
from stepward.domain.errors import StepwardError
from stepward.domain.history import HistoryKind
from stepward.wire.checked_text import cleaned
from stepward.wire.convoy import encode_command
from stepward.wire.order_event import stored_event
from tests.factories import MINUTE
from tests.lab.bad_input.doors import Door, Seen
from tests.lab.convoy.record import RecordedLanes
from tests.lab.convoy.world import ConvoyWorld, entry

FIELD_CASES = Path(__file__).parents[2] / "field_cases"
ITEM = {"sku": "SKU-1", "qty": 2, "unitPrice": "12.30"}
GOODS = {"currency": "EUR", "items": [ITEM]}
NEIGHBOUR = "neighbour-1"
ORDER = "ord-1"
BROUGHT = {"ledgerId": "L-1", "index": 4, "customerId": "c1"}
"""What a ledger adds to its entries."""
CORRECTED = json.dumps(entry(ORDER, 2, "add", item=ITEM))
RETRY = RetryLane(ORDER, "ann", "mended", "a-1")
TAKEN = frozenset(HistoryKind) - {HistoryKind.REJECTED}


def create(order_id: str, **content: Any) -> dict[str, Any]:
    return entry(order_id, 1, "create", **GOODS, **content)


def shop(rules: LaneRules | None = None) -> ConvoyWorld:
    """The convoy of the sample application, whose lanes judge every change of theirs."""
    world = ConvoyWorld(sources=SOURCES, schema=OrderEvent, order_schema=OrderSubmitted, rules=rules or LaneRules())
    world.lanes = RecordedLanes(rules=world.rules)
    return world


def _door(world: ConvoyWorld, good: str, *, quiet: bool = False, sent: Callable[[str], str] = str) -> Door:
    """Where order events and commands come in: everything goes into one batch of one group; `sent` is made of it."""

    def pass_in(text: str) -> Seen:
        return seen(world, partial(taken, world, sent(text), json.dumps(create(NEIGHBOUR))))

    def worked() -> bool:
        return NEIGHBOUR in world.store.tasks and world.applied(NEIGHBOUR) == [1]

    return Door(good, pass_in, worked, quiet=quiet)


def taken(world: ConvoyWorld, *texts: str) -> None:
    """Have the lanes take the messages, all in one group."""
    for _ in world.convoy().take([received(number, text) for number, text in enumerate(texts)], lambda: MINUTE):
        pass


def later_events() -> Door:
    """What changes an order that is there, while something waits behind a gap."""
    world = shop()
    taken(world, *map(json.dumps, [create(ORDER), entry(ORDER, 2, "add", item=ITEM), entry(ORDER, 5, "delete")]))
    return _door(world, json.dumps({**entry(ORDER, 3, "modify", modifies=2, item=ITEM), **BROUGHT}))


def unnumbered_events() -> Door:
    unnumbered = {name: value for name, value in create(ORDER).items() if name != "sequence"}
    return _door(shop(LaneRules(sequenced=False)), json.dumps({**unnumbered, **BROUGHT}))


def case(name: str) -> Any:
    return json.loads((FIELD_CASES / f"{name}.json").read_text())


def webhook() -> str:
    return json.dumps(case("vendor_shopify_like")["deliveries"][1])


def _blocked() -> ConvoyWorld:
    """A lane that is blocked at its second event."""
    world = shop()
    taken(world, *map(json.dumps, [create(ORDER), entry(ORDER, 2, "modify", modifies=7), entry(ORDER, 3, "delete")]))
    return world


def commanded(command: LaneCommand) -> Door:
    return _door(_blocked(), encode_command(command), quiet=True)


def corrections() -> Door:
    """The event that an operator gives in place of the one that blocks the lane."""

    def sent(text: str) -> str:
        return encode_command(ReplaceEvent(ORDER, 2, cleaned(text, len(text)), "ann", "why", "a-1"))

    return _door(_blocked(), CORRECTED, quiet=True, sent=sent)


def seen(world: ConvoyWorld, handle: Callable[[], None]) -> Seen:
    """What `handle` makes of a message, in a world where only the neighbour's is another."""
    before, history = set(world.rejects.kept), len(world.telemetry.history)
    try:
        handle()
    except StepwardError as error:
        return Seen((), 0, f"it comes again and again: {error!r}")
    rejects = tuple(world.rejects.kept[key] for key in world.rejects.kept.keys() - before)
    entries = [entry for order_id, entry in world.telemetry.history[history:] if order_id != NEIGHBOUR]
    return Seen(rejects, sum(entry.kind in TAKEN for entry in entries), "; ".join(_faults(world)))


def _faults(world: ConvoyWorld) -> Iterator[str]:
    """What no lane may ever be, whatever came in."""
    assert isinstance(world.lanes, RecordedLanes)
    yield from world.lanes.faults
    if world.events.bodies:
        yield f"left in the queue: {world.events.bodies}"
    for order_id, lane in world.lanes.lanes.items():
        if lane.blocked and not lane.blocked.reason.strip():
            yield f"{order_id} is blocked without a reason"
        for event in (stored.event for stored in [*lane.recent, *world.lanes.kept.get(order_id, {}).values()]):
            # The store holds an event's text only: another process must read the same event from it.
            read = stored_event(event.body, world.schema)
            same_fault = bool(read.fault) == bool(event.fault)  # its words may name a number as it was written
            if replace(read, fault=event.fault) != event or not same_fault or event.order_id != order_id:
                yield f"{order_id} stores what reads otherwise: {event}, {read}"


def received(number: int, text: str) -> Received:
    return Received(f"message-{number}", "a queue", 1_767_225_600_000, text)


LANE_DOORS: Mapping[str, Callable[[], Door]] = {
    "events": lambda: _door(shop(), json.dumps(create(ORDER, end=True, asOf="2026-01-01T00:00:00Z"))),
    "later events": later_events,
    "events without numbers": unnumbered_events,
    "webhooks": lambda: _door(shop(), webhook()),
    "numbered messages": lambda: _door(shop(), json.dumps(case("vendor_commercetools_like")["messages"][1])),
    "retries": partial(commanded, RETRY),
    "skips": partial(commanded, SkipEvent(ORDER, 2, "ann", "not needed", "a-1")),
    "replacements": partial(commanded, ReplaceEvent(ORDER, 2, CORRECTED, "ann", "corrected", "a-1")),
    "corrections": corrections,
}
