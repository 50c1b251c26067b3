"""Orders through the whole engine, with every port call counted: the deployment of the simulation, tapped."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from zlib import crc32

from stepward.adapters.memory.controls import MemoryControls
from stepward.adapters.memory.store import MemoryRejects
from stepward.app.alerting import Throttled
from stepward.app.breakers import Breakers
from stepward.app.guarding import Guard
from stepward.app.intake import Intake, Received
from stepward.app.scheduling import Schedule
from stepward.app.serving import Serve
from stepward.app.submission import Submit
from stepward.app.supervision import Supervise
from stepward.app.trail import Trail
from stepward.app.transition import Transition
from stepward.app.watching import Watch
from stepward.domain.errors import PutBack, Transient
from stepward.domain.plan import Plan
from stepward.domain.task import ProcessState, Task
from stepward.wire.messages import decode_request
from tests.crash_points.pulse import Pulse
from tests.factories import ORDER_ID, SECOND, T0
from tests.simulation import audit, undo_audit
from tests.simulation.deployment import TIMING, Deployment, understood
from tests.simulation.faults import Died, Mail
from tests.simulation.service import Mood

AHEAD = 2_500
"""By so much the clocks of every second instance differ, in milliseconds."""
TAKES = {"worker": 4 * SECOND}
"""How long a message of each queue is on its way; of the others 10 milliseconds."""
HANGS = 50 * SECOND
"""For so long, and no less, a call hangs; others have a few turns meanwhile."""
WHILE_HANGING = 6
MOST_TURNS = 400


@dataclass(frozen=True, slots=True)
class Act:
    """What somebody does once, as soon as `when` says so; `mail` is what they send."""

    when: Callable[["Orders"], bool]
    mail: Callable[["Orders"], Mail]


@dataclass(frozen=True, slots=True)
class Story:
    """One path of one order: how its services behave, call by call and slot by slot, and what people do.

    `declines` are the slots that are refused until an operator has seen to it. `ends` is the state in which the order
    has to end; `hidden` is how long a message stays away that was not deleted. `rejects` is how many messages an
    operator has to find, `asked` the commands that the trail has to hold, once each.
    """

    plan: Plan
    mail: Sequence[str]
    ends: ProcessState
    moods: Mapping[str, Sequence[Mood]] = field(default_factory=dict)
    declines: frozenset[str] = frozenset()
    acts: Sequence[Act] = ()
    hidden: int = SECOND
    rejects: int = 0
    asked: tuple[str, ...] = ()


class Counted(Deployment):
    """The deployment of the simulation; each port of each part is tapped."""

    pulse: Pulse
    leased: MemoryControls

    def submission(self, copy: int) -> Submit:
        """See Deployment."""
        plain = super().submission(copy)
        return replace(plain, store=self.pulse.tap(self.store, "store"), queues=self.pulse.tap(self.post, "queues"))

    def scheduler(self, copy: int) -> Schedule:
        """See Deployment."""
        notices = self.pulse.tap(self.submitters, "notices")
        transition = replace(self.transition(f"scheduler-{copy}"), notices=notices)
        return Schedule(transition, Trail(self.tapped_controls))

    def supervisor(self, copy: int) -> Supervise:
        """See Deployment; here all share their leases."""
        plain = super().supervisor(copy)
        leases = replace(plain.leases, controls=self.pulse.tap(self.leased, "leases"))
        return replace(plain, leases=leases)

    def watch(self) -> Watch:
        """See Deployment."""
        return replace(super().watch(), breakers=Breakers(self.tapped_controls))

    def transition(self, instance: str) -> Transition:
        """See Deployment."""
        plain = super().transition(instance)
        alerts = Throttled(self.pulse.tap(self.operators, "alerts"), self.tapped_controls, plain.now)
        return replace(
            plain, store=self.pulse.tap(self.store, "store"), queues=self.pulse.tap(self.post, "queues"), alerts=alerts
        )

    def agent(self, copy: int) -> Serve:
        """See Deployment."""
        plain = super().agent(copy)
        service = self.pulse.tap(self.service, "service", ConnectionError)
        operations = {name: replace(known, run=service.call) for name, known in plain.operations.items()}
        return replace(plain, operations=operations, queues=self.pulse.tap(self.post, "queues"))

    def guard(self, copy: int) -> Guard:
        """See Deployment."""
        return replace(super().guard(copy), breakers=Breakers(self.tapped_controls))

    @property
    def tapped_controls(self) -> MemoryControls:
        """The records that all instances share."""
        return self.pulse.tap(self.controls, "controls")

    def handler(self, to: str, copy: int) -> Callable[[str], None]:
        """What handles the messages of this queue."""
        match to:
            case "orders":
                return self.submission(copy).handle
            case "worker":
                return self.agent(copy).handle
            case _:
                return self.scheduler(copy).handle


@dataclass(slots=True)
class Orders:
    """A world in which one story is played, by two instances of every part: where one dies, the other takes over."""

    story: Story
    pulse: Pulse
    deployment: Counted = field(init=False)
    kept: MemoryRejects = field(default_factory=MemoryRejects)
    copies: dict[str, int] = field(default_factory=dict)
    acts: list[Act] = field(default_factory=list)
    moods: dict[str, list[Mood]] = field(default_factory=dict)
    declines: set[str] = field(default_factory=set)
    swept_at: int = 0
    never_late: list[str] = field(default_factory=list)
    is_quiet: bool = False

    def __post_init__(self) -> None:
        skews = {f"{part}-1": AHEAD for part in ("submission", "scheduler", "worker", "supervisor")}
        self.deployment = Counted(self.story.plan, skews)
        self.deployment.pulse, self.deployment.leased = self.pulse, MemoryControls()
        self.pulse.now = lambda: f"{(self.deployment.now - T0) / 1000:>8.2f} s"
        self.acts = list(self.story.acts)
        self.moods = {slot: list(moods) for slot, moods in self.story.moods.items()}
        self.declines = set(self.story.declines)
        self.deployment.post.bag += [Mail("orders", text) for text in self.story.mail]

    @property
    def task(self) -> Task | None:
        """The order of the story as it stands."""
        return self.deployment.store.inner.tasks.get(ORDER_ID)

    def run(self) -> None:
        """See World."""
        for _ in range(MOST_TURNS):
            self._people_act()
            if not self._next():
                self.is_quiet = True
                return
            self.never_late += audit.late(self.deployment)

    def broken(self) -> Iterator[str]:
        """See World."""
        world = self.deployment
        if not self.is_quiet:
            yield f"it is not quiet after {MOST_TURNS} turns"
        yield from dict.fromkeys(self.never_late)
        for check in (audit.two_holders, audit.out_of_turn, audit.called_early, audit.doubled, audit.miscounted):
            yield from check(world)
        for check in (audit.not_ended, undo_audit.undone_wrongly, undo_audit.left_standing):
            yield from check(world)
        for check in (undo_audit.told_wrongly, undo_audit.not_told):
            yield from check(world)
        yield from self._wrong_end()

    def _wrong_end(self) -> Iterator[str]:
        ended = self.task.process_state if self.task else None
        if ended is not self.story.ends:
            yield f"the order ended {ended}, not {self.story.ends}"
        if self.acts:
            yield f"{len(self.acts)} of the things that people were to do never came about"
        if len(self.kept.kept) != self.story.rejects:
            yield f"{len(self.kept.kept)} messages are kept for an operator, not {self.story.rejects}"
        entries = Trail(self.deployment.controls).of(ORDER_ID)
        asked = tuple(entry.command for entry in entries if entry.applied)
        if asked != self.story.asked:
            yield f"the trail holds {asked}, not {self.story.asked}"

    def _people_act(self) -> None:
        for act in [act for act in self.acts[:1] if act.when(self)]:
            self.acts.remove(act)
            mail = act.mail(self)
            self.pulse.note(f"somebody sends {mail.text}")
            self.deployment.post.bag.append(mail)

    def _next(self) -> bool:
        """Whatever comes next: a message, or a Supervisor; False if nothing does."""
        world = self.deployment
        bag = sorted(world.post.bag, key=lambda mail: mail.at)
        dues = [task.due for task in world.store.inner.tasks.values() if task.due is not None]
        sweep_at = max(min(dues) + TIMING.skew_margin, self.swept_at + 20 * SECOND) if dues else None
        if bag and (sweep_at is None or bag[0].at <= max(sweep_at, world.now)):
            world.now = max(world.now, bag[0].at)
            self._deliver(bag[0])
        elif sweep_at is not None:
            world.now = self.swept_at = max(world.now, sweep_at)
            self._by("supervisor", "sweep", world.sweep)
        return bool(bag or dues)

    def _deliver(self, mail: Mail) -> None:
        bag = self.deployment.post.bag
        bag.remove(mail)
        self.deployment.now += TAKES.get(mail.to, 10)
        if mail.to == "worker":
            self.deployment.service.moods = self._moods_for(mail)
            self.deployment.service.meanwhile = self._others_act
        hidden = self._by(mail.to, mail.text, lambda copy: self._handle(mail, copy))
        if hidden is not None:
            bag.append(replace(mail, at=self.deployment.now + hidden))

    def _moods_for(self, mail: Mail) -> list[Mood]:
        slot = decode_request(mail.text).idempotency_key.removeprefix(f"{ORDER_ID}/")
        return [Mood.DECLINES] if slot in self.declines else self.moods.setdefault(slot, [])

    def _others_act(self) -> None:
        """While a call hangs, all that is due by then happens elsewhere."""
        self.copies["worker"] = 1 - self.copies.get("worker", 0)
        self.deployment.now += HANGS
        for _ in range(WHILE_HANGING):
            self._people_act()
            self._next()

    def _by(self, part: str, what: str, act: Callable[[int], int | None]) -> int | None:
        """One instance acts; what it does may be the death of it, and then the other one is next."""
        world, copy = self.deployment, self.copies.get(part, 0)
        self.pulse.note(f"{part}-{copy}: {what}")
        deaths = self.pulse.deaths
        answer = act(copy)
        if self.pulse.deaths > deaths:
            self.copies[part] = 1 - copy
            world.guards.pop(copy, None) if part == "worker" else None
        return answer

    def _handle(self, mail: Mail, copy: int) -> int | None:
        """Have the message handled; for how long it stays hidden if it was not deleted."""
        world = self.deployment
        intake = Intake(world.handler(mail.to, copy), self.pulse.tap(self.kept, "rejects"), world.telemetry)
        outer, world.store.cause = world.store.cause, understood(mail)
        try:
            intake.accept(Received(f"{crc32(mail.text.encode()):x}", mail.to, T0, mail.text))
        except PutBack as put_back:
            return put_back.seconds * SECOND
        except (Transient, Died):
            return self.story.hidden
        finally:
            world.store.cause = outer
        return None
