"""The use cases over the ports of a world: several instances of each part, each with its own clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count

from stepward.app.agent.guard import Guard
from stepward.app.assembly import Application, Assembly
from stepward.app.intake import Received
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.workflow.definition import Agent, Operation
from stepward.domain.workflow.plan import Plan
from stepward.ports import LaneQueue, Lanes
from stepward.testing.application import staged
from stepward.testing.faults.diary import Diary
from stepward.testing.memory.lanes import MemoryLedgers
from stepward.testing.memory.telemetry import MemoryTelemetry
from stepward.testing.seeded.gate import Gate
from stepward.testing.seeded.mail import Message
from stepward.testing.seeded.ports import Operators, Post, Rejects, SharedRecords, Store, Submitters
from stepward.testing.seeded.remote import Remote
from stepward.testing.settings import Settings


@dataclass(slots=True)
class Log(MemoryTelemetry):
    """The history entries of all parts, each once, and how often an order was a duplicate or a conflict."""

    diary: Diary = field(kw_only=True)
    logged: set[tuple[str, HistoryKind, str, int]] = field(default_factory=set, kw_only=True)
    duplicates: Counter[str] = field(default_factory=Counter, kw_only=True)

    def record(self, order_id: str, entry: HistoryEntry) -> None:
        """See the port."""
        self.logged.add((order_id, entry.kind, entry.step, entry.attempt))
        self.duplicates[order_id] += entry.kind in (HistoryKind.DUPLICATE, HistoryKind.CONFLICT)
        if order_id and self.diary.is_kept:
            self.diary.note(order_id, f"history: {entry.kind} {entry.step} {entry.attempt or ''} {entry.note}")


@dataclass(slots=True)
class Instances:
    """The parts of a world over its ports; `plans` are those that instances freeze with the orders they accept."""

    gate: Gate
    app: Application
    settings: Settings
    store: Store
    shared_records: SharedRecords
    post: Post
    operators: Operators
    submitters: Submitters
    remote: Remote
    log: Log
    plans: Sequence[Plan]
    rejects: Rejects
    lanes: Lanes | None = None
    lane_queue: LaneQueue | None = None
    skews: dict[str, int] = field(default_factory=dict)
    guards: dict[tuple[str, int], Guard] = field(default_factory=dict)
    probes: count = field(default_factory=count)  # type: ignore[type-arg]

    def of(self, part: str, copy: int) -> Assembly:
        """Makes the use cases of one instance."""
        assembly = Assembly(
            settings=self.settings,
            telemetry=self.log,
            now=self.clock(f"{part}-{copy}"),
            new_id=partial(self._probe, copy),
            app=staged(self.app, self.plans[copy % len(self.plans)], self._operations),
            store=self.store,
            queues=self.post,
            rejects=self.rejects,
            shared_records=self.shared_records,
            alerts=self.operators,
            notices=self.submitters,
            ledgers=MemoryLedgers(),
            sleep=self._sleep,
            jitter=lambda: 0.5,
        )
        if self.lanes and self.lane_queue:
            return replace(assembly, lanes=self.lanes, lane_queue=self.lane_queue)
        return assembly

    def submit(self, copy: int, message: Message) -> None:
        """One instance of the function that takes orders handles a message."""
        self._take_in("submission", copy, message, lambda made: made.submission().handle)

    def schedule(self, copy: int, message: Message) -> None:
        """One Scheduler handles a message."""
        self._take_in("scheduler", copy, message, lambda made: made.scheduler(f"scheduler-{copy}").handle)

    def serve(self, agent: str, copy: int, message: Message) -> None:
        """One instance of an agent handles a request."""
        if (agent, copy) not in self.guards:
            self.guards[agent, copy] = self.of(agent, copy).guard(agent)
        guard = self.guards[agent, copy]
        self._take_in(agent, copy, message, lambda made: made.agent(agent, guard).handle)

    def bury(self, agent: str, copy: int) -> None:
        """Forget what a process of an agent that died had in memory."""
        self.guards.pop((agent, copy), None)

    def sweep(self, copy: int, remaining: Callable[[], int]) -> None:
        """One Supervisor sweeps."""
        self.of("supervisor", copy).supervisor(f"supervisor-{copy}", self.post.agents).sweep(remaining)

    def clock(self, instance: str) -> Callable[[], int]:
        """The clock of this instance."""
        loop, skew = self.gate.loop, self.skews.get(instance, 0)
        return lambda: loop.now + skew

    def _operations(self, agent: str) -> Mapping[str, Operation]:
        names = {
            name
            for plan in self.plans
            for step in plan.steps
            for who in step.executors
            for name, by in ((who.operation, who.agent), (who.undo, who.undo_agent))
            if by == agent
        }
        return {name: Operation(Agent(agent), name, partial(self.remote.call, agent, name)) for name in names}

    def _take_in(
        self, part: str, copy: int, message: Message, handler: Callable[[Assembly], Callable[[str], None]]
    ) -> None:
        """Handle a message, or reject it."""
        made = self.of(part, copy)
        made.intake(handler(made)).accept(received(message, self.gate.loop.now))

    def _sleep(self, seconds: float) -> None:
        self.gate.wait(round(seconds * 1000))

    def _probe(self, copy: int) -> str:
        return f"probe-{copy}-{next(self.probes)}"


def received(message: Message, now: int) -> Received:
    """A message in the shape that an intake takes."""
    return Received(message.name, message.queue, now, message.text)
