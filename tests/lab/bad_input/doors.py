"""What a door is, and the doors of orders and their steps, each with a good message and one beside it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from stepward.app.intake import Intake, Received
from stepward.domain.errors import RetryLater
from stepward.domain.messages import Command, Pause, Resubmit, Undo
from stepward.domain.rejects import Reject
from stepward.testing.settings import REPLY_QUEUES as ALLOWED
from stepward.testing.settings import REPLY_TO as URL
from stepward.wire.messages import decode_request, encode
from tests.factories import ORDER_ID, T0, answer, order_text
from tests.unit.engine.world import World, operation

NEIGHBOUR = "neighbour-1"


@dataclass(frozen=True, slots=True)
class Seen:
    """What was rejected of a message, how many history entries it left, and what is wrong with its order now."""

    rejects: tuple[Reject, ...]
    history: int
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class Door:
    """One way in for messages such as `good`.

    `pass_in` hands over a message, and beside it one of another order, in one batch if the door takes batches; `worked`
    says whether the one beside it had its effect. `whole`: a reject holds the message as it came. `quiet`: what is
    understood may change nothing.
    """

    good: str
    pass_in: Callable[[str], Seen]
    worked: Callable[[], bool]
    whole: bool = False
    quiet: bool = False


def _door(
    world: World,
    good: str,
    neighbour: str,
    handle: Callable[[str], None],
    worked: Callable[[], bool],
    quiet: bool = True,
) -> Door:
    """A door that takes one message at a time."""
    intake = Intake(handle, world.rejects, world.telemetry, world.clock)

    def alone(name: str, text: str) -> Seen:
        before, history = set(world.rejects.kept), len(world.telemetry.history)
        try:
            intake.accept(Received(name, "a queue", world.clock.now, text))
        except RetryLater:
            return Seen((), 1)
        rejects = tuple(world.rejects.kept[key] for key in world.rejects.kept.keys() - before)
        return Seen(rejects, len(world.telemetry.history) - history)

    def pass_in(text: str) -> Seen:
        seen, beside = alone("message", text), alone("beside", neighbour)
        return seen if not beside.rejects else replace(seen, wrong=f"its neighbour was rejected: {beside.rejects}")

    return Door(good, pass_in, worked, whole=True, quiet=quiet)


def orders() -> Door:
    world = World()
    submit = replace(world.submit, reply_queues=ALLOWED)
    good = order_text(
        replyTo=URL, correlationId="checkout-1", customerId="customer-1", priority="high", items=[{"n": 1}]
    )
    return _door(world, good, order_text(NEIGHBOUR), submit.handle, lambda: NEIGHBOUR in world.store.tasks, quiet=False)


def requests() -> Door:
    world = World()
    good, neighbour = world.ask(), world.ask(NEIGHBOUR)
    done: list[str] = []

    def reserve(call: Any) -> Mapping[str, Any]:
        done.append(call.idempotency_key)
        return {"ref": "x"}

    serve = world.serve(operation(reserve))
    return _door(world, good, neighbour, serve.handle, lambda: f"{NEIGHBOUR}/reserve" in done)


def _scheduler(command: Command | None = None) -> Door:
    """Takes this command, or the reply to its first request."""
    world = World()
    for order_id in (ORDER_ID, NEIGHBOUR):
        world.submit.handle(order_text(order_id))
    first, neighbour = list(world.drain(world.queues.scheduler))
    schedule = world.schedule()
    schedule.handle(first)
    tasks, requested = world.store.tasks, world.queues.agents["worker"].bodies[0]
    good = encode(command or answer(decode_request(requested)))
    return _door(world, good, neighbour, schedule.handle, lambda: tasks[NEIGHBOUR].steps["reserve"].attempt == 1)


ORDER_DOORS: Mapping[str, Callable[[], Door]] = {
    "orders": orders,
    "scheduler": lambda: _scheduler(Resubmit(ORDER_ID, "reserve", 1, "an operator", "why")),
    "commands": lambda: _scheduler(Pause(ORDER_ID, "an operator", "why", asked_at=T0)),
    "undos": lambda: _scheduler(Undo(ORDER_ID, "an operator", "why")),
    "replies": _scheduler,
    "requests": requests,
}
