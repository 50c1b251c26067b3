"""Who lives in the worlds of the engine's own tests: orders of several workflows, and ledgers beside them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Any
from zlib import crc32

from stepward.domain.history import HistoryKind
from stepward.domain.key import ANY, Keys, TaskKey
from stepward.domain.messages import LaneWaits
from stepward.domain.rejects import Reject
from stepward.domain.workflow.effects import Item
from stepward.testing.faults.broken import Broken
from stepward.testing.faults.gate import Gate
from stepward.testing.seeded.cast import SETTINGS, Cast
from stepward.testing.seeded.finding import Finding
from stepward.testing.seeded.finding import live as live_with
from stepward.testing.seeded.finding import report as report_of
from stepward.testing.seeded.instances import Instances
from stepward.testing.seeded.people import CUSTOMERS, People
from stepward.testing.seeded.world import ORDERED_WITHIN
from stepward.testing.settings import REPLY_TO
from tests.factories import order_text
from tests.lab.convoy import audit
from tests.lab.worlds.children import Children, with_children
from tests.lab.worlds.customers import OWNERS, Customers
from tests.lab.worlds.lanes import Lanes, rules
from tests.lab.worlds.newer import Skewed
from tests.lab.worlds.plans import FAMILIES, LINE, answered_later, checked, releases, waiting, with_items
from tests.lab.worlds.signals import Signals
from tests.planned_app import PlannedApp

ORDERS = 20 - len(OWNERS)
"""Those that come as order messages; the others come by ledger."""
APART = 0.25
"""The share of worlds in which order ids are unique per customer."""
COUNTED = {HistoryKind.STEP_SKIPPED, HistoryKind.HANDED_OVER, HistoryKind.FORGED, HistoryKind.EXTENDED}
"""What the figures of a world say of its log."""
PARTED = 0.2
"""The share of worlds whose orders have a step that is an order of its own."""
LISTED = 0.15
"""The share of worlds whose orders have steps for each item of a list."""
MOST_ITEMS = 4
WAITING = 0.25
"""The share of worlds whose workflow waits for a time and a signal, and skips a step."""
RATES = [*[0] * 12, 0.05, 0.2, 1]
"""Calls a second that a world's services allow; 0 sets no limit."""
CHECKED = 0.3
"""How many of the worlds have a step whose service honours no keys; none where clocks differ by minutes."""


@dataclass(slots=True, kw_only=True)
class Ours(Cast):
    """With customers who send ledgers."""

    customers: Customers
    ours: Lanes
    signals: Signals | None = None
    children: Children | None = None
    left: audit.Left = field(init=False)
    parts: Instances = field(init=False)

    def begin(self, parts: Instances) -> None:
        self.left = audit.Left(self.ours.rules, self.ours, parts.store, parts.shared_records, parts.rejects)
        self.customers.post = parts.post
        self.customers.write(ORDERED_WITHIN)
        self.parts = parts
        if self.signals is not None:
            self.signals.begin(parts, self.people.ordered)
        if self.children is not None:
            self.children.begin(self.people.ordered)

    def hear_of_lane(self, alert: LaneWaits) -> None:
        self.left.alerts.send(alert)
        self.customers.hear(alert)

    def expects(self, reject: Reject) -> bool:
        return TaskKey.read(reject.order_id).order_id in OWNERS or reject.source.startswith("ledger of ")

    def verdict(self) -> None:
        kinds = (entry.kind for _, entry in self.parts.telemetry.history if entry.kind in COUNTED)
        counts = self.parts.gate.diary.counts
        counts.update(f"{kind} in the log" for kind in kinds)
        records = [each for task in self.parts.store.tasks.values() for each in task.steps.values()]
        items = [each for each in records if Item.read(each.name).at >= 0 and each.token]
        counts.update(f"items, {'undo ' * each.is_compensation}{each.process_state}" for each in items)
        if self.signals is not None:
            self.signals.verdict(self.parts)
        if self.children is not None:
            self.children.verdict(self.parts)
        for invariant, order_id, check in audit.checks(self.left, self.customers.sent):
            try:
                check()
            except AssertionError as fault:
                raise Broken(invariant, order_id, str(fault)) from fault


def cast(gate: Gate) -> Ours:
    dice = gate.chances.dice("scenery")
    first = family = dice.choice(FAMILIES)
    if not gate.profile.skewed and gate.chances.dice("check").random() < CHECKED:
        first = checked(first, gate.chances.dice("checked step"))
    else:
        first = answered_later(family, gate.chances.dice("a step is answered later"))
    plans = [first, *releases(first, dice)]
    waits = gate.chances.dice("waits")
    is_waiting = waits.random() < WAITING
    plans = [waiting(plan, waits) for plan in plans] if is_waiting else plans
    undoable = family is not LINE
    has_children = (of_parts := gate.chances.dice("an order has a part")).random() < PARTED
    plans = with_children(plans, of_parts, undoable=undoable) if has_children else plans
    is_listed = (of_items := gate.chances.dice("parcels")).random() < LISTED
    plans = with_items(plans, of_items, undoable=undoable) if is_listed else plans
    write = partial(_order, with_items=is_listed)
    apart = gate.chances.dice("customers are told apart").random() < APART
    keys = Keys((first.workflow,), frozenset({first.workflow})) if apart else ANY
    rate = gate.chances.dice("rate").choice(RATES)
    rules_of_lanes, people = rules(gate.chances.dice("rules of lanes")), People(gate, undoable, write, keys)
    lanes = Lanes(shard_of=lambda order_id: crc32(order_id.encode()) % SETTINGS.shards, rules=rules_of_lanes, gate=gate)
    return Ours(
        releases=[PlannedApp(plan, keys=keys, rate=rate) for plan in plans],
        people=people,
        orders=ORDERS,
        settings=replace(SETTINGS, lane_rules=rules_of_lanes),
        lanes=lanes,
        ours=lanes,
        kind=Skewed,
        signals=Signals(gate, ORDERED_WITHIN) if is_waiting else None,
        children=Children(gate, people, ORDERED_WITHIN) if has_children else None,
        customers=Customers(gate, rules_of_lanes, undoable, apart),
    )


live = partial(live_with, cast)


def report(finding: Finding) -> Iterator[str]:
    return report_of(finding, f"make simulate SEED={finding.seed}")


def _order(key: str, dice: Random, *, with_items: bool) -> str:
    parts, known = TaskKey.read(key), {"replyTo": REPLY_TO} if dice.random() < 0.8 else dict[str, Any]()
    known |= {"priority": dice.choice(["normal", "high"]), "customerId": parts.customer_id or CUSTOMERS[0]}
    known |= {"parcels": list(range(dice.randint(0, MOST_ITEMS)))} if with_items else {}
    return order_text(parts.order_id, **known)
