"""The ports of a world: the memory twins, behind the gate and with the habits of the services that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from zlib import crc32

from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.messages import Alert, Instruction, Notice, Reply, ReportReject, Retry, StepRequest
from stepward.domain.rejects import Reject
from stepward.domain.submission import Order, Submission
from stepward.domain.task.record import Loaded, ProcessState, Task
from stepward.domain.task.wish import Wish
from stepward.domain.workflow.plan import Plan
from stepward.testing.faults.broken import Broken
from stepward.testing.faults.record import Write
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.testing.memory.task_store import MemoryRejects, MemoryTaskStore
from stepward.testing.seeded.gate import Gate
from stepward.wire.messages import encode

SHARDS = 2
BACKLOG = 6


def shard_of(order_id: str) -> int:
    """Where the index lists what is due of an order."""
    return crc32(order_id.encode()) % SHARDS


@dataclass(slots=True)
class Store:
    """The state store; its index of what is due may be stale, doubled, or list what is not due."""

    gate: Gate
    written: Callable[[Write], None]
    inner: MemoryTaskStore = field(default_factory=lambda: MemoryTaskStore(shard_of=shard_of))
    listed: dict[int, list[str]] = field(default_factory=dict)

    def submit(self, order: Order, task: Task, plan: Plan, *, meets: Wish | None = None) -> Submission | Wish:
        """See the port."""
        outcome: Submission | Wish = Submission.ACCEPTED

        def put() -> bool:
            nonlocal outcome
            outcome = self.inner.submit(order, task, plan, meets=meets)
            if outcome is Submission.ACCEPTED and meets:
                self.written(Write(replace(task, revision=1), task, self.gate.here.cause))
            return outcome is Submission.ACCEPTED

        name = f"order/{order.order_id}"
        return Submission.ACCEPTED if self.gate.write("the submission", name, put, about=order.order_id) else outcome

    def remember(self, wish: Wish) -> Wish | None:
        """See the port."""
        return self.gate.through("a wish", lambda: self.inner.remember(wish), about=wish.order_id)

    def wish(self, order_id: str) -> Wish | None:
        """See the port."""
        return self.gate.through("a read of a wish", lambda: self.inner.wish(order_id), about=order_id)

    def drop(self, wish: Wish) -> None:
        """See the port."""
        self.gate.through("the end of a wish", lambda: self.inner.drop(wish), about=wish.order_id)

    def load(self, order_id: str, *, with_order: bool = True) -> Loaded | None:
        """See the port."""
        return self.gate.through("a read", lambda: self.inner.load(order_id, with_order=with_order), about=order_id)

    def save(self, task: Task, *, replaces: Task) -> bool:
        """See the port."""
        cause = self.gate.here.cause

        def put() -> bool:
            before = self.inner.tasks[task.order_id]
            if saved := self.inner.save(task, replaces=replaces):
                self.written(Write(before, task, cause))
            return saved

        return self.gate.write("a write", f"task/{task.order_id}", put, about=task.order_id)

    def due(self, shard: int, until: int) -> Iterator[str]:
        """See the port."""
        yield from self.gate.through(f"the index of shard {shard}", lambda: self._due(shard, until))

    def _due(self, shard: int, until: int) -> list[str]:
        due, stale = list(self.inner.due(shard, until)), self.listed.get(shard, [])
        self.listed[shard] = due
        dice = self.gate.chances.happens(
            f"stale index of shard {shard} at {self.gate.loop.now}", self.gate.profile.mail
        )
        if dice is None:
            return due
        self.gate.diary.counts["stale index"] += 1
        self.gate.diary.note("", f"the index of shard {shard} is stale or doubled")
        return dice.choice([stale, due + due, due + list(self.inner.tasks), stale + due])

    def needing_attention(self) -> Iterator[str]:
        """See the port."""
        return self.inner.needing_attention()

    def every(self, state: ProcessState | None) -> Iterator[Task]:
        """See the port."""
        return self.inner.every(state)


@dataclass(slots=True)
class SharedRecords:
    """The shared records."""

    gate: Gate
    inner: MemorySharedRecords = field(default_factory=MemorySharedRecords)

    def read(self, name: str) -> SharedRecord | None:
        """See the port."""
        return self.gate.through(f"a read of {name}", lambda: self.inner.read(name))

    def write(self, shared_record: SharedRecord, *, replaces: SharedRecord | None) -> bool:
        """See the port."""
        name, revision = shared_record.name, shared_record.revision

        def put() -> bool:
            before = self.inner.read(name)
            saved = self.inner.write(shared_record, replaces=replaces)
            if saved and revision != (before.revision if before else 0) + 1:
                raise Broken("I2", self.gate.here.about, f"{name}: {before} was replaced by {shared_record}")
            return saved

        return self.gate.write(f"a write of {name}", name, put)


@dataclass(slots=True)
class Rejects:
    """What could not be accepted."""

    gate: Gate
    inner: MemoryRejects = field(default_factory=MemoryRejects)

    def keep(self, reject: Reject) -> None:
        """See the port."""
        self.gate.through("the keeping of a reject", lambda: self.inner.keep(reject))

    def newest(self, limit: int) -> list[Reject]:
        """See the port."""
        return self.inner.newest(limit)


Mailed = Callable[[str, str, str, int], None]
"""Puts a message on its way: queue, order, text, and the milliseconds that the queue keeps it."""


@dataclass(slots=True)
class Post:
    """The queues; a batch that is taken in part is reported as failed, as the senders of SQS do."""

    gate: Gate
    mail: Mailed
    waiting: Callable[[str], int]
    agents: Sequence[str]
    asked: Callable[[StepRequest], None]
    sent: Callable[[StepRequest], None]
    replied: Callable[[Reply], None]
    backlog: int = BACKLOG
    backlog_seen: bool = False

    def to_scheduler(self, messages: Sequence[Instruction]) -> None:
        """See the port."""
        letters = [
            ("scheduler", message.order_id, encode(message), message.delay if isinstance(message, Retry) else 0)
            for message in messages
        ]
        self._send("the send to the Scheduler", letters)

    def to_agents(self, requests: Sequence[StepRequest]) -> None:
        """See the port."""
        for request in requests:
            self.asked(request)
        letters = [(f"agent {request.agent}", request.order_id, encode(request), 0) for request in requests]
        self._send("the send to agents", letters)
        for request in requests:
            self.sent(request)

    def reply(self, replies: Sequence[Reply]) -> None:
        """See the port."""
        for reply in replies:
            self.replied(reply)
        self._send("the reply", [("responses", reply.order_id, encode(reply), 0) for reply in replies])

    def backlogged(self) -> frozenset[str]:
        """See the port."""
        return self.gate.through("the count of backlogs", self._backlogged)

    def _backlogged(self) -> frozenset[str]:
        found = frozenset(agent for agent in self.agents if self.waiting(f"agent {agent}") > self.backlog)
        self.backlog_seen = self.backlog_seen or bool(found)
        return found

    def _send(self, site: str, letters: list[tuple[str, str, str, int]]) -> None:
        if not letters:
            return

        def send(chosen: list[tuple[str, str, str, int]]) -> None:
            for message in chosen:
                self.mail(*message)

        self.gate.through(site, lambda: send(letters), about=letters[0][1], partly=lambda: send(letters[1:]))


@dataclass(slots=True)
class Submitters:
    """The submitters, on their own queues."""

    gate: Gate
    heard: Callable[[Notice], None]

    def post(self, notice: Notice | ReportReject) -> None:
        """See the port."""
        if isinstance(notice, Notice):
            self.gate.through("the notice", lambda: self.heard(notice), about=notice.order_id)


@dataclass(slots=True)
class Operators:
    """The operators who are alerted to Errors and waiting lanes."""

    gate: Gate
    heard: Callable[[Alert], None]

    def send(self, alert: Alert) -> bool:
        """See the port."""
        self.gate.through("the alert", lambda: self.heard(alert), about=alert.order_id)
        return True

    def summarise(self, alerts: Sequence[Alert]) -> None:
        """See the port."""

        def tell() -> None:
            for alert in alerts:
                self.heard(alert)

        self.gate.through("the summary of alerts", tell)
