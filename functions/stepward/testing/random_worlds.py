"""Seeded worlds of a user's own application."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any

from stepward.app.assembly import Application
from stepward.domain.workflow.definition import Call
from stepward.testing.faults.loop import START
from stepward.testing.harness import text_of
from stepward.testing.seeded.finding import live, shortest, story
from stepward.testing.seeded.gate import Gate
from stepward.testing.seeded.mail import Mailbox
from stepward.testing.seeded.people import People
from stepward.testing.seeded.world import Cast
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
    before: Callable[[], object] = nothing,
    after: Callable[[], object] = nothing,
) -> int:
    """Live through seeded worlds in which `order` is ordered several times, and all goes wrong that can; how many.

    In each, several processes of every part run side by side; they die, are held up and have clocks that differ;
    messages come late, twice or never; services fail, hang, decline, execute late or twice; people cancel, undo, pause
    and resubmit. Every order must end, no effect may happen twice, what is undone must be undone in reverse, and
    whoever has to know must be told. `before` prepares each world (fakes of your own made empty), `after` asserts what
    must hold of your own at its end. The same seed makes the same world. Raises AssertionError with the shortest
    schedule of accidents that breaks the same, and the story of the order.
    """
    chosen = list(range(seeds) if isinstance(seeds, int) else seeds)

    def casting(gate: Gate, mailbox: Mailbox) -> Cast:
        before()
        return _cast(app, order, orders, gate, mailbox, after)

    for seed in chosen:
        _, finding = live(casting, seed)
        if finding is not None:
            raise AssertionError("\n".join(story(shortest(finding))))
    return len(chosen)


@dataclass(slots=True, kw_only=True)
class _Judged(Cast):
    """With what its user asserts at the end."""

    after: Callable[[], object]

    def verdict(self) -> None:
        """See Cast."""
        self.after()


def _cast(
    app: Application,
    order: Mapping[str, Any],
    orders: int,
    gate: Gate,
    mailbox: Mailbox,
    after: Callable[[], object],
) -> Cast:
    plan = app.plan()
    undoable = all(who.undo for step in plan.steps for who in step.executors)

    def write(order_id: str, dice: Random) -> str:
        at = datetime.fromtimestamp(START / 1000, UTC).isoformat()
        known = {"replyTo": REPLY_TO} if dice.random() < 0.8 else {}
        said = {"priority": dice.choice(["normal", "high"]), "submittedAt": at, **known, **order}
        return text_of({**said, "orderId": order_id})

    def perform(agent: str, operation: str, call: Call) -> Mapping[str, Any]:
        return app.operations(agent)[operation].run(call)

    return _Judged(app, plan, plan, People(gate, mailbox, undoable, write), perform, orders, after=after)
