"""The paths of an order through the engine, as data."""

from collections.abc import Callable
from functools import partial
from typing import Any

from stepward.domain.messages import Pause, Resume, StepFailed, Undo
from stepward.domain.task.record import ProcessState
from stepward.domain.workflow.plan import Exhausted, Plan
from stepward.testing.faults.path import Path
from stepward.testing.services import Mood
from stepward.testing.settings import REPLY_TO
from stepward.wire.messages import encode
from tests.factories import ALERTS, ORDER_ID, SECOND, falls_back, order_text, planned, waits
from tests.lab.crash_points.fulfilment import TAKES, Act, Orders, Scenario, live

STEP: dict[str, Any] = {"complete_within": 30 * SECOND, "threshold": 4}
ORDER = order_text(replyTo=REPLY_TO, correlationId="checkout-1")
CANCELLED = f'{{"type": "order.cancelled", "orderId": "{ORDER_ID}", "reason": "bought elsewhere"}}'
AWAY = 45
"""Seconds; a message that stays hidden past complete-by, so that the Supervisor recovers its step."""
THINKS = 3
"""Seconds; more than two clocks differ: the time of a command tells whether it is older than its opposite."""
PROCESSED, UNDONE, ERROR = ProcessState.PROCESSED, ProcessState.UNDONE, ProcessState.ERROR


def line(**charge: Any) -> Plan:
    """`reserve`, `charge` and `ship`, each with an undo; `charge` says more of that step."""
    return Plan(
        "line",
        1,
        (
            planned("reserve", undo="release", **STEP),
            planned("charge", "reserve", undo="refund", **{**STEP, **charge}),
            planned("ship", "charge", undo="recall", **STEP, on_permanent=Exhausted.UNDO),
        ),
    )


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


def is_at(step: str, state: ProcessState) -> Callable[[Orders], bool]:
    """Whether the step is in this state."""
    return lambda world: world.state(step) is state


def is_alerted(step: str) -> Callable[[Orders], bool]:
    """Whether an operator knows of the step's Error."""

    def alerted(world: Orders) -> bool:
        alerts = (alert for alert in world.engine.alerts if isinstance(alert, StepFailed))
        return world.state(step) is ERROR and any(alert.step == step for alert in alerts)

    return alerted


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

    return Act(is_alerted(step), do)


CANCELS = Act(is_at("charge", ProcessState.PROCESSING), lambda world: world.engine.post("orders", CANCELLED))
UNDOES = commands(is_at("ship", ProcessState.PROCESSING), Undo, "sold twice")
PAUSES = commands(is_at("reserve", ProcessState.PROCESSING), Pause, "stock is being counted")
RESUMES = commands(lambda world: bool(world.task and world.task.paused), Resume, "counted")
ELSEWHERE = (falls_back("other", undo="give_back"), ALERTS)
WAITS = (waits(120 * SECOND, 2), ALERTS)
CHARGE = frozenset({"charge"})
DEAD = Mood.DIES_AFTER

SCENARIOS = {
    "happy": ("every step works", Scenario(line(), [ORDER], PROCESSED)),
    "retry": (
        "a service fails twice, then works",
        Scenario(line(), [ORDER], PROCESSED, {"charge": [Mood.FAILS, Mood.BREAKS]}),
    ),
    "recover": (
        "an agent dies after the effect and is recovered",
        Scenario(line(), [ORDER], PROCESSED, {"charge": [DEAD]}, hidden=AWAY),
    ),
    "late answer": (
        "a call hangs past complete-by and answers when another has done the step",
        Scenario(line(), [ORDER], PROCESSED, {"charge": [Mood.HANGS]}),
    ),
    "breaker": (
        "a service fails until its breaker opens, and is found well by a probe",
        Scenario(line(), [ORDER], PROCESSED, {"charge": [Mood.FAILS] * 5}),
    ),
    "error": (
        "a service declines for good",
        Scenario(line(), [ORDER], ERROR, declines=CHARGE),
    ),
    "resubmit": (
        "it declines, and an operator resubmits",
        Scenario(line(), [ORDER], PROCESSED, declines=CHARGE, acts=[resubmits("charge")], asked=("resubmit",)),
    ),
    "undo": (
        "the last step declines: all is undone",
        Scenario(line(), [ORDER], UNDONE, declines=frozenset({"ship"})),
    ),
    "undo by hand": (
        "an operator has it undone in mid-flight",
        Scenario(line(), [ORDER], UNDONE, acts=[UNDOES], asked=("undo",)),
    ),
    "undo in doubt": (
        "an operator has it undone while a call hangs, whose effect then comes too late",
        Scenario(line(), [ORDER], UNDONE, {"ship": [Mood.HANGS]}, acts=[UNDOES], asked=("undo",)),
    ),
    "graph": (
        "two steps side by side; the last one declines: all is undone in reverse",
        Scenario(graph(), [ORDER], UNDONE, declines=frozenset({"ship"})),
    ),
    "failing undo": (
        "an undo declines, and an operator resubmits it",
        Scenario(
            line(),
            [ORDER],
            UNDONE,
            declines=frozenset({"ship", "charge/undo"}),
            acts=[resubmits("charge/undo")],
            asked=("resubmit",),
        ),
    ),
    "cancel": (
        "the submitter cancels while a step runs",
        Scenario(line(), [ORDER], UNDONE, acts=[CANCELS], asked=("cancel",)),
    ),
    "fallback": (
        "attempts are used up: another agent takes over",
        Scenario(line(exhausted=ELSEWHERE), [ORDER], PROCESSED, {"charge": [DEAD] * 4}, hidden=AWAY),
    ),
    "wait": (
        "attempts are used up: the step waits, then works",
        Scenario(line(exhausted=WAITS), [ORDER], PROCESSED, {"charge": [DEAD] * 4}, hidden=AWAY),
    ),
    "pause": (
        "an operator pauses and resumes",
        Scenario(line(), [ORDER], PROCESSED, acts=[PAUSES, RESUMES], asked=("pause", "resume")),
    ),
    "bad input": (
        "an order beside a malformed one and a conflicting one",
        Scenario(line(), [ORDER, "{", order_text(replyTo=REPLY_TO, customerId="other")], PROCESSED, rejects=2),
    ),
}
SHORT = {"happy", "recover", "undo", "error", "resubmit", "cancel", "pause"}

ORDER_PATHS = [Path(name, what, partial(live, scenario), name in SHORT) for name, (what, scenario) in SCENARIOS.items()]
