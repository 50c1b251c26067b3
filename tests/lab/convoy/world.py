"""The convoy in memory: ledgers in, lanes of orders out, under a clock that the test holds."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any

from stepward.adapters.sqs.delivery import lane_messages
from stepward.app.assembly import Assembly
from stepward.app.convoy.alerting import LaneAlerting
from stepward.app.convoy.intake import LaneIntake
from stepward.app.intake import Received
from stepward.app.ledger.split import Split
from stepward.domain.convoy.commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.convoy.event import StoredEvent
from stepward.domain.convoy.lane import Lane, LaneRules
from stepward.domain.convoy.lane_message import LaneMessage
from stepward.domain.errors import RetryLater, Transient
from stepward.testing.memory.lanes import MemoryLaneQueue, MemoryLanes, MemoryLedgers
from stepward.testing.memory.queues import send
from stepward.testing.sqs.fifo_queue import MemoryFifoQueue
from stepward.testing.sqs.messages import Received as Message
from stepward.testing.sqs.rules import Refused
from stepward.wire.convoy import encode_command
from stepward.wire.order import OrderMessage
from stepward.wire.order_event import EventMessage, Source
from tests.factories import MINUTE
from tests.lab.convoy.gate import Gate
from tests.lab.convoy.record import held
from tests.planned_app import PlannedApp
from tests.unit.engine.world import World

TAPPED = ("store", "queues", "rejects", "shared_records", "alerts", "lanes", "lane_queue", "ledgers")
TODAY = "2026-01-01T00:00:00Z"


def entry(order_id: str, sequence: int | None, op: str, **content: Any) -> dict[str, Any]:
    """An entry of a ledger; a create has what an order needs."""
    numbered = {} if sequence is None else {"sequence": sequence}
    return {"orderId": order_id, **numbered, "op": op, **({"submittedAt": TODAY} if op == "create" else {}), **content}


def order(order_id: str, length: int, **last: Any) -> list[dict[str, Any]]:
    """A create and adds behind it; `last` says more of the last one."""
    adds = (entry(order_id, number, "add", amount=f"{number}.00") for number in range(2, length + 1))
    entries = [entry(order_id, 1, "create"), *adds]
    entries[-1] |= last
    return entries


@dataclass
class ConvoyWorld(World):
    """A deployment with a ledger queue and lanes; the gate taps every port of the convoy."""

    rules: LaneRules = field(default_factory=LaneRules)
    sources: Sequence[Source] = ()
    schema: type[EventMessage] = EventMessage
    order_schema: type[OrderMessage] = OrderMessage

    def __post_init__(self) -> None:
        super().__post_init__()
        self.gate = Gate()
        self.lanes, self.objects = MemoryLanes(), MemoryLedgers(piece=64)
        self.ledgers = MemoryFifoQueue(name="ledgers.fifo", clock=self.clock, visibility_timeout=60)
        self.events = MemoryFifoQueue(name="order-events.fifo", clock=self.clock, deduplication_per_group=True)
        self.names = count(1)

    def assembly(self, **settings: Any) -> Assembly:
        """See World; every port is tapped by the gate."""
        plain = replace(
            super().assembly(lane_rules=self.rules, **settings),
            app=PlannedApp(self.plan, self.order_schema, self.schema, self.sources),
            lanes=self.lanes,
            lane_queue=MemoryLaneQueue(self.events),
            ledgers=self.objects,
        )
        ports = {name: getattr(plain, name) for name in TAPPED}
        return replace(plain, **{name: self.gate.tap(port, type(port).__name__) for name, port in ports.items()})

    def split(self, customer: str = "") -> Split:
        return self.assembly(ledger_customer=customer).ledger()

    def convoy(self) -> LaneIntake:
        return self.assembly().convoy("convoy-1")

    def alerting(self) -> LaneAlerting:
        return self.assembly().alerting()

    def ledger(self, ledger_id: str, *entries: Any, customer: str = "c1", again: bool = False) -> str:
        """Send a ledger; `again` sends another message of the same."""
        text = json.dumps({"ledgerId": ledger_id, "customerId": customer, "entries": list(entries)})
        name = f"{customer}|{ledger_id}" + (f"|{next(self.names)}" if again else "")
        self.ledgers.send(text, group=customer, deduplication=name)
        return text

    def asks(self, command: LaneCommand) -> None:
        body = encode_command(command)
        send(self.events, lane_messages([LaneMessage(command.order_id, f"command-{next(self.names)}", body)]))

    def retry(self, order_id: str, asked: str = "") -> None:
        self.asks(RetryLane(order_id, "ann", "mended", asked or f"a-{next(self.names)}"))

    def skip(self, order_id: str, position: int, asked: str = "") -> None:
        self.asks(SkipEvent(order_id, position, "ann", "not needed", asked or f"a-{next(self.names)}"))

    def replace(self, order_id: str, position: int, event: dict[str, Any], asked: str = "") -> None:
        body = json.dumps(event)
        self.asks(ReplaceEvent(order_id, position, body, "ann", "corrected", asked or f"a-{next(self.names)}"))

    def run(self, *entries: Any) -> None:
        """Work until nothing waits in the queues; `entries` come in a ledger of their own."""
        if entries:
            self.ledger(f"L{next(self.names)}", *entries)
        while self.walk(self.ledgers.receive(1)) or self.work(self.events.receive()):
            pass

    def walk(self, messages: Sequence[Message], remaining: Callable[[], int] = lambda: 10 * MINUTE) -> bool:
        """One ledger processor takes the ledgers; what is not done comes again after its visibility timeout."""
        for message in messages:
            with suppress(Transient):
                try:
                    list(self.assembly().ledger().take([_received(message, self.ledgers)], remaining))
                except RetryLater:
                    _end(partial(self.ledgers.change_visibility, message.handle, 0))
                else:
                    _end(partial(self.ledgers.delete, message.handle))
        return bool(messages)

    def work(self, messages: Sequence[Message]) -> bool:
        """One consumer takes a batch; a group whose work fails comes again from there on."""
        groups: dict[str, list[Message]] = {}
        for message in messages:
            groups.setdefault(message.attributes["MessageGroupId"], []).append(message)
        for group in groups.values():
            batch, done = [_received(message, self.events) for message in group], 0
            with suppress(Transient):
                for reached in self.convoy().take(batch, lambda: MINUTE):
                    for message in group[done:reached]:
                        _end(partial(self.events.delete, message.handle))
                    done = reached
        return bool(messages)

    def lane_sweep(self) -> None:
        """The Supervisor sends the alerts of the lanes that are due."""
        for order_id in list(self.lanes.due(0, self.clock())):
            self.alerting().alert(self.lanes.lanes[order_id], self.clock())

    def lane(self, order_id: str = "A") -> Lane:
        return self.lanes.lanes[order_id]

    def history(self, order_id: str = "A") -> list[StoredEvent]:
        """Everything up to the last applied event, in order."""
        lane = self.lane(order_id)
        events = held(self.lanes, lane)
        return [events[position] for position in range(1, lane.last + 1)]

    def applied(self, order_id: str = "A") -> list[int]:
        """The positions whose events had their effect."""
        return [event.position for event in self.history(order_id) if not event.skipped]

    def reasons(self) -> list[str]:
        """Why each reject was rejected, oldest first."""
        return [f"{reject.field}: {reject.reason}" for reject in reversed(self.rejects.newest(1000))]


def _received(message: Message, queue: MemoryFifoQueue) -> Received:
    its = message.attributes
    return Received(message.message_id, queue.name, int(its["SentTimestamp"]), message.body, its["MessageGroupId"])


def _end(call: Callable[[], None]) -> None:
    """A handle that is too late is refused, and the message comes again."""
    with suppress(Refused):
        call()
