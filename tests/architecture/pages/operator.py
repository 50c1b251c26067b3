"""The scenes of docs/operator.md: what has happened in the shop before each block of commands is typed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from stepward.domain.coordination.breaker import Breaker, Mode
from stepward.domain.messages import Undo
from stepward.stack_outputs import DeadLetters
from stepward.testing.engine import Engine
from stepward.testing.harness import Order
from stepward.testing.sqs.queue import MemoryQueue
from stepward.wire.messages import encode
from tests.architecture.pages.following import Scene, Scenes
from tests.architecture.pages.shop import at, charge, opened, refund, ship
from tests.unit.cli_dead_letters.memory_sqs import MemorySqs
from tests.unit.operator.deployed import of_engine

DECLINED = "payments/charge: refused with declined"


def ordered(engine: Engine, *ids: str, **content: Any) -> list[Order]:
    """Submit orders, and let everything happen."""
    found = [engine.submit(None, {"orderId": order_id} | content) for order_id in ids]
    engine.run()
    return found


def a_declining_bank(engine: Engine) -> None:
    """The bank declines twelve orders, a second after each other, and works again when they have ended."""
    engine.service(charge).declines(DECLINED)
    for number in range(12):
        customer = "bakery" if number % 3 == 1 else "florist"
        engine.submit(None, {"orderId": f"ord-{1000 + number}", "customerId": customer})
        engine.clock.move(1)
    engine.run()
    engine.service(charge).works()


def telephone() -> Iterator[Scene]:
    with opened() as engine:
        a_declining_bank(engine)
        engine.clock.move(30)
        yield at(engine)
        engine.clock.move(60)
        yield at(engine)


def needs() -> Iterator[Scene]:
    """Nobody has looked for two hours."""
    with opened() as engine:
        a_declining_bank(engine)
        engine.clock.move(6_600)
        engine.service(charge).works().takes(20)
        for number in range(8):
            engine.submit(None, {"orderId": f"ord-200{number}"})
        for sequence in (1, 2, 3, 6):
            op = "create" if sequence == 1 else "add"
            engine.send({"orderId": "ord-3004", "sequence": sequence, "op": op, "submittedAt": "2026-01-01T00:00:00Z"})
        engine.clock.move(10)
        yield at(engine)


def trouble(engine: Engine) -> Mapping[str, Order]:
    """ord-1001 is done, ord-1002 and the refund of ord-1003 were declined, and ord-1004 is on its way."""
    bank, back = engine.service(charge), engine.service(refund)
    done, undone = ordered(engine, "ord-1001", "ord-1003")
    bank.declines(DECLINED)
    (declined,) = ordered(engine, "ord-1002")
    bank.works().takes(1.8)
    back.declines("payments/refund: refused with declined")
    engine.clock.move(10)
    undone.undo("the customer withdrew", "ada")
    engine.run()
    back.works().takes(0.2)
    engine.service(ship).takes(300)
    asking = engine.submit(None, {"orderId": "ord-1004"})
    engine.clock.move(20)
    return {order.order_id: order for order in (done, declined, undone, asking)}


def waiting() -> Iterator[Scene]:
    with opened() as engine:
        trouble(engine)["ord-1004"].pause("asking the customer", "ada")
        engine.clock.move(4)
        yield at(engine)


def running_again() -> Iterator[Scene]:
    with opened() as engine:
        trouble(engine)
        yield at(engine)
        engine.service(charge).takes(70)
        ordered(engine, "ord-1005", completeBy="2027-01-15T08:01:00Z")
        yield at(engine)


def stopping() -> Iterator[Scene]:
    with opened() as engine:
        trouble(engine)
        scene = at(engine)
        yield scene
        yield scene
        breakers, now = of_engine(engine).breakers, engine.loop.now
        breakers.resume("payments", now)
        breakers.change("payments", lambda _: Breaker(Mode.OPEN, since=now, until=now + 60_000))
        yield scene


def taking_back() -> Iterator[Scene]:
    with opened() as engine:
        orders = trouble(engine)
        yield at(engine)
        orders["ord-1003"].resubmit("charge/undo")
        engine.clock.move(5)
        yield at(engine)


def accounted() -> Iterator[Scene]:
    with opened() as engine:
        orders = trouble(engine)
        orders["ord-1003"].resubmit("charge/undo", "the account was reopened", "alex")
        engine.clock.move(5)
        yield at(engine)


def undelivered() -> Iterator[Scene]:
    """The Scheduler could not take three messages, two of them to undo an order."""
    with opened() as engine:
        orders = trouble(engine)
        dead = MemoryQueue(name="scheduler-dead", clock=lambda: engine.loop.now)
        for body in (*(encode(Undo(name, "ada", "withdrawn")) for name in ("ord-1003", "ord-1004")), "{oops"):
            dead.send(body)
        orders["ord-1003"].resubmit("charge/undo")
        engine.clock.move(60)
        doubles: Any = {"sqs": MemorySqs(dead), "sender": SimpleNamespace(send=lambda *_: None)}
        connection = replace(of_engine(engine), **doubles)
        connection.deployment.__dict__["dead_letters"] = {"scheduler": DeadLetters("scheduler", "scheduler-dead")}
        scene = {**at(engine), "connect": lambda _: connection}
        yield scene
        yield scene


SCENES: Scenes = {
    "From the telephone to a mended order": telephone,
    "What needs somebody?": needs,
    "Many at once: `--where`": needs,
    "What waits for me?": waiting,
    "What happened to it?": waiting,
    "Run it again: `resubmit`": running_again,
    "Take it back: `undo` and `cancel`": taking_back,
    "Stop for a while: `pause` and `resume`": stopping,
    "Who did that? `audit-log`": accounted,
    "What was not delivered: `dead-letters`": undelivered,
}
