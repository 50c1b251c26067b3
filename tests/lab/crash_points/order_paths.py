"""The paths of an order through the engine, as data."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from stepward.domain.messages import Pause, Resume, Undo
from stepward.domain.task.record import SERVICE, ProcessState
from stepward.domain.workflow.plan import Exhausted, Plan, PlannedStep, StepKind
from stepward.testing.faults.path import Path
from stepward.testing.faults.profile import Mood
from stepward.testing.settings import REPLY_TO
from stepward.wire.messages import encode
from tests.factories import ALERTS, HOUR, ORDER_ID, SECOND, falls_back, order_text, planned, waits
from tests.lab.crash_points.fulfilment import ORDER, STEP, TAKES, Act, Orders, Scenario, before_charge, line, live

CANCELLED = f'{{"type": "order.cancelled", "orderId": "{ORDER_ID}", "reason": "bought elsewhere"}}'
AWAY = 45
"""Seconds; a message that stays hidden past complete-by, so that the Supervisor recovers its step."""
THINKS = 3
"""Seconds; more than two clocks differ: the time of a command tells whether it is older than its opposite."""
UNDONE, ERROR = ProcessState.UNDONE, ProcessState.ERROR


def graph() -> Plan:
    """`pick` and `pay` side by side between `check` and `ship`, each with an undo."""
    return Plan(
        "graph",
        1,
        (
            planned("check", undo="uncheck", **STEP),
            planned("pick", "check", undo="unpick", **STEP),
            planned("pay", "check", undo="unpay", **STEP),
            planned("ship", "pick", "pay", undo="recall", **STEP, on_permanent=Exhausted.UNDO),
        ),
    )


def is_running(step: str) -> Callable[[Orders], bool]:
    return lambda world: world.state(step) is ProcessState.PROCESSING


def commands(when: Callable[[Orders], bool], kind: type[Undo | Pause | Resume], why: str) -> Act:
    """An operator's command, after some thinking."""

    def do(world: Orders) -> None:
        asked_at = {} if kind is Undo else {"asked_at": world.engine.clock.now + THINKS * SECOND}
        text = encode(kind(ORDER_ID, "ada", why, **asked_at))
        world.engine.parts.queues.scheduler.send(text, delay=THINKS)

    return Act(when, do)


def resubmits(step: str) -> Act:
    """An operator who was alerted mends the cause and resubmits the step."""

    def do(world: Orders) -> None:
        world.service(step).works().takes(TAKES)
        world.engine.order(ORDER_ID).resubmit(step)

    return Act(lambda world: world.state(step) is ERROR and world.is_alerted(step), do)


def answers(step: str, token: int) -> Act:
    """The service that took a step over answers it twice, with this one of the tokens that it got."""

    def do(world: Orders) -> None:
        callback = world.engine.services.callbacks[ORDER_ID, step][token]
        for _ in range(2):
            world.engine.post("orders", json.dumps({"type": "step.completed", "callback": callback}))

    return Act(lambda world: bool(world.task and world.task.steps[step].locked_by == SERVICE), do)


def gives(when: Callable[[Orders], bool]) -> Act:
    """Somebody approves, with two clicks."""
    signal = {"type": "order.signal", "orderId": ORDER_ID, "name": "approval", "signalId": "s-1", "data": {}}

    def do(world: Orders) -> None:
        for _ in range(2):
            world.engine.post("orders", json.dumps(signal))

    return Act(when, do)


CANCELS = Act(is_running("charge"), lambda world: world.engine.post("orders", CANCELLED))
COMES = Act(lambda world: bool(world.engine.parts.store.wishes), lambda world: world.engine.post("orders", ORDER))
UNDOES = commands(is_running("ship"), Undo, "sold twice")
PAUSES = commands(is_running("reserve"), Pause, "stock is being counted")
RESUMES = commands(lambda world: bool(world.task and world.task.paused), Resume, "counted")
TIMER = PlannedStep("cooling", "", "", (), 20 * SECOND, 1, kind=StepKind.TIMER)
SIGNAL = replace(TIMER, name="approval", complete_within=HOUR, kind=StepKind.SIGNAL)
BILLING = Plan(
    "billing",
    1,
    (planned("bill", undo="unbill", **STEP), planned("post", "bill", undo="call_back", **STEP)),
    is_child=True,
)
PART = replace(SIGNAL, name="part", threshold=4, on_permanent=Exhausted.UNDO, kind=StepKind.CHILD, child=BILLING)
REFUSED = replace(BILLING, steps=(BILLING.steps[0], replace(BILLING.steps[1], on_permanent=Exhausted.UNDO)))
PACKING = planned("pack", undo="unpack", **STEP)
ITEMS = replace(TIMER, name="parcels", complete_within=0, at_once=2, kind=StepKind.EACH, parts=(PACKING,))
ELSEWHERE = (falls_back("other", undo="give_back"), ALERTS)
WAITS = (waits(120 * SECOND, 2), ALERTS)
CHARGE, SHIP = frozenset({"charge"}), frozenset({"ship"})
DEAD = Mood.DIES_AFTER
USED_UP: dict[str, Any] = {"moods": {"charge": [DEAD] * 4}, "hidden": AWAY}
CONFLICTING = order_text(replyTo=REPLY_TO, customerId="other")

SCENARIOS = {
    "happy": Scenario("every step works"),
    "asked at once": Scenario("nobody is told, so its submission claims the first step", mail=[order_text()]),
    "asked at once, away": Scenario(
        "the same, and what dies stays away past complete-by", mail=[order_text()], hidden=AWAY
    ),
    "retry": Scenario("a service fails twice, then works", moods={"charge": [Mood.FAILS, Mood.BREAKS]}),
    "recover": Scenario("an agent dies after the effect and is recovered", moods={"charge": [DEAD]}, hidden=AWAY),
    "late answer": Scenario(
        "a call hangs past complete-by and answers when another has done the step", moods={"charge": [Mood.HANGS]}
    ),
    "breaker": Scenario(
        "a service fails until its breaker opens, and is found well by a probe", moods={"charge": [Mood.FAILS] * 5}
    ),
    "error": Scenario("a service declines for good", ERROR, declines=CHARGE),
    "alerted": Scenario(
        "attempts are used up: an operator is alerted, and the submitter notified", ERROR, line(threshold=2), **USED_UP
    ),
    "resubmit": Scenario(
        "it declines, and an operator resubmits", declines=CHARGE, acts=[resubmits("charge")], asked=("resubmit",)
    ),
    "undo": Scenario("the last step declines: all is undone", UNDONE, declines=SHIP),
    "undo by hand": Scenario("an operator has it undone in mid-flight", UNDONE, acts=[UNDOES], asked=("undo",)),
    "undo in doubt": Scenario(
        "an operator has it undone while a call hangs, whose effect then comes too late",
        UNDONE,
        moods={"ship": [Mood.HANGS]},
        acts=[UNDOES],
        asked=("undo",),
    ),
    "graph": Scenario(
        "two steps side by side; the last one declines: all is undone in reverse", UNDONE, graph(), declines=SHIP
    ),
    "batch": Scenario("two steps side by side, answered in one batch", plan=graph(), batch=10),
    "later": Scenario(
        "a service takes a step over, and answers it twice, with its first token",
        plan=line(answer_within=HOUR),
        moods={"charge": [DEAD]},
        acts=[answers("charge", 0)],
        hidden=AWAY,
    ),
    "timer": Scenario("a step waits for a time", plan=before_charge(TIMER)),
    "signal": Scenario("a signal is given twice", plan=before_charge(SIGNAL), acts=[gives(is_running("approval"))]),
    "early signal": Scenario(
        "a signal comes twice, before its step", plan=before_charge(SIGNAL), acts=[gives(is_running("reserve"))]
    ),
    "child": Scenario("a step is an order of its own", plan=before_charge(PART)),
    "child undone": Scenario(
        "what comes after a child declines: both are undone", UNDONE, before_charge(PART), declines=SHIP
    ),
    "child refused": Scenario(
        "a step of a child declines: it is undone, and so is its order",
        UNDONE,
        before_charge(replace(PART, child=REFUSED)),
        declines=frozenset({"post"}),
    ),
    "items undone": Scenario(
        "what comes after the items of a list declines: they are undone in reverse",
        UNDONE,
        before_charge(replace(ITEMS, items=("order", "parcels"))),
        [order_text(replyTo=REPLY_TO, parcels=[1, 2, 3])],
        declines=SHIP,
    ),
    "failing undo": Scenario(
        "an undo declines, and an operator resubmits it",
        UNDONE,
        declines=SHIP | {"charge/undo"},
        acts=[resubmits("charge/undo")],
        asked=("resubmit",),
    ),
    "cancel": Scenario("the submitter cancels while a step runs", UNDONE, acts=[CANCELS], asked=("cancel",)),
    "cancelled early": Scenario(
        "the submitter's cancellation comes before the order", UNDONE, mail=[CANCELLED], acts=[COMES], asked=("cancel",)
    ),
    "fallback": Scenario("attempts are used up: another agent takes over", plan=line(exhausted=ELSEWHERE), **USED_UP),
    "wait": Scenario("attempts are used up: the step waits, then works", plan=line(exhausted=WAITS), **USED_UP),
    # Hidden so briefly that a pause whose process dies twice still meets a running order.
    "pause": Scenario("an operator pauses and resumes", acts=[PAUSES, RESUMES], hidden=7, asked=("pause", "resume")),
    "bad input": Scenario(
        "an order beside a malformed one and a conflicting one", mail=[ORDER, "{", CONFLICTING], rejects=2
    ),
}
SHORT = {"happy", "asked at once", "batch", "recover", "undo", "error", "resubmit", "cancel", "pause"}

ORDER_PATHS = [Path(name, one.what, partial(live, one), name in SHORT) for name, one in SCENARIOS.items()]
