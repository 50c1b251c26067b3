"""The doors of the lanes: order events, and what operators ask."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from orders.messages import OrderEvent, OrderSubmitted
from orders.shops.sources import SOURCES
from stepward.app.intake import Received
from stepward.domain.convoy.commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.convoy.event import StoredEvent
from stepward.domain.convoy.lane import LaneRules
from stepward.domain.errors import StepwardError
from stepward.domain.history import HistoryKind
from stepward.wire.checked_text import cleaned
from stepward.wire.convoy import encode_command
from stepward.wire.order_event import stored_event
from tests.factories import MINUTE
from tests.lab.bad_input.seen import Seen
from tests.lab.convoy.record import RecordedLanes
from tests.lab.convoy.world import ConvoyWorld, entry

FIELD_CASES = Path(__file__).parents[2] / "field_cases"
ITEM = {"sku": "SKU-1", "qty": 2, "unitPrice": "12.30"}
GOODS = {"currency": "EUR", "items": [ITEM]}
NEIGHBOUR = "neighbour-1"
ORDER = "ord-1"
TAKEN = frozenset(HistoryKind) - {HistoryKind.REJECTED}


def create(order_id: str, **content: Any) -> dict[str, Any]:
    """The event that creates an order of this shop."""
    return entry(order_id, 1, "create", **GOODS, **content)


def shop(rules: LaneRules | None = None) -> ConvoyWorld:
    """The convoy of the sample application, whose lanes judge every change of theirs."""
    world = ConvoyWorld(sources=SOURCES, schema=OrderEvent, order_schema=OrderSubmitted, rules=rules or LaneRules())
    world.lanes = RecordedLanes(rules=world.rules)
    return world


@dataclass(slots=True)
class LaneDoor:
    """Where order events and commands come in: everything goes into one batch of one group."""

    world: ConvoyWorld
    good: str
    quiet: bool = False
    whole: bool = False

    def pass_in(self, text: str) -> Seen:
        """See the protocol."""
        return seen(self.world, partial(taken, self.world, text, json.dumps(create(NEIGHBOUR))))

    def worked(self) -> bool:
        """See the protocol."""
        return NEIGHBOUR in self.world.store.tasks and self.world.applied(NEIGHBOUR) == [1]


def taken(world: ConvoyWorld, *texts: str) -> None:
    """Have the lanes take the messages, all in one group."""
    for _ in world.convoy().take([received(number, text) for number, text in enumerate(texts)], lambda: MINUTE):
        pass


def events() -> LaneDoor:
    """Creates, sent without a ledger."""
    return LaneDoor(shop(), json.dumps(create(ORDER, end=True, asOf="2026-01-01T00:00:00Z")))


def later_events() -> LaneDoor:
    """What changes an order that is there, while something waits behind a gap."""
    world = shop()
    taken(world, *map(json.dumps, [create(ORDER), entry(ORDER, 2, "add", item=ITEM), entry(ORDER, 5, "delete")]))
    change = entry(ORDER, 3, "modify", modifies=2, item=ITEM)
    return LaneDoor(world, json.dumps({**change, "ledgerId": "L-1", "index": 4, "customerId": "c1"}))


def unnumbered_events() -> LaneDoor:
    """What belongs to an order whose events have no numbers."""
    create_without = {name: value for name, value in create(ORDER).items() if name != "sequence"}
    return LaneDoor(
        shop(LaneRules(sequenced=False)),
        json.dumps({**create_without, "ledgerId": "L-1", "index": 4, "customerId": "c1"}),
    )


def webhooks() -> LaneDoor:
    """What a shop's webhook says."""
    return LaneDoor(shop(), webhook())


def webhook() -> str:
    """A delivery of the shop's webhook."""
    found = json.loads((FIELD_CASES / "vendor_shopify_like.json").read_text())
    return json.dumps(found["deliveries"][1])


def numbered_messages() -> LaneDoor:
    """What another shop numbers itself."""
    found = json.loads((FIELD_CASES / "vendor_commercetools_like.json").read_text())
    return LaneDoor(shop(), json.dumps(found["messages"][1]))


def retries() -> LaneDoor:
    """An operator's wish to try again what stops a lane."""
    return _asked(RetryLane(ORDER, "ann", "mended", "a-1"))


def skips() -> LaneDoor:
    """An operator's wish to go on without an event."""
    return _asked(SkipEvent(ORDER, 2, "ann", "not needed", "a-1"))


def replacements() -> LaneDoor:
    """A corrected event from an operator."""
    return _asked(ReplaceEvent(ORDER, 2, json.dumps(entry(ORDER, 2, "add", item=ITEM)), "ann", "corrected", "a-1"))


def corrections() -> LaneDoor:
    """The event inside of what an operator sends."""
    door = _asked(RetryLane(ORDER, "ann", "mended", "a-1"))
    return Corrected(door.world, json.dumps(entry(ORDER, 2, "add", item=ITEM)), quiet=True)


@dataclass(slots=True)
class Corrected(LaneDoor):
    """Takes the text as the event that an operator gives in place of the one that stops the lane."""

    def pass_in(self, text: str) -> Seen:
        """See the protocol."""
        carried = cleaned(text, len(text))
        return LaneDoor.pass_in(self, encode_command(ReplaceEvent(ORDER, 2, carried, "ann", "why", "a-1")))


def _asked(command: LaneCommand) -> LaneDoor:
    world = shop()
    taken(world, *map(json.dumps, [create(ORDER), entry(ORDER, 2, "modify", modifies=7), entry(ORDER, 3, "delete")]))
    return LaneDoor(world, encode_command(command), quiet=True)


def seen(world: ConvoyWorld, handle: Callable[[], None]) -> Seen:
    """What `handle` makes of a message, in a world where only the neighbour's is another."""
    kept, history = set(world.rejects.kept), len(world.telemetry.history)
    try:
        handle()
    except StepwardError as error:
        return Seen((), 0, f"it comes again for ever: {error!r}")
    new = tuple(world.rejects.kept[key] for key in world.rejects.kept.keys() - kept)
    told = [entry for order_id, entry in world.telemetry.history[history:] if order_id != NEIGHBOUR]
    return Seen(new, sum(entry.kind in TAKEN for entry in told), "; ".join(_faults(world)))


def _faults(world: ConvoyWorld) -> Iterator[str]:
    """What no lane may ever be, whatever came in."""
    assert isinstance(world.lanes, RecordedLanes)
    yield from world.lanes.faults
    if world.events.bodies:
        yield f"left in the queue: {world.events.bodies}"
    for order_id, lane in world.lanes.lanes.items():
        if lane.blocked and not lane.blocked.reason.strip():
            yield f"{order_id} is blocked without a reason"
        for kept in [*lane.recent, *world.lanes.kept.get(order_id, {}).values()]:
            yield from _corrupt(world, order_id, kept)


def _corrupt(world: ConvoyWorld, order_id: str, kept: StoredEvent) -> Iterator[str]:
    """The store keeps an event's text only: another process must read the same event from it."""
    read, event = stored_event(kept.event.body, world.schema), kept.event
    same_fault = bool(read.fault) == bool(event.fault)  # its words may name a number as it was written
    if replace(read, fault=event.fault) != event or not same_fault or event.order_id != order_id:
        yield f"{order_id} keeps what reads otherwise: {event}, {read}"


def received(number: int, text: str) -> Received:
    """A message as it came."""
    return Received(f"message-{number}", "a queue", 1_767_225_600_000, text)


LANE_DOORS: Mapping[str, Callable[[], LaneDoor]] = {
    "events": events,
    "later events": later_events,
    "events without numbers": unnumbered_events,
    "webhooks": webhooks,
    "numbered messages": numbered_messages,
    "retries": retries,
    "skips": skips,
    "replacements": replacements,
    "corrections": corrections,
}
