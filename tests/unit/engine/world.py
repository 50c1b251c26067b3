"""The use cases of the kit's `memory_assembly`, under a clock that the test moves."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from stepward.app.agent.breakers import Breakers
from stepward.app.agent.guard import Guard
from stepward.app.agent.serve import Serve
from stepward.app.assembly import Assembly
from stepward.app.scheduler.schedule import Schedule
from stepward.app.scheduler.transition import Transition
from stepward.app.submission import Submit
from stepward.app.supervisor.leases import Leases
from stepward.app.supervisor.supervise import Supervise
from stepward.app.supervisor.task_sweep import Watch
from stepward.domain.coordination.breaker import Limits
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Outcome, Reply
from stepward.domain.timing import Timing
from stepward.domain.workflow.agents import Agent, Call, Operation
from stepward.domain.workflow.plan import Plan
from stepward.ports import TaskStore
from stepward.testing.memory.assembly import memory_assembly
from stepward.testing.memory.queues import MemoryAlerts, MemoryQueues
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.testing.memory.task_store import MemoryRejects, MemoryTaskStore
from stepward.testing.memory.telemetry import MemoryTelemetry
from stepward.testing.settings import Settings
from stepward.testing.sqs.queue import MemoryQueue
from stepward.wire.messages import decode_for_scheduler as decode
from tests.factories import ORDER_ID, SECOND, T0, order_text, sequence
from tests.planned_app import PlannedApp

SHARDS = 4
LEASE = 90 * SECOND
NEVER = Limits(failures=1_000_000)


@dataclass(slots=True)
class Clock:
    """Epoch milliseconds; `sleep` moves it, and nobody waits."""

    now: int = T0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> int:
        """The time."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let so many seconds pass."""
        self.slept.append(seconds)
        self.now += round(seconds * 1000)


def operation(run: Callable[[Call], Mapping[str, Any]], name: str = "reserve") -> Operation:
    """An operation of the agent `worker`."""
    return Operation(Agent("worker"), name, run)


@dataclass
class World:
    """One deployment in memory, with `plan` as its workflow and one agent, `worker`; a test may replace any port."""

    plan: Plan = field(default_factory=lambda: sequence("reserve", "ship"))
    timing: Timing = field(default_factory=Timing)
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.store = MemoryTaskStore(shard_of=lambda order_id: sum(order_id.encode()) % SHARDS)
        self.queues = MemoryQueues.new(self.clock, ["worker"])
        self.alerts, self.telemetry, self.rejects = MemoryAlerts(), MemoryTelemetry(), MemoryRejects()
        self.shared_records, self.probes = MemorySharedRecords(), count()

    def assembly(self, **settings: Any) -> Assembly:
        """What makes the use cases; the breaker never opens, unless `settings` allow it."""
        usual = Settings(timing=self.timing, breaker=NEVER, shards=SHARDS, lease_length=LEASE)
        return memory_assembly(
            self.clock,
            settings=replace(usual, **settings),
            telemetry=self.telemetry,
            new_id=lambda: f"probe-{next(self.probes)}",
            app=PlannedApp(self.plan),
            store=self.store,
            queues=self.queues,
            rejects=self.rejects,
            shared_records=self.shared_records,
            alerts=self.alerts,
            lanes=None,
            sleep=self.clock.sleep,
            jitter=lambda: 1.0,
        )

    @property
    def submit(self) -> Submit:
        """The use case that accepts orders."""
        return self.assembly().submission()

    def transition(self, instance: str = "scheduler-1") -> Transition:
        """The write path of one instance."""
        return self.assembly().transition(instance)

    def schedule(self, instance: str = "scheduler-1") -> Schedule:
        """One Scheduler."""
        return self.assembly().scheduler(instance)

    def leases(self, holder: str = "supervisor-1") -> Leases:
        """The leases that one Supervisor takes."""
        return self.supervise(instance=holder).leases

    def supervise(self, store: TaskStore | None = None, instance: str = "supervisor-1") -> Supervise:
        """One Supervisor."""
        return replace(self.assembly(), store=store or self.store).supervisor(instance, self.plan.agents)

    def watch(self) -> Watch:
        """What a Supervisor knows about the agents."""
        return Watch(Breakers(self.shared_records), self.plan.agents, self.telemetry)

    def guard(self, limits: Limits = NEVER) -> Guard:
        """The guard before the service in one process; unless `limits` allow it, its breaker never opens."""
        return self.assembly(breaker=limits).guard("worker")

    def serve(
        self,
        *operations: Operation,
        now: Callable[[], int] | None = None,
        jitter: float = 1.0,
        guard: Guard | None = None,
    ) -> Serve:
        """One instance of the agent."""
        assembly = replace(self.assembly(), now=now or self.clock, jitter=lambda: jitter)
        named = {operation.name: operation for operation in operations}
        return replace(assembly.agent("worker", guard), operations=named)

    def ask(self, order_id: str = ORDER_ID) -> str:
        """Submit an order; the request for its first step, as text."""
        self.submit.handle(order_text(order_id))
        self.schedule().handle(self.take(self.queues.scheduler))
        return self.take(self.queues.agents["worker"])

    def replies(self) -> list[Reply]:
        """How attempts ended, as the agents answered."""
        return [reply for reply in self._answers() if reply.outcome is not Outcome.FAILING]

    def reports(self) -> list[str]:
        """What attempts met that went on, as the agents reported it."""
        return [reply.error for reply in self._answers() if reply.outcome is Outcome.FAILING]

    def _answers(self) -> Iterator[Reply]:
        return (message for text in self.queues.responses.bodies if isinstance(message := decode(text), Reply))

    def take(self, queue: MemoryQueue) -> str:
        """Take the one message of the queue out of it."""
        (message,) = queue.receive()
        queue.delete(message.handle)
        return message.body

    def drain(self, queue: MemoryQueue) -> Iterator[str]:
        """Take each message of the queue out of it."""
        while messages := queue.receive(1):
            queue.delete(messages[0].handle)
            yield messages[0].body

    def kinds(self) -> list[HistoryKind]:
        """What happened, in order."""
        return [entry.kind for _, entry in self.telemetry.history]
