"""Orders through the whole engine, with every port call counted, and people who act meanwhile."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stepward.app.scheduler.audit_log import AuditLog
from stepward.domain.messages import Status, StepFailed
from stepward.domain.task.record import ProcessState, Task
from stepward.domain.workflow.plan import UNDO_SUFFIX, Exhausted, Plan, PlannedStep, forward_name
from stepward.testing.crash import AHEAD, played
from stepward.testing.engine import Engine
from stepward.testing.faults.profile import Mood
from stepward.testing.faults.pulse import Pulse
from stepward.testing.seeded.cast import SETTINGS
from stepward.testing.seeded.mail import TO_SCHEDULER
from stepward.testing.services import Service
from stepward.testing.settings import REPLY_TO
from tests.factories import ORDER_ID, SECOND, order_text, planned
from tests.planned_app import PlannedApp

TAKES = 6
"""Seconds of a call."""
HIDDEN = 8
"""Seconds that a message stays hidden whose process died."""


STEP: dict[str, Any] = {"complete_within": 30 * SECOND, "threshold": 4}
ORDER = order_text(replyTo=REPLY_TO, correlationId="checkout-1")


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


LINE = line()


def before_charge(wait: PlannedStep) -> Plan:
    """The line with a wait between its first two steps."""
    reserve, charge, ship = LINE.steps
    return replace(
        LINE, steps=(reserve, replace(wait, after=(reserve.name,)), replace(charge, after=(wait.name,)), ship)
    )


@dataclass(frozen=True, slots=True)
class Act:
    """What somebody does once, as soon as `when` says so."""

    when: Callable[["Orders"], bool]
    do: Callable[["Orders"], object]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One path of one order: how its services behave by effect, call by call, and what people do.

    `declines` are the effects that are refused until an operator has mended the cause. `ends` is the state in which the
    order and its child have to end; `hidden` is how many seconds a message stays hidden that was not deleted. `rejects`
    is how many rejects there have to be, `batch` the most messages that a Scheduler gets at once, `asked` the commands
    that the audit log has to hold, once each.
    """

    what: str
    ends: ProcessState = ProcessState.PROCESSED
    plan: Plan = LINE
    mail: Sequence[str] = (ORDER,)
    moods: Mapping[str, Sequence[Mood]] = field(default_factory=dict)
    declines: frozenset[str] = frozenset()
    acts: Sequence[Act] = ()
    hidden: int = HIDDEN
    rejects: int = 0
    batch: int = 1
    asked: tuple[str, ...] = ()


@dataclass(slots=True)
class Orders:
    """A world in which one scenario is played: where a process dies, another takes over, with another clock."""

    scenario: Scenario
    pulse: Pulse
    engine: Engine = field(init=False)
    acts: list[Act] = field(default_factory=list)

    def __post_init__(self) -> None:
        app = PlannedApp(self.scenario.plan)
        self.engine = Engine(app, SETTINGS, self.scenario.hidden, AHEAD, self.pulse)
        self.acts = list(self.scenario.acts)
        for queue in TO_SCHEDULER:
            self.engine.parts.pump.lines[queue].batch = self.scenario.batch
        for operation in app.known.values():
            self.engine.service(operation).takes(TAKES)
        for effect, moods in self.scenario.moods.items():
            for mood in moods:
                self.service(effect).behaves(mood)
        for effect in self.scenario.declines:
            self.service(effect).declines()
        for text in self.scenario.mail:
            self.engine.post("orders", text)

    @property
    def task(self) -> Task | None:
        return self.engine.parts.store.tasks.get(ORDER_ID)

    def state(self, step: str) -> ProcessState | None:
        record = self.task.steps.get(step) if self.task else None
        return record.process_state if record else None

    def is_alerted(self, step: str) -> bool:
        """Whether an operator knows of the step's Error."""
        return any(isinstance(alert, StepFailed) and alert.step == step for alert in self.engine.alerts)

    @property
    def is_told(self) -> bool:
        """Whether the submitter knows that the order failed. No queue loses a message here, as it may in a world."""
        return any(notice.status is Status.FAILED for notice in self.engine.notices)

    def service(self, effect: str) -> Service:
        """The service that does a step, or undoes it."""
        name, app = forward_name(effect), self.engine.app
        step = next(plan.by_name[name] for plan in app.plans().values() if name in plan.by_name)
        name = step.undo if effect.endswith(UNDO_SUFFIX) else step.operation
        return self.engine.service(app.operations(step.agent)[name])

    def act(self) -> bool:
        """Have the next person act, if it is time; this never ends the run."""
        if self.acts and self.acts[0].when(self):
            act = self.acts.pop(0)
            self.pulse.note("somebody acts")
            act.do(self)
        return False


def live(scenario: Scenario, pulse: Pulse) -> Iterator[str]:
    world = Orders(scenario, pulse)
    yield from played(world.engine, until=world.act)
    tasks = world.engine.parts.store.tasks.values()
    ended = [task.process_state if task else None for task in tasks or [world.task]]
    yield from (f"the order ended {state}, not {scenario.ends}" for state in ended if state is not scenario.ends)
    if {task.process_state for task in tasks if task and task.reply_to} & {ProcessState.ERROR} and not world.is_told:
        yield "the order failed and the submitter was not notified"
    if world.acts:
        yield f"{len(world.acts)} of the things that people were to do never came about"
    if len(world.engine.rejects) != scenario.rejects:
        yield f"there are {len(world.engine.rejects)} rejects, not {scenario.rejects}"
    entries = AuditLog(world.engine.parts.shared_records).of(ORDER_ID)
    asked = tuple(entry.command for entry in entries if entry.applied)
    if asked != scenario.asked:
        yield f"the audit log holds {asked}, not {scenario.asked}"
