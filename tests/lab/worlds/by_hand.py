"""A world without chance: whoever tests says which message is handled next, by whom, and what goes wrong meanwhile."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random

from stepward.domain.messages import Outcome, Reply
from stepward.domain.workflow.plan import Plan
from stepward.testing.faults import audit
from stepward.testing.faults.broken import Broken
from stepward.testing.faults.diary import Diary
from stepward.testing.faults.loop import Loop
from stepward.testing.faults.record import Died, Write
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.testing.memory.task_store import MemoryTaskStore
from stepward.testing.seeded.assembly import Instances, Log
from stepward.testing.seeded.chances import Chances
from stepward.testing.seeded.gate import Answer, Gate
from stepward.testing.seeded.judge import Judge
from stepward.testing.seeded.ledger import Ledger
from stepward.testing.seeded.mail import LATENCY, Letter, Mailbox, Part
from stepward.testing.seeded.ports import Operators, Post, Rejects, SharedRecords, Store, Submitters
from stepward.testing.seeded.profile import CALM, Mishap
from stepward.testing.seeded.remote import Remote
from stepward.testing.seeded.world import SETTINGS, understood
from stepward.testing.services import Mood
from stepward.wire.messages import decode_for_scheduler
from tests.factories import MINUTE
from tests.planned_app import PlannedApp, works

COPIES = 2
BACKLOG = 3
SITES = {
    Mishap.DIES_BEFORE: ("the send to the Scheduler", "the send to agents", "the reply"),
    Mishap.LOSES_ANSWER: ("the submission", "a write"),
    Mishap.THROTTLED: ("the alert", "the summary of alerts"),
}
"""Where each mishap that can be armed strikes."""


def nothing() -> None:
    """Nobody acts."""


@dataclass(slots=True)
class HandGate(Gate):
    """Lets everything through, but for what is armed, once; `before_write` is what others do before the next write."""

    armed: Mishap | None = None
    before_write: Callable[[], None] = nothing

    def through(
        self,
        site: str,
        act: Callable[[], Answer],
        *,
        about: str = "",  # noqa: ARG002 - as Gate has it
        again: Callable[[], Answer] | None = None,
        partly: Callable[[], object] | None = None,
    ) -> Answer:
        """See Gate."""
        if site == "a write":
            others_act, self.before_write = self.before_write, nothing
            others_act()
        if self.armed is None or site not in SITES[self.armed]:
            return act()
        mishap, self.armed = self.armed, None
        return self._go_wrong(mishap, Random(0), act, again or act, partly or act)  # noqa: S311 - thrown by nobody

    def clear(self) -> None:
        """All goes well from here on."""
        self.armed, self.before_write = None, nothing


class Listing(Store):
    """The state store, whose index lists whatever there is, and twice what is due."""

    def _due(self, shard: int, until: int) -> list[str]:
        due = list(self.inner.due(shard, until))
        return [*due, *self.inner.tasks, *due]


@dataclass(slots=True)
class Services(Remote):
    """Honest services that behave as `moods` say, call by call, and then work; others act while a call hangs."""

    moods: list[Mood | None] = field(default_factory=list)
    meanwhile: Callable[[], None] = nothing

    def _mood(self, _name: str) -> tuple[Mood, Random] | None:
        mood = self.moods.pop(0) if self.moods else None
        return (mood, Random(0)) if mood else None  # noqa: S311 - thrown by nobody

    def _hang(self, _dice: Random) -> None:
        self.gate.here.waited = True
        others_act, self.meanwhile = self.meanwhile, nothing
        others_act()


@dataclass
class Parts(Instances):
    """The parts of such a world; each Supervisor has leases of its own.

    Whatever leases save, correctness must not rest on them.
    """

    def sweep(self, copy: int, remaining: Callable[[], int]) -> None:
        """See Instances."""
        plain = self.of("supervisor", copy).supervisor(f"supervisor-{copy}", self.post.agents)
        replace(plain, leases=replace(plain.leases, shared_records=MemorySharedRecords())).sweep(remaining)


@dataclass(frozen=True, slots=True)
class Mail:
    """A message on its way, and when it may come at the earliest."""

    letter: Letter
    at: int


@dataclass(slots=True)
class Bag(Mailbox):
    """All queues as one bag: what is in it can be delivered in any order, twice, late or never."""

    mail: list[Mail] = field(default_factory=list)

    def waiting_in(self, queue: str) -> int:
        """How many messages of a queue are on their way."""
        return sum(mail.letter.queue == queue for mail in self.mail)

    def handled(self, letter: Letter, copy: int) -> int | None:
        """Have one instance handle it. None if the queue may forget it, else after how long it is back."""
        part = self.parts[letter.queue]
        back = self._handled(letter, part, copy)
        if back is None:
            part.handled(letter)
        return back

    def _arrive(self, letter: Letter, wait: int, received: int = 1) -> None:  # noqa: ARG002 - as Mailbox has it
        self.mail.append(Mail(letter, self.gate.loop.now + wait - LATENCY))


@dataclass(slots=True)
class HandWorld:
    """The real use cases, two of each part, over the ports of the seeded worlds; `faults` are what the judge found.

    `skews` says how far the clock of each instance is ahead, in milliseconds.
    """

    plan: Plan
    skews: dict[str, int]
    faults: list[str] = field(default_factory=list)
    gate: HandGate = field(init=False)
    bag: Bag = field(init=False)
    judge: Judge = field(init=False)
    ledger: Ledger = field(default_factory=Ledger)
    services: Services = field(init=False)
    parts: Parts = field(init=False)

    def __post_init__(self) -> None:
        loop = Loop()
        self.gate = HandGate(loop, Chances(0, frozenset()), Diary(loop), CALM)
        store = Listing(self.gate, self._written, MemoryTaskStore(shard_of=lambda _: 0))
        log = Log(diary=self.gate.diary)
        self.judge = Judge(self.gate, store.inner, self.ledger, self._clock_of, log.told, SETTINGS.timing)
        self.bag = Bag(self.gate, self.judge.ended_well)
        self.services = Services(self.gate, self.judge, self.ledger, lambda _agent, _operation, call: works(call))
        self.parts = self._assembled(store, log)
        self._staff()

    @property
    def now(self) -> int:
        """The time."""
        return self.gate.loop.now

    def pass_time(self, milliseconds: int) -> None:
        """Time passes for everybody."""
        self.gate.loop.now += milliseconds

    def send(self, queue: str, order_id: str, text: str, delay: int = 0) -> None:
        """Put a message into the bag."""
        self.bag.send(queue, order_id, text, delay)

    def deliver(self, letter: Letter, copy: int) -> int | None:
        """Have one instance handle a message. None if its queue may forget it, else after how long it is back."""
        try:
            return self.bag.handled(letter, copy)
        except Broken as broken:
            self.faults.append(str(broken))
            return None

    def sweep(self, copy: int) -> None:
        """Have one Supervisor look; it may die while it does."""
        instance = f"supervisor-{copy}"
        try:
            with self.gate.invocation(instance, instance, None):
                self.parts.sweep(copy, lambda: MINUTE)
        except Died:
            pass
        except Broken as broken:
            self.faults.append(str(broken))

    def dues(self) -> list[int]:
        """When the index has each task looked at."""
        return [task.due for task in self.judge.tasks.tasks.values() if task.due is not None]

    def late(self) -> Iterator[str]:
        """I9: a task that the index lists later than something in it waits for."""
        for task in self.judge.tasks.tasks.values():
            yield from audit.listed_late(self.plan, task, SETTINGS.timing)

    def doubled(self) -> Iterator[str]:
        """I4, I6: an effect that happened twice, or was undone twice."""
        for effect, times in (*self.ledger.done.items(), *self.ledger.undone.items()):
            if times > 1:
                yield f"{effect} happened or was undone {times} times"

    def verdict(self) -> None:
        """I1, I6, I8, when nothing is on its way and nothing waits."""
        try:
            self.judge.verdict()
        except Broken as broken:
            self.faults.append(str(broken))

    def _assembled(self, store: Store, log: Log) -> Parts:
        gate, judge = self.gate, self.judge
        post = Post(gate, self.bag.send, self.bag.waiting_in, self.plan.agents, *judge.of_messages, backlog=BACKLOG)
        return Parts(
            gate=gate,
            app=PlannedApp(self.plan),
            settings=replace(SETTINGS, shards=1),
            store=store,
            shared_records=SharedRecords(gate),
            post=post,
            operators=Operators(gate, judge.alerted),
            submitters=Submitters(gate, judge.heard),
            remote=self.services,
            log=log,
            plans=[self.plan],
            rejects=Rejects(gate),
            skews=self.skews,
        )

    def _staff(self) -> None:
        parts, queues = self.parts, self.bag.parts
        queues["orders"] = Part("submission", COPIES, parts.submit)
        scheduler = Part("scheduler", COPIES, parts.schedule, understood, self._scheduled)
        queues["scheduler"] = queues["responses"] = scheduler
        for agent in self.plan.agents:
            serve, bury = partial(parts.serve, agent), partial(parts.bury, agent)
            queues[f"agent {agent}"] = Part(agent, COPIES, serve, buried=bury)

    def _clock_of(self, instance: str) -> int:
        return self.parts.clock(instance)()

    def _written(self, write: Write) -> None:
        breakers = any(name.startswith("breaker/") for name in self.parts.shared_records.inner.kept)
        self.judge.uncounted = self.parts.post.backlog_seen or breakers
        self.judge.written(write)

    def _scheduled(self, letter: Letter) -> None:
        message = decode_for_scheduler(letter.text)
        if isinstance(message, Reply) and message.outcome is Outcome.OK:
            self.judge.handled(message)
