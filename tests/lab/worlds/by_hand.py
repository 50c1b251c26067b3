"""A world without chance: whoever tests says which message is handled next, by whom, and what goes wrong meanwhile."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from stepward.domain.workflow.definition import Call
from stepward.domain.workflow.plan import Plan
from stepward.testing.faults import audit
from stepward.testing.faults.broken import Broken
from stepward.testing.faults.diary import Diary
from stepward.testing.faults.gate import Chances, Gate
from stepward.testing.faults.judge import Judge
from stepward.testing.faults.ledger import Ledger
from stepward.testing.faults.loop import Loop
from stepward.testing.faults.profile import CALM, Mood
from stepward.testing.faults.pulse import Fault, Kill, Kind, Pulse
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.testing.parts import Parts
from stepward.testing.ports import JudgedTasks
from stepward.testing.pump import Line, Part
from stepward.testing.seeded.cast import SETTINGS
from stepward.testing.services import Behaviour, Service, Services
from stepward.testing.sqs.messages import Stored
from tests.factories import MINUTE
from tests.planned_app import PlannedApp

COPIES = 2
BACKLOG = 3
SITES = {
    Kind.DIES_BEFORE: ("queues.to_scheduler", "queues.to_agents", "queues.reply"),
    Kind.ANSWER_LOST: ("store.submit", "store.save"),
    Kind.FAILS: ("alerts.send", "alerts.summarise"),
}
"""Where each fault that can be armed strikes."""


def nothing() -> None:
    """Nobody acts."""


@dataclass(slots=True)
class HandPulse(Pulse):
    """Lets everything through, but for what is armed, once; `before_write` is what others do before the next write."""

    before_write: Callable[[], None] = nothing

    def pass_on(
        self, name: str, args: Sequence[Any], do: Callable[[], Any], fault: Fault, half: Callable[[], Any] | None
    ) -> Any:
        if name == "store.save":
            others_act, self.before_write = self.before_write, nothing
            others_act()
        return Pulse.pass_on(self, name, args, do, fault, half)

    def arm(self, kind: Kind | None) -> None:
        """Have this happen once, and nothing else that was to happen."""
        self.before_write = nothing
        self.kills = [Kill("", 1, kind, SITES[kind])] if kind else []


@dataclass(slots=True)
class Listing(JudgedTasks):
    """The state store, whose index lists every task, and those that are due twice."""

    def due(self, shard: int, until: int) -> Iterator[str]:
        due = list(JudgedTasks.due(self, shard, until))
        yield from [*due, *self.tasks, *due]


@dataclass(slots=True)
class HandServices(Services):
    """Honest services that behave as `moods` say, call by call, and then work; others act while a call hangs."""

    moods: list[Mood | None] = field(default_factory=list)

    def behaviour_of(self, service: Service, order_id: str, effect: str, call: Call) -> Behaviour:  # noqa: ARG002
        return Behaviour(self.moods.pop(0) if self.moods else None, "as the test wants", late=1)


@dataclass
class HandParts(Parts):
    """The parts of a world by hand; `meanwhile` is what others do while a service hangs."""

    meanwhile: Callable[[], None] = nothing

    def make_store(self) -> JudgedTasks:
        return Listing(shard_of=self.shard_of)

    def make_services(self, ledger: Ledger) -> Services:
        return HandServices(self._hang, self._now, self.note, self.judge.called, ledger)

    def served(self) -> Any:
        return self.services.call

    def _hang(self, seconds: float) -> None:
        if seconds:
            self.gate.here.waited = True
            others_act, self.meanwhile = self.meanwhile, nothing
            others_act()


@dataclass(frozen=True, slots=True)
class Mail:
    """A message in its queue."""

    queue: str
    line: Line
    stored: Stored

    def forget(self) -> None:
        self.line.queue.delete(self.stored.handle)


@dataclass(slots=True)
class HandWorld:
    """The real use cases, two of each part; `faults` are what the judge found.

    The clock of every second instance is `ahead` milliseconds ahead.
    """

    plan: Plan
    ahead: int
    faults: list[str] = field(default_factory=list)
    hand: HandPulse = field(default_factory=HandPulse)
    parts: HandParts = field(init=False)
    supervisor: Part = field(default_factory=lambda: Part("supervisor", copies=COPIES))

    def __post_init__(self) -> None:
        loop = Loop()
        self.parts = HandParts(
            app=PlannedApp(self.plan),
            settings=replace(SETTINGS, shards=1),
            gate=Gate(loop, Chances(0, frozenset()), Diary(loop), CALM),
            pulse=self.hand,
            visibility=0,
            skew=self.ahead,
            copies=dict.fromkeys(("submission", "scheduler", "agent"), COPIES),
            backlog=BACKLOG,
        )

    @property
    def judge(self) -> Judge:
        return self.parts.judge

    @property
    def now(self) -> int:
        return self.parts.loop.now

    def pass_time(self, milliseconds: int) -> None:
        self.parts.loop.now += milliseconds

    def behave(self, moods: Sequence[Mood | None], meanwhile: Callable[[], None] = nothing) -> None:
        """How services behave from now on; `meanwhile` is what others do while one hangs."""
        assert isinstance(self.parts.services, HandServices)
        self.parts.services.moods, self.parts.meanwhile = list(moods), meanwhile

    def mail(self, *queues: str) -> list[Mail]:
        """All messages of these queues, or of all, as they were sent; each can be delivered in any order."""
        lines = self.parts.pump.lines.items()
        found = [Mail(name, line, stored) for name, line in lines for stored in line.queue.stored]
        return sorted(
            (mail for mail in found if not queues or mail.queue in queues), key=lambda mail: mail.stored.sent_at
        )

    def deliver(self, mail: Mail, copy: int, *, again: bool = False) -> None:
        """Have one instance handle a message. It stays if it is to come `again`, or was not handled."""
        line = mail.line
        line.doubled = int(again)
        with self._judged():
            self.parts.pump.work(line, [line.queue.hand_out(mail.stored)], copy)
        line.doubled = 0

    def sweep(self, copy: int) -> None:
        """Have one Supervisor sweep; it may die.

        Each has leases of its own: whatever leases save, correctness must not rest on them.
        """

        def act(instance: str) -> None:
            plain = self.parts.supervisor(instance)
            replace(plain, leases=replace(plain.leases, shared_records=MemorySharedRecords())).sweep(lambda: MINUTE)

        with self._judged():
            self.parts.pump.invoke(self.supervisor, "", act, wish=copy)

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
