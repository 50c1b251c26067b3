"""The doors of orders and their steps, each with a good message and one beside it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from stepward.app.intake import Intake, Received
from stepward.domain.errors import RetryLater
from stepward.domain.messages import Pause, Resubmit, Undo
from stepward.testing.settings import REPLY_QUEUES as ALLOWED
from stepward.testing.settings import REPLY_TO as URL
from stepward.wire.messages import decode_request, encode
from tests.factories import ORDER_ID, answer, order_text
from tests.lab.bad_input.seen import Seen
from tests.unit.engine.world import World, operation

NEIGHBOUR = "neighbour-1"


@dataclass(slots=True)
class OrderDoor:
    """One way in: `handle` takes a message, `worked` says whether the neighbour's message had its effect."""

    world: World
    good: str
    neighbour: str
    handle: Callable[[str], None]
    worked: Callable[[], bool]
    quiet: bool = True
    whole: bool = True

    def pass_in(self, text: str) -> Seen:
        """See the protocol; these take one message at a time."""
        seen = self._alone("message", text)
        beside = self._alone("beside", self.neighbour)
        return seen if not beside.rejects else replace(seen, wrong=f"its neighbour was rejected: {beside.rejects}")

    def _alone(self, name: str, text: str) -> Seen:
        before, history = set(self.world.rejects.kept), len(self.world.telemetry.history)
        intake = Intake(self.handle, self.world.rejects, self.world.telemetry, self.world.clock)
        try:
            intake.accept(Received(name, "a queue", self.world.clock.now, text))
        except RetryLater:
            return Seen((), 1)
        rejects = tuple(self.world.rejects.kept[key] for key in self.world.rejects.kept.keys() - before)
        return Seen(rejects, len(self.world.telemetry.history) - history)


def orders() -> OrderDoor:
    world = World()
    submit = replace(world.submit, reply_queues=ALLOWED)
    good = order_text(
        replyTo=URL, correlationId="checkout-1", customerId="customer-1", priority="high", items=[{"n": 1}]
    )
    return OrderDoor(
        world, good, order_text(NEIGHBOUR), submit.handle, lambda: NEIGHBOUR in world.store.tasks, quiet=False
    )


def requests() -> OrderDoor:
    world = World()
    good, neighbour = world.ask(), world.ask(NEIGHBOUR)
    done: list[str] = []

    def reserve(call: Any) -> Mapping[str, Any]:
        done.append(call.idempotency_key)
        return {"ref": "x"}

    serve = world.serve(operation(reserve))
    return OrderDoor(world, good, neighbour, serve.handle, lambda: f"{NEIGHBOUR}/reserve" in done)


def _scheduler(good: Callable[[World], str]) -> OrderDoor:
    world = World()
    for order_id in (ORDER_ID, NEIGHBOUR):
        world.submit.handle(order_text(order_id))
    first, neighbour = list(world.drain(world.queues.scheduler))
    schedule = world.schedule()
    schedule.handle(first)

    def worked() -> bool:
        return world.store.tasks[NEIGHBOUR].steps["reserve"].attempt == 1

    return OrderDoor(world, good(world), neighbour, schedule.handle, worked)


def _resubmission(_: World) -> str:
    return encode(Resubmit(ORDER_ID, "reserve", 1, "an operator", "why"))


def _pause(world: World) -> str:
    return encode(Pause(ORDER_ID, "an operator", "why", asked_at=world.clock.now))


def _undo(_: World) -> str:
    return encode(Undo(ORDER_ID, "an operator", "why"))


def _reply(world: World) -> str:
    return encode(answer(decode_request(world.queues.agents["worker"].bodies[0])))


ORDER_DOORS: Mapping[str, Callable[[], OrderDoor]] = {
    "orders": orders,
    "scheduler": partial(_scheduler, _resubmission),
    "commands": partial(_scheduler, _pause),
    "undos": partial(_scheduler, _undo),
    "replies": partial(_scheduler, _reply),
    "requests": requests,
}
