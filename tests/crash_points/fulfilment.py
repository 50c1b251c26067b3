"""Orders through the whole engine, with every port call counted: a world of the simulation, tapped."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from stepward.adapters.memory.controls import MemoryControls
from stepward.app.trail import Trail
from stepward.domain.plan import Plan
from stepward.domain.task import ProcessState, Task
from stepward.wire.messages import decode_request
from tests.crash_points.pulse import Pulse
from tests.factories import ORDER_ID, SECOND, T0
from tests.simulation.by_hand import HandWorld, Mail
from tests.simulation.deployment import TIMING
from tests.simulation.seeded.profile import Mood

AGENT = "agent worker"
AHEAD = 2_500
"""By so much the clocks of every second instance differ, in milliseconds."""
TAKES = {AGENT: 4 * SECOND}
"""How long a message of each queue is on its way; of the others 10 milliseconds."""
HANGS = 50 * SECOND
"""For so long, and no less, a call hangs; others have a few turns meanwhile."""
WHILE_HANGING = 6
MOST_TURNS = 400


@dataclass(frozen=True, slots=True)
class Act:
    """What somebody does once, as soon as `when` says so; `says` sends what they say."""

    when: Callable[["Orders"], bool]
    says: Callable[["Orders"], None]


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


@dataclass(slots=True)
class Orders:
    """A world in which one story is played, by two instances of every part: where one dies, the other takes over."""

    story: Story
    pulse: Pulse
    world: HandWorld = field(init=False)
    copies: dict[str, int] = field(default_factory=dict)
    acts: list[Act] = field(default_factory=list)
    moods: dict[str, list[Mood | None]] = field(default_factory=dict)
    declines: set[str] = field(default_factory=set)
    swept_at: int = 0
    never_late: list[str] = field(default_factory=list)
    is_quiet: bool = False

    def __post_init__(self) -> None:
        skews = {f"{part}-1": AHEAD for part in ("submission", "scheduler", "worker", "supervisor")}
        leases = self.pulse.tap(MemoryControls(), "leases")
        self.world = HandWorld(self.story.plan, skews, self.pulse.tap, lambda: leases)
        self.pulse.now = lambda: f"{(self.world.now - T0) / 1000:>8.2f} s"
        self.acts = list(self.story.acts)
        self.moods = {slot: list(moods) for slot, moods in self.story.moods.items()}
        self.declines = set(self.story.declines)
        for text in self.story.mail:
            self.world.send("orders", ORDER_ID, text)

    @property
    def task(self) -> Task | None:
        """The order of the story as it stands."""
        return self.world.judge.tasks.tasks.get(ORDER_ID)

    def says(self, queue: str, text: str, delay: int = 0) -> None:
        """Somebody sends a message about the order."""
        self.pulse.note(f"somebody sends {text}")
        self.world.send(queue, ORDER_ID, text, delay)

    def run(self) -> None:
        """See World."""
        for _ in range(MOST_TURNS):
            self._people_act()
            if not self._next():
                self.is_quiet = True
                return
            self.never_late += self.world.late()

    def broken(self) -> Iterator[str]:
        """See World."""
        if not self.is_quiet:
            yield f"it is not quiet after {MOST_TURNS} turns"
        self.world.verdict()
        yield from dict.fromkeys([*self.never_late, *self.world.faults, *self.world.doubled()])
        yield from self._wrong_end()

    def _wrong_end(self) -> Iterator[str]:
        ended = self.task.process_state if self.task else None
        if ended is not self.story.ends:
            yield f"the order ended {ended}, not {self.story.ends}"
        if self.acts:
            yield f"{len(self.acts)} of the things that people were to do never came about"
        kept = self.world.parts.rejects.inner.kept
        if len(kept) != self.story.rejects:
            yield f"{len(kept)} messages are kept for an operator, not {self.story.rejects}"
        entries = Trail(self.world.parts.controls.inner).of(ORDER_ID)
        asked = tuple(entry.command for entry in entries if entry.applied)
        if asked != self.story.asked:
            yield f"the trail holds {asked}, not {self.story.asked}"

    def _people_act(self) -> None:
        for act in [act for act in self.acts[:1] if act.when(self)]:
            self.acts.remove(act)
            act.says(self)

    def _next(self) -> bool:
        """Whatever comes next: a message, or a Supervisor; False if nothing does."""
        world, dues = self.world, self.world.dues()
        bag = sorted(world.bag.mail, key=lambda mail: mail.at)
        sweep_at = max(min(dues) + TIMING.skew_margin, self.swept_at + 20 * SECOND) if dues else None
        if bag and (sweep_at is None or bag[0].at <= max(sweep_at, world.now)):
            self._wait_for(bag[0].at)
            self._deliver(bag[0])
        elif sweep_at is not None:
            self._wait_for(sweep_at)
            self.swept_at = world.now
            self._by("supervisor", "sweep", world.sweep)
        return bool(bag or dues)

    def _wait_for(self, at: int) -> None:
        self.world.pass_time(max(0, at - self.world.now))

    def _deliver(self, mail: Mail) -> None:
        world, letter = self.world, mail.letter
        world.bag.mail.remove(mail)
        world.pass_time(TAKES.get(letter.queue, 10))
        if letter.queue == AGENT:
            world.services.moods = self._moods_for(letter.text)
            world.services.meanwhile = self._others_act
        back = self._by(letter.queue, letter.text, lambda copy: world.deliver(letter, copy))
        if back is not None:
            world.bag.mail.append(replace(mail, at=world.now + (back or self.story.hidden)))

    def _moods_for(self, request: str) -> list[Mood | None]:
        slot = decode_request(request).idempotency_key.removeprefix(f"{ORDER_ID}/")
        return [Mood.DECLINES] if slot in self.declines else self.moods.setdefault(slot, [])

    def _others_act(self) -> None:
        """While a call hangs, all that is due by then happens elsewhere."""
        self.copies[AGENT] = 1 - self.copies.get(AGENT, 0)
        self.world.pass_time(HANGS)
        for _ in range(WHILE_HANGING):
            self._people_act()
            self._next()

    def _by(self, part: str, what: str, act: Callable[[int], int | None]) -> int | None:
        """One instance acts; what it does may be the death of it, and then the other one is next."""
        copy = self.copies.get(part, 0)
        self.pulse.note(f"{part}-{copy}: {what}")
        deaths = self.pulse.deaths
        answer = act(copy)
        if self.pulse.deaths > deaths:
            self.copies[part] = 1 - copy
        return answer
