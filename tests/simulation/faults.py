"""The ports of a deployment in memory that lose, double and delay on demand, and a log of every write."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from stepward.domain.errors import Transient
from stepward.domain.messages import Alert, Instruction, Notice, Reply, Retry, StepRequest, ToScheduler
from stepward.domain.plan import Plan
from stepward.domain.submission import Order, Submission
from stepward.domain.task import Loaded, ProcessState, Task
from stepward.testing.faults.record import Died, Write, Writes
from stepward.testing.memory.task_store import MemoryTaskStore
from stepward.wire.messages import encode

BACKLOG = 4


def nothing() -> None:
    """Nobody acts."""


@dataclass(slots=True)
class Faults:
    """What goes wrong next, each at most once: in one write, or in what follows it."""

    before_write: Callable[[], None] = nothing
    lose_answer: bool = False
    die_before_send: bool = False
    deaf: bool = False

    def clear(self) -> None:
        """All goes well from here on."""
        self.before_write, self.lose_answer, self.die_before_send, self.deaf = nothing, False, False, False


@dataclass(frozen=True, slots=True)
class Mail:
    """A message on its way; `to` is orders, scheduler, responses or worker, `at` when it may come at the earliest."""

    to: str
    text: str
    at: int = 0


@dataclass(slots=True)
class Post:
    """The queues as one bag: what is in it can be delivered in any order, twice, late or never.

    `backlog_seen` tells whether a Supervisor was ever told of a backlog; `too_early` are the requests that were
    sent before their claim, one of `claims`, was written.
    """

    faults: Faults
    claims: set[str]
    now: Callable[[], int]
    too_early: list[StepRequest] = field(default_factory=list)
    bag: list[Mail] = field(default_factory=list)
    backlog_seen: bool = False

    def to_scheduler(self, messages: Sequence[Instruction]) -> None:
        """See the port."""
        self._send("scheduler", messages)

    def to_agents(self, requests: Sequence[StepRequest]) -> None:
        """See the port."""
        self.too_early += [request for request in requests if request.token not in self.claims]
        self._send("worker", requests)

    def reply(self, replies: Sequence[Reply]) -> None:
        """See the port."""
        self._send("responses", replies)

    def backlogged(self) -> frozenset[str]:
        """See the port; four waiting requests are a backlog here."""
        if sum(mail.to == "worker" for mail in self.bag) < BACKLOG:
            return frozenset()
        self.backlog_seen = True
        return frozenset({"worker"})

    def _send(self, to: str, messages: Sequence[ToScheduler | StepRequest]) -> None:
        if self.faults.die_before_send:
            self.faults.die_before_send = False
            raise Died
        for message in messages:
            delay = message.delay if isinstance(message, Retry) else 0
            self.bag.append(Mail(to, encode(message), self.now() + delay))


@dataclass(slots=True)
class Submitters:
    """The people who ordered, on their own queues."""

    told: list[Notice] = field(default_factory=list)

    def post(self, notice: Notice) -> None:
        """See the port."""
        self.told.append(notice)


@dataclass(slots=True)
class Operators:
    """The people who are told."""

    faults: Faults
    told: list[Alert] = field(default_factory=list)

    def tell(self, alert: Alert) -> bool:
        """See the port."""
        self.summarise([alert])
        return True

    def summarise(self, alerts: Sequence[Alert]) -> None:
        """See the port."""
        if self.faults.deaf:
            self.faults.deaf = False
            raise Transient("the topic is throttled")
        self.told.extend(alerts)


@dataclass(slots=True)
class WatchedStore:
    """The state store, with a log of every write; its listing of what is due is doubled and stale."""

    faults: Faults
    inner: MemoryTaskStore = field(default_factory=lambda: MemoryTaskStore(shard_of=lambda _: 0))
    writes: Writes = field(default_factory=Writes)
    cause: ToScheduler | None = None

    def submit(self, order: Order, task: Task, plan: Plan) -> Submission:
        """See the port."""
        outcome = self.inner.submit(order, task, plan)
        self._answer()
        return outcome

    def load(self, order_id: str, *, with_order: bool = True) -> Loaded | None:
        """See the port."""
        return self.inner.load(order_id, with_order=with_order)

    def save(self, task: Task, *, replaces: Task) -> bool:
        """See the port; somebody else may act first, and the answer may be lost."""
        act, self.faults.before_write = self.faults.before_write, nothing
        act()
        before = self.inner.tasks[task.order_id]
        if saved := self.inner.save(task, replaces=replaces):
            self.writes.note(Write(before, task, self.cause))
        self._answer()
        return saved

    def due(self, shard: int, until: int) -> Iterator[str]:
        """See the port; whatever else there is is listed as well, and twice."""
        due = list(self.inner.due(shard, until))
        yield from (*due, *self.inner.tasks, *due)

    def needing_attention(self) -> Iterator[str]:
        """See the port."""
        return self.inner.needing_attention()

    def every(self, state: ProcessState | None) -> Iterator[Task]:
        """See the port."""
        return self.inner.every(state)

    def _answer(self) -> None:
        if self.faults.lose_answer:
            self.faults.lose_answer = False
            raise Transient("the answer to a write was lost")
