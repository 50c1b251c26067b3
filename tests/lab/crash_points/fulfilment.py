"""Orders through the whole engine, with every port call counted, and people who act meanwhile."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from stepward.app.scheduler.audit_log import AuditLog
from stepward.domain.task.record import ProcessState, Task
from stepward.domain.workflow.plan import UNDO_SUFFIX, Plan, forward_name
from stepward.testing.crash import AHEAD
from stepward.testing.engine import Engine
from stepward.testing.faults.pulse import Pulse
from stepward.testing.seeded.world import SETTINGS
from stepward.testing.services import Mood, Service
from tests.factories import ORDER_ID
from tests.planned_app import PlannedApp

TAKES = 6
"""Seconds of a call."""
HIDDEN = 8
"""Seconds that a message stays away whose process died."""


@dataclass(frozen=True, slots=True)
class Act:
    """What somebody does once, as soon as `when` says so."""

    when: Callable[["Orders"], bool]
    do: Callable[["Orders"], object]


@dataclass(frozen=True, slots=True)
class Story:
    """One path of one order: how its services behave, call by call and slot by slot, and what people do.

    `declines` are the slots that are refused until an operator has seen to it. `ends` is the state in which the order
    has to end; `hidden` is how many seconds a message stays away that was not deleted. `rejects` is how many messages
    an operator has to find, `asked` the commands that the trail has to hold, once each.
    """

    plan: Plan
    mail: Sequence[str]
    ends: ProcessState
    moods: Mapping[str, Sequence[Mood]] = field(default_factory=dict)
    declines: frozenset[str] = frozenset()
    acts: Sequence[Act] = ()
    hidden: int = HIDDEN
    rejects: int = 0
    asked: tuple[str, ...] = ()


@dataclass(slots=True)
class Orders:
    """A world in which one story is played: where a process dies, another takes over, with another clock."""

    story: Story
    pulse: Pulse
    engine: Engine = field(init=False)
    acts: list[Act] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        app = PlannedApp(self.story.plan)
        self.engine = Engine(app, SETTINGS, self.story.hidden, AHEAD, self.pulse)
        self.acts = list(self.story.acts)
        for operation in app.known.values():
            self.engine.service(operation).takes(TAKES)
        for effect, moods in self.story.moods.items():
            for mood in moods:
                self.service(effect).behaves(mood)
        for effect in self.story.declines:
            self.service(effect).declines()
        for text in self.story.mail:
            self.engine.post("orders", text)

    @property
    def task(self) -> Task | None:
        """The order of the story as it stands."""
        return self.engine.parts.store.tasks.get(ORDER_ID)

    def service(self, effect: str) -> Service:
        """The service that does a step, or undoes it."""
        step, app = self.story.plan.by_name[forward_name(effect)], self.engine.app
        name = step.undo if effect.endswith(UNDO_SUFFIX) else step.operation
        return self.engine.service(app.operations(step.agent)[name])

    def run(self) -> None:
        """See World."""
        with self.engine:
            try:
                self.engine.run(self._look)
                self.engine.verdict()
            except AssertionError as fault:
                self.faults.append(str(fault))

    def broken(self) -> Iterator[str]:
        """See World."""
        yield from dict.fromkeys(self.faults)
        ended = self.task.process_state if self.task else None
        if ended is not self.story.ends:
            yield f"the order ended {ended}, not {self.story.ends}"
        if self.acts:
            yield f"{len(self.acts)} of the things that people were to do never came about"
        if len(self.engine.rejects) != self.story.rejects:
            yield f"{len(self.engine.rejects)} messages are kept for an operator, not {self.story.rejects}"
        entries = AuditLog(self.engine.parts.shared_records).of(ORDER_ID)
        asked = tuple(entry.command for entry in entries if entry.applied)
        if asked != self.story.asked:
            yield f"the trail holds {asked}, not {self.story.asked}"

    def _look(self) -> bool:
        """After each event: does anybody act?"""
        for act in [act for act in self.acts[:1] if act.when(self)]:
            self.acts.remove(act)
            self.pulse.note("somebody acts")
            act.do(self)
        return False
