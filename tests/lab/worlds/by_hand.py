"""A world without chance: whoever tests says which message is handled next, by whom, and what goes wrong meanwhile."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from stepward.domain.workflow.definition import Call
from stepward.domain.workflow.plan import Plan
from stepward.testing.faults import audit
from stepward.testing.faults.broken import Broken
from stepward.testing.faults.diary import Diary
from stepward.testing.faults.loop import Loop
from stepward.testing.faults.record import Died
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.testing.memory.task_store import MemoryTaskStore
from stepward.testing.seeded.chances import Chances
from stepward.testing.seeded.gate import Gate
from stepward.testing.seeded.mail import LATENCY, Mailbox, Message
from stepward.testing.seeded.people import People
from stepward.testing.seeded.ports import Store
from stepward.testing.seeded.profile import CALM, Mishap
from stepward.testing.seeded.remote import Remote
from stepward.testing.seeded.stage import SETTINGS, Cast, Stage
from stepward.testing.services import Mood
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

    def _mishap(self, site: str, about: str) -> tuple[Mishap, Random] | None:  # noqa: ARG002 - as Gate has it
        if site == "a write":
            others_act, self.before_write = self.before_write, nothing
            others_act()
        if self.armed is None or site not in SITES[self.armed]:
            return None
        mishap, self.armed = self.armed, None
        return mishap, Random(0)  # noqa: S311 - thrown by nobody

    def clear(self) -> None:
        self.armed, self.before_write = None, nothing


@dataclass(slots=True)
class Listing(Store):
    """The state store, whose index lists every task, and those that are due twice."""

    inner: MemoryTaskStore = field(default_factory=lambda: MemoryTaskStore(shard_of=lambda _: 0))

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


@dataclass(frozen=True, slots=True)
class Mail:
    """A message on its way, and when it may come at the earliest."""

    message: Message
    at: int


@dataclass(slots=True)
class Bag(Mailbox):
    """All queues as one bag: what is in it can be delivered in any order, twice, late or never."""

    mail: list[Mail] = field(default_factory=list)

    def waiting_in(self, queue: str) -> int:
        return sum(mail.message.queue == queue for mail in self.mail)

    def handled(self, message: Message, copy: int) -> int | None:
        """Have one instance handle it. None if the queue may forget it, else after how long it is back."""
        part = self.parts[message.queue]
        back = self._handled(message, part, copy)
        if back is None:
            part.handled(message)
        return back

    def _arrive(self, message: Message, wait: int, received: int = 1) -> None:  # noqa: ARG002 - as Mailbox has it
        self.mail.append(Mail(message, self.gate.loop.now + wait - LATENCY))


@dataclass(slots=True)
class HandWorld(Stage):
    """The real use cases, two of each part, over the ports of the seeded worlds; `faults` are what the judge found.

    `skews` says how far the clock of each instance is ahead, in milliseconds.
    """

    plan: Plan
    skews: dict[str, int]
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        loop = Loop()
        self.gate = HandGate(loop, Chances(0, frozenset()), Diary(loop), CALM)
        self.mailbox = Bag(self.gate)
        people = People(self.gate, self.mailbox, undoable=False, write=lambda _order_id, _dice: "")
        settings = replace(SETTINGS, shards=1)
        self.cast = Cast(PlannedApp(self.plan), self.plan, self.plan, people, _works, 0, settings)
        self.assemble(Listing, Services)
        self.parts.skews, self.parts.post.backlog = self.skews, BACKLOG

    @property
    def bag(self) -> Bag:
        assert isinstance(self.mailbox, Bag)
        return self.mailbox

    @property
    def hand(self) -> HandGate:
        assert isinstance(self.gate, HandGate)
        return self.gate

    @property
    def services(self) -> Services:
        assert isinstance(self.parts.remote, Services)
        return self.parts.remote

    @property
    def now(self) -> int:
        return self.gate.loop.now

    def pass_time(self, milliseconds: int) -> None:
        self.gate.loop.now += milliseconds

    def deliver(self, message: Message, copy: int) -> int | None:
        try:
            return self.bag.handled(message, copy)
        except Broken as broken:
            self.faults.append(str(broken))
            return None

    def sweep(self, copy: int) -> None:
        """Have one Supervisor sweep; it may die.

        Each has leases of its own: whatever leases save, correctness must not rest on them.
        """
        instance = f"supervisor-{copy}"
        with self._judged(), suppress(Died), self.gate.invocation(instance, instance, None):
            plain = self.parts.of("supervisor", copy).supervisor(instance, self.parts.post.agents)
            replace(plain, leases=replace(plain.leases, shared_records=MemorySharedRecords())).sweep(lambda: MINUTE)

    def dues(self) -> list[int]:
        return [task.due for task in self.judge.tasks.tasks.values() if task.due is not None]

    def late(self) -> Iterator[str]:
        """I9: a task that the index lists later than something in it waits for."""
        for task in self.judge.tasks.tasks.values():
            yield from audit.listed_late(self.plan, task, SETTINGS.timing)

    def doubled(self) -> Iterator[str]:
        """I4, I6: an effect that happened twice, or was undone twice."""
        for effect, times in (*self.judge.ledger.done.items(), *self.judge.ledger.undone.items()):
            if times > 1:
                yield f"{effect} happened or was undone {times} times"

    def verdict(self) -> None:
        """I1, I6, I8, when nothing is on its way and nothing waits."""
        with self._judged():
            self.judge.verdict()

    @contextmanager
    def _judged(self) -> Iterator[None]:
        """Keep what the judge finds, instead of an exception that ends the machine."""
        try:
            yield
        except Broken as broken:
            self.faults.append(str(broken))


def _works(_agent: str, _operation: str, call: Call) -> Mapping[str, Any]:
    return works(call)
