"""Seeded worlds of a user's own application."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from random import Random
from typing import Any

from stepward.app.assembly import Application
from stepward.domain.key import TaskKey
from stepward.testing.crash import Check, have, nothing
from stepward.testing.engine import Clock, Engine
from stepward.testing.faults.broken import ENDLESS
from stepward.testing.faults.gate import Gate
from stepward.testing.faults.loop import START
from stepward.testing.harness import text_of
from stepward.testing.seeded.cast import Cast
from stepward.testing.seeded.finding import live, report, shortest
from stepward.testing.seeded.instances import Instances
from stepward.testing.seeded.people import People
from stepward.testing.settings import REPLY_TO

ORDERS = 8


@dataclass(repr=False)
class WorldEngine(Engine):
    """A world as `before` and `after` see it: its services, orders and people are those of any engine."""

    world: Instances = field(kw_only=True)

    def __post_init__(self) -> None:
        self.parts, self.pump, self.services = self.world, self.world.pump, self.world.services
        self.loop, self.diary = self.world.loop, self.world.gate.diary
        self.orders, self.names = {}, count(1)
        self.reply_to, self.clock = REPLY_TO, Clock(self)


@dataclass(slots=True)
class Prepared(Cast):
    """A cast whose world a test prepares, and asks at its end."""

    before: Check = nothing
    asks: Check = nothing
    engine: Engine = field(init=False)

    def begin(self, parts: Instances) -> None:
        """Prepare the world."""
        self.engine = WorldEngine(self.releases[-1], world=parts)
        have(self.before, self.engine)

    def verdict(self) -> None:
        """Check what the test asserts."""
        for key in self.engine.parts.store.tasks:
            self.engine.order(key)
        have(self.asks, self.engine)


def worlds(
    app: Application,
    order: Mapping[str, Any],
    *,
    seeds: int | Iterable[int] = 100,
    orders: int = ORDERS,
    deployments: Sequence[Application] = (),
    before: Check = nothing,
    after: Check = nothing,
) -> int:
    """Run seeded worlds in which `order` is ordered several times, and all goes wrong that can; return how many.

    In each, several processes of every part run side by side; they die, are held up and have clocks that differ;
    messages come late, twice or never; services fail, hang, decline, execute late or twice; people cancel, undo, pause
    and resubmit. Every order must end, no effect may happen twice, what is undone must be undone in reverse, and
    operators and submitters must be notified. `deployments` are older releases of the application, oldest first: newer
    ones are deployed over them while orders are in flight, function by function, and rolled back. `before(engine)`
    prepares each world (`engine.stand_in()`, answers of services, fakes of your own made empty), `after(engine)`
    asserts what must hold of your own at its end; both may do without the engine. The same seed makes the same world.
    Raises AssertionError with the shortest schedule of accidents that breaks the same, and the timeline of the order.
    """
    chosen = list(range(seeds) if isinstance(seeds, int) else seeds)

    def casting(gate: Gate) -> Cast:
        return _cast([*deployments, app], order, orders, gate, before, after)

    for seed in chosen:
        _, finding = live(casting, seed)
        if finding is not None and finding.invariant == ENDLESS:
            raise AssertionError(finding.what)
        if finding is not None:
            raise AssertionError("\n".join(report(shortest(finding))))
    return len(chosen)


def _cast(
    releases: Sequence[Application], order: Mapping[str, Any], orders: int, gate: Gate, before: Check, after: Check
) -> Cast:
    plans = [plan for app in releases for plan in app.plans().values()]
    undoable = all(who.undo for plan in plans for step in plan.steps if step.agent for who in step.executors)

    def write(key: str, dice: Random) -> str:
        at = datetime.fromtimestamp(START / 1000, UTC).isoformat()
        known = {"replyTo": REPLY_TO} if dice.random() < 0.8 else {}
        usual = {"priority": dice.choice(["normal", "high"]), "submittedAt": at, **known}
        address = {name: value for name, value in TaskKey.read(key).fields.items() if name != "workflow"}
        return text_of({**usual, **order, **address})

    keys = releases[-1].keys
    workflow = keys.submitted(str(order.get("type") or keys.types[0]))
    return Prepared(releases, People(gate, undoable, write, keys, workflow), orders, before=before, asks=after)
