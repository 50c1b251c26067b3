"""Seeded worlds of a user's own application."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from random import Random
from typing import Any

from stepward.app.assembly import Application
from stepward.domain.key import TaskKey
from stepward.testing.faults.broken import ENDLESS
from stepward.testing.faults.gate import Gate
from stepward.testing.faults.loop import START
from stepward.testing.harness import text_of
from stepward.testing.seeded.cast import Cast
from stepward.testing.seeded.finding import live, report, shortest
from stepward.testing.seeded.people import People
from stepward.testing.settings import REPLY_TO

ORDERS = 8


def nothing() -> None:
    """Ask nothing more."""


def worlds(
    app: Application,
    order: Mapping[str, Any],
    *,
    seeds: int | Iterable[int] = 100,
    orders: int = ORDERS,
    deployments: Sequence[Application] = (),
    before: Callable[[], object] = nothing,
    after: Callable[[], object] = nothing,
) -> int:
    """Run seeded worlds in which `order` is ordered several times, and all goes wrong that can; return how many.

    In each, several processes of every part run side by side; they die, are held up and have clocks that differ;
    messages come late, twice or never; services fail, hang, decline, execute late or twice; people cancel, undo, pause
    and resubmit. Every order must end, no effect may happen twice, what is undone must be undone in reverse, and
    operators and submitters must be notified. `deployments` are older releases of the application, oldest first: newer
    ones are deployed over them while orders are in flight, function by function, and rolled back. `before` prepares
    each world (fakes of your own made empty), `after` asserts what must hold of your own at its end. The same seed
    makes the same world. Raises AssertionError with the shortest schedule of accidents that breaks the same, and the
    timeline of the order.
    """
    chosen = list(range(seeds) if isinstance(seeds, int) else seeds)

    def casting(gate: Gate) -> Cast:
        before()
        return _cast([*deployments, app], order, orders, gate, after)

    for seed in chosen:
        _, finding = live(casting, seed)
        if finding is not None and finding.invariant == ENDLESS:
            raise AssertionError(finding.what)
        if finding is not None:
            raise AssertionError("\n".join(report(shortest(finding))))
    return len(chosen)


def _cast(
    releases: Sequence[Application], order: Mapping[str, Any], orders: int, gate: Gate, after: Callable[[], object]
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
    return Cast(releases, People(gate, undoable, write, keys, workflow), orders, after=after)
