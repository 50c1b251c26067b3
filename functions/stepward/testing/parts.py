"""The six functions of a deployment in memory: their ports, their queues, and what handles each message."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any
from zlib import crc32

from stepward.adapters.sqs.delivery import BACKLOG
from stepward.app.agent.breakers import Breakers
from stepward.app.agent.guard import Guard
from stepward.app.assembly import Application, Assembly
from stepward.app.intake import Intake
from stepward.app.supervisor.supervise import Supervise
from stepward.domain.errors import NotUnderstood, Rejected
from stepward.domain.messages import Alert, Outcome, Reply
from stepward.domain.workflow.agents import Call, Operation, Result
from stepward.testing.application import agents_of, checked, through
from stepward.testing.batches import Watched, handled
from stepward.testing.faults.gate import Gate
from stepward.testing.faults.judge import Judge
from stepward.testing.faults.ledger import Ledger
from stepward.testing.faults.loop import MINUTE, SECOND
from stepward.testing.faults.pulse import Pulse
from stepward.testing.memory.assembly import memory_assembly
from stepward.testing.memory.lanes import MemoryLaneQueue, MemoryLanes, MemoryLedgers
from stepward.testing.memory.task_store import MemoryRejects
from stepward.testing.ports import (
    JudgedAlerts,
    JudgedNotices,
    JudgedQueues,
    JudgedSharedRecords,
    JudgedTasks,
    NotedTelemetry,
)
from stepward.testing.pump import Handle, Line, Part, Pump, as_message, understood
from stepward.testing.services import Services
from stepward.testing.settings import Settings
from stepward.testing.sqs.fifo_queue import MemoryFifoQueue
from stepward.testing.sqs.messages import Received
from stepward.testing.sqs.queue import MemoryQueue
from stepward.testing.sqs.rules import LONGEST_VISIBILITY_S
from stepward.wire.messages import decode_request

PARTS = ("submission", "scheduler", "agent", "supervisor", "ledger", "convoy")
PORTS = ("store", "queues", "rejects", "shared_records", "alerts", "notices", "lanes")
RECEIVES, RECEIVES_IN_ORDER, RECEIVES_OF_REQUESTS = 5, 100, 1_000
"""Receives before a message moves to its dead-letter queue: in most queues, in FIFO queues, in those of agents."""
SWEPT_EVERY = 20 * SECOND
HIDDEN, LONGEST_CALL_TIMES = 60, 6
"""Visibility timeouts: seconds in the engine's own queues, a multiple of the longest call in an agent's."""


@dataclass(repr=False)
class Parts:
    """One deployment. `pulse` counts every call of a port, the judge checks what passes, `pump` moves the messages.

    `visibility` is the visibility timeout of all queues in seconds; 0 means that of a real deployment. `skew` is how
    many milliseconds the clock of every second process is ahead, `skews` says it of a process by its name. `copies`
    says how many processes a part has, for parts that do not grow. `hear` hears of every alert. An agent with more
    than `backlog` requests is backlogged.
    """

    app: Application
    settings: Settings
    gate: Gate
    pulse: Pulse
    visibility: int
    skew: int = 0
    lanes: MemoryLanes = field(default_factory=MemoryLanes)
    copies: Mapping[str, int] = field(default_factory=dict)
    hear: Callable[[Alert], object] = lambda _: None
    backlog: int = BACKLOG
    skews: dict[str, int] = field(default_factory=dict)
    ids: Iterator[int] = field(default_factory=count)
    swept_at: int = 0
    dead: list[MemoryQueue] = field(default_factory=list)
    guards: dict[tuple[str, str], Guard] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.plans = self.app.plans(self.settings.complete_within)
        self.loop, self.note = self.gate.loop, self.gate.diary.note
        self.pump = Pump(self.gate, self.pulse, self.due, self.sweep, self.done)
        self.store, self.telemetry = self.make_store(), NotedTelemetry(diary=self.gate.diary)
        ledger, timing = Ledger(), self.settings.timing
        self.judge = Judge(
            self.gate, self.store, ledger, lambda instance: self.time_of(instance)(), self.telemetry.told, timing
        )
        self.store.judge, self.store.is_lenient = self.judge, self._has_breakers
        self.services = replace(self.make_services(ledger), checked=checked(self.plans))
        self._make_queues()
        self.shared_records, self.rejects = self.make_shared_records(), MemoryRejects()
        self.objects = MemoryLedgers()
        self.alerts, self.notices = JudgedAlerts(judge=self.judge, hear=self.hear), JudgedNotices(self.judge)
        self.tapped = self._tapped()
        self.pump.lines = self._lines()

    def make_store(self) -> JudgedTasks:
        """The state store, empty."""
        return JudgedTasks(shard_of=self.shard_of)

    def make_shared_records(self) -> JudgedSharedRecords:
        """The shared records, empty."""
        return JudgedSharedRecords(judge=self.judge)

    def make_services(self, ledger: Ledger) -> Services:
        """The services behind the operations."""
        return Services(self.pump.wait, self._now, self.note, self.judge.called, ledger, self.pump.later)

    def shard_of(self, order_id: str) -> int:
        """Where the index lists what is due of an order."""
        return crc32(order_id.encode()) % self.settings.shards

    def agents(self) -> Sequence[str]:
        """The agents that have a queue."""
        return agents_of(self.plans)

    def served(self) -> Callable[[Operation, Call], Result]:
        """What calls a service; here each call is counted, as those of ports are."""
        return self.pulse.tap(self.services, "service", ConnectionError).call

    def _make_queues(self) -> None:
        limits = (step.complete_within for plan in self.plans.values() for step in plan.with_parts)
        longest = LONGEST_CALL_TIMES * max(limits) // SECOND
        urgent = [agent.name for agent in getattr(self.app, "agents", ()) if agent.priority_queue]
        of_agents = partial(self._queue, usual=longest, receives=RECEIVES_OF_REQUESTS)
        self.queues = self.make_queues(
            scheduler=self._queue("scheduler"),
            responses=self._queue("responses"),
            agents={agent: of_agents(f"agent-{agent}") for agent in self.agents()},
            backlog=self.backlog,
            priority_queues={agent: of_agents(f"agent-{agent}-high") for agent in urgent},
            judge=self.judge,
        )
        self.orders, self.ledgers, self.events = self._queue("orders"), self._fifo("ledgers"), self._fifo("events")

    def assembly(self, instance: str) -> Assembly:
        """What makes the use cases of one process."""
        return replace(self.tapped, now=self.time_of(instance), app=self.app_of(instance))

    def app_of(self, instance: str) -> Application:  # noqa: ARG002 - in worlds, they differ
        """The application as this process knows it."""
        return self.known

    def _tapped(self) -> Assembly:
        """What makes the use cases, with each call of a port and of a service counted."""
        self.known = through(self.app, self.served(), self.plans)
        ports: dict[str, Any] = {name: getattr(self, name) for name in PORTS}
        ports |= {"lane_queue": MemoryLaneQueue(self.events), "ledgers": self.objects}
        return memory_assembly(
            self._now,
            settings=self.settings,
            telemetry=self.telemetry,
            new_id=lambda: f"id-{next(self.ids)}",
            sleep=self.pump.wait,
            jitter=lambda: 0.5,
            **{name: self.pulse.tap(port, name) for name, port in ports.items()},
        )

    def time_of(self, instance: str) -> Callable[[], int]:
        """The clock of one process."""
        number = instance.rpartition("-")[2]
        ahead = self.skew if number.isdigit() and int(number) % 2 else self.skews.get(instance, 0)
        return lambda: self.loop.now + ahead

    def _lines(self) -> dict[str, Line]:
        """Each queue, with the part that it triggers."""
        scheduler, submit = self._part("scheduler"), self._each("orders", self._submit)
        schedule, respond = (self._each(queue, self._schedule) for queue in ("scheduler", "responses"))
        found = {
            "orders": Line(self.orders, self._part("submission"), submit),
            "scheduler": Line(self.queues.scheduler, scheduler, schedule, understood),
            "responses": Line(self.queues.responses, scheduler, respond, understood),
            "ledgers": Line(self.ledgers, self._part("ledger"), self._split),
            "events": Line(self.events, self._part("convoy"), self._apply, batch=10),
        }
        for agent, queue in self.queues.agents.items():
            part = Part(agent, "agent", self.copies.get("agent", 0), buried=partial(self._bury, agent))
            high = self.queues.priority_queues.get(agent)
            for its in [high, queue] if high else [queue]:
                serve = self._each(its.name, partial(self._serve, agent))
                found[its.name] = Line(its, part, serve, waits=partial(self.may_wait, agent))
        return found

    def _part(self, name: str) -> Part:
        return Part(name, copies=self.copies.get(name, 0))

    def done(self) -> None:
        """Have the judge check that whoever handled a message sent all that follows from it."""
        self.judge.ended_well()
        reply = self.gate.here.cause
        if isinstance(reply, Reply) and reply.outcome is Outcome.OK:
            self.judge.handled(reply)

    def due(self) -> int | None:
        """When the next sweep of a Supervisor is due (epoch ms); None if nothing waits for one."""
        waiting = [*(task.due for task in self.store.tasks.values()), *(lane.due for lane in self.lanes.lanes.values())]
        dues = [due for due in waiting if due is not None]
        margin = self.settings.timing.skew_margin
        breakers = Breakers(self.shared_records)
        suspects = (suspect for agent in self.agents() for suspect in breakers.of(agent).blame.suspects)
        nexts = [*(each.news_at for each in suspects if each.news_at), *([min(dues) + margin] if dues else [])]
        return max(min(nexts), self.swept_at + SWEPT_EVERY) if nexts else None

    def sweep(self, instance: str) -> None:
        """Run one Supervisor."""
        self.swept_at = began = self.loop.now
        self.supervisor(instance).sweep(lambda: MINUTE - (self.loop.now - began))

    def supervisor(self, instance: str) -> Supervise:
        """One Supervisor."""
        return self.assembly(instance).supervisor(instance, self.agents())

    def post(self, queue: str, text: str, group: str = "", name: str = "") -> None:
        """Put a message into one of the queues, as it is."""
        self.pump.lines[queue].queue.send(text, group=group, deduplication=name)

    def _serve(self, agent: str, made: Assembly, instance: str) -> Intake:
        guard = self.guards.setdefault((agent, instance), made.guard(agent))
        return made.intake(made.agent(agent, guard).handle)

    def _submit(self, made: Assembly, instance: str) -> Intake:
        transition = Watched.of(made.transition(instance), self.gate)
        return made.intake(replace(made.submission(), begin=transition.begin).handle)

    def _schedule(self, made: Assembly, instance: str) -> Intake:
        schedule = made.scheduler(instance)
        schedule = replace(schedule, transition=Watched.of(schedule.transition, self.gate))
        return made.intake(schedule.handle, schedule.take)

    def may_wait(self, agent: str, text: str) -> bool:
        """Whether the requested service may take time; if not, its operation runs without handing over to others."""
        try:
            service = self.services.by_operation.get((agent, decode_request(text).operation))
        except (Rejected, NotUnderstood):
            return False
        return bool(service and (service.may_wait or service.operation.agent.rate))

    def _bury(self, agent: str, instance: str) -> None:
        """Forget what the process kept in memory."""
        self.guards.pop((agent, instance), None)

    def _each(self, queue: str, intake: Callable[[Assembly, str], Intake]) -> Handle:
        """Handle each message for itself, and store as rejects those that cannot be accepted."""

        def handle(instance: str, batch: Sequence[Received]) -> Iterator[int | Exception]:
            return handled(self.gate, intake(self.assembly(instance), instance), queue, instance, batch)

        return handle

    def _split(self, instance: str, batch: Sequence[Received]) -> Iterator[int]:
        return (
            self.assembly(instance).ledger().take([as_message("ledgers", message) for message in batch], lambda: MINUTE)
        )

    def _apply(self, instance: str, batch: Sequence[Received]) -> Iterator[int]:
        convoy = self.assembly(instance).convoy(instance)
        return convoy.take([as_message("events", message) for message in batch], lambda: MINUTE)

    def _queue(
        self,
        name: str,
        usual: int = HIDDEN,
        *,
        kind: type[MemoryQueue] = MemoryQueue,
        receives: int = RECEIVES,
        **more: Any,
    ) -> MemoryQueue:
        end = ".fifo" if kind.fifo else ""
        dead = (MemoryFifoQueue if kind.fifo else MemoryQueue)(name=f"{name}-dead{end}", clock=self._now)
        self.dead.append(dead)
        return self.make_queue(
            kind,
            name=name + end,
            clock=self._now,
            visibility_timeout=self.visibility or min(usual, LONGEST_VISIBILITY_S),
            dead_letters=dead,
            max_receive_count=receives,
            **more,
        )

    def make_queues(self, **queues: Any) -> JudgedQueues:
        """The queues that the parts share."""
        return JudgedQueues(**queues)

    def make_queue(self, kind: type[MemoryQueue], **more: Any) -> MemoryQueue:
        """One queue."""
        return kind(**more)

    def _fifo(self, name: str) -> MemoryQueue:
        return self._queue(name, kind=MemoryFifoQueue, receives=RECEIVES_IN_ORDER, deduplication_per_group=True)

    def _has_breakers(self) -> bool:
        return any(name.startswith("breaker/") for name in self.shared_records.kept)

    def _now(self) -> int:
        return self.loop.now
