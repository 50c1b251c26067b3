"""Who lives in the worlds of the engine's own tests: orders of several workflows, and ledgers beside them."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random

from stepward.app.intake import Received
from stepward.domain.messages import LaneWaits
from stepward.domain.rejects import Reject
from stepward.testing.faults.broken import Broken
from stepward.testing.faults.loop import MINUTE
from stepward.testing.seeded.assembly import Instances, received
from stepward.testing.seeded.finding import Finding
from stepward.testing.seeded.finding import live as live_with
from stepward.testing.seeded.finding import report as report_of
from stepward.testing.seeded.gate import Gate
from stepward.testing.seeded.mail import Mailbox, Message, Part
from stepward.testing.seeded.people import People
from stepward.testing.seeded.stage import COPIES, SETTINGS, Cast, Stage
from stepward.testing.seeded.world import ORDERED_WITHIN
from stepward.testing.settings import REPLY_TO
from tests.factories import order_text
from tests.lab.convoy import audit
from tests.lab.worlds.customers import OWNERS, Customers
from tests.lab.worlds.lanes import LaneQueue, Lanes, rules
from tests.lab.worlds.plans import FAMILIES, LINE
from tests.planned_app import PlannedApp, works

ORDERS = 20 - len(OWNERS)
"""Those that come as order messages; the others come by ledger."""
RECEIVED_IN_ORDER = 100
"""Deliveries after which a message of a queue in order is given up: as many as a deployment allows, so that none is."""


@dataclass(slots=True, kw_only=True)
class Ours(Cast):
    """With customers who send ledgers."""

    customers: Customers
    lanes: Lanes
    left: audit.Left = field(init=False)

    def begin(self, world: Stage) -> None:
        parts, queues, inner = world.parts, world.mailbox.parts, self.lanes.inner
        shared_records, rejects = parts.shared_records.inner, parts.rejects.inner
        self.left = audit.Left(self.lanes.rules, inner, parts.store.inner, shared_records, rejects)
        queues["ledgers"] = Part("ledger", COPIES["ledger"], partial(_split, parts), most=RECEIVED_IN_ORDER)
        queues["lanes"] = Part("convoy", COPIES["convoy"], partial(_apply, parts), most=RECEIVED_IN_ORDER)
        self.customers.write(ORDERED_WITHIN)

    def hear_of_lane(self, alert: LaneWaits) -> None:
        self.left.alerts.send(alert)
        self.customers.hear(alert)

    def dues(self) -> Iterable[int]:
        return [lane.due for lane in self.lanes.inner.lanes.values() if lane.due is not None]

    def expects(self, reject: Reject) -> bool:
        return reject.order_id in OWNERS or reject.source.startswith("ledger of ")

    def verdict(self) -> None:
        for invariant, order_id, check in audit.checks(self.left, self.customers.sent):
            try:
                check()
            except AssertionError as fault:
                raise Broken(invariant, order_id, str(fault)) from fault


def _split(parts: Instances, copy: int, message: Message) -> None:
    list(parts.of("ledger", copy).ledger().take([received(message, parts.gate.loop.now)], lambda: MINUTE))


def _apply(parts: Instances, copy: int, message: Message) -> None:
    """One consumer handles a batch of what has come for an order."""
    now, bodies = parts.gate.loop.now, enumerate(json.loads(message.text))
    batch = [Received(f"{message.name}/{index}", message.queue, now, body) for index, body in bodies]
    list(parts.of("convoy", copy).convoy(f"convoy-{copy}").take(batch, lambda: MINUTE))


def cast(gate: Gate, mailbox: Mailbox) -> Ours:
    old, new = gate.chances.dice("scenery").choice(FAMILIES)
    undoable, lanes = (old, new) != LINE, Lanes(gate, rules(gate.chances.dice("rules of lanes")))
    return Ours(
        app=PlannedApp(old),
        old=old,
        new=new,
        people=People(gate, mailbox, undoable, _order),
        perform=lambda _agent, _operation, call: works(call),
        orders=ORDERS,
        settings=replace(SETTINGS, lane_rules=lanes.rules),
        lanes=lanes,
        lane_queue=LaneQueue(gate, mailbox.send),
        customers=Customers(gate, mailbox, lanes.rules, undoable),
    )


live = partial(live_with, cast)


def report(finding: Finding) -> Iterator[str]:
    return report_of(finding, f"make simulate SEED={finding.seed}")


def _order(order_id: str, dice: Random) -> str:
    known = {"replyTo": REPLY_TO} if dice.random() < 0.8 else {}
    return order_text(order_id, priority=dice.choice(["normal", "high"]), **known)
