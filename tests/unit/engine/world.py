"""The use cases joined to the in-memory twins, under a clock that the test holds."""

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
from stepward.domain.timing import Timing
from stepward.domain.workflow.definition import Agent, Call, Operation
from stepward.domain.workflow.plan import Plan
from stepward.ports import TaskStore
from stepward.testing.memory.assembly import memory_assembly
from stepward.testing.memory.queues import MemoryAlerts, MemoryQueues
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.testing.memory.task_store import MemoryRejects, MemoryTaskStore
from stepward.testing.memory.telemetry import MemoryTelemetry
from stepward.testing.settings import Settings
from stepward.testing.sqs.queue import MemoryQueue
from tests.factories import ORDER_ID, SECOND, T0, order_text, sequence
from tests.planned_app import PlannedApp

SHARDS = 4
LEASE = 90 * SECOND
NEVER = Limits(failures=1_000_000)


@dataclass(slots=True)
class Clock:
    """Epoch milliseconds; sleeping moves it, and nothing else waits."""

    now: int = T0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> int:
        """The time."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let the time pass."""
        self.slept.append(seconds)
        self.now += round(seconds * 1000)


def operation(run: Callable[[Call], Mapping[str, Any]], name: str = "reserve") -> Operation:
    """An operation of the agent `worker`."""
    return Operation(Agent("worker"), name, run)


@dataclass
class World:
    """One deployment in memory, with `plan` as its workflow and one agent, `worker`."""

    plan: Plan = field(default_factory=lambda: sequence("reserve", "ship"))
    timing: Timing = field(default_factory=Timing)
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.store = MemoryTaskStore(shard_of=lambda order_id: sum(order_id.encode()) % SHARDS)
        self.queues = MemoryQueues(self.queue("scheduler"), self.queue("responses"), {"worker": self.queue("worker")})
        self.alerts, self.telemetry, self.rejects = MemoryAlerts(), MemoryTelemetry(), MemoryRejects()
        self.shared_records, self.probes = MemorySharedRecords(), count()

    def queue(self, name: str) -> MemoryQueue:
        """A queue under this world's clock."""
        return MemoryQueue(name=name, clock=self.clock)

    def assembly(self, **settings: Any) -> Assembly:
        """What makes the use cases; the breaker never opens, unless `settings` say more."""
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
        """What accepts orders."""
        return self.assembly().submission()

    def transition(self, instance: str = "scheduler-1", store: TaskStore | None = None) -> Transition:
        """The write path of one instance."""
        return replace(self.assembly(), store=store or self.store).transition(instance)

    def schedule(self, instance: str = "scheduler-1", store: TaskStore | None = None) -> Schedule:
        """One Scheduler."""
        return replace(self.assembly(), store=store or self.store).scheduler(instance)

    def leases(self, holder: str = "supervisor-1") -> Leases:
        """The leases that one Supervisor takes."""
        return self.supervise(instance=holder).leases

    def supervise(self, store: TaskStore | None = None, instance: str = "supervisor-1") -> Supervise:
        """One Supervisor."""
        return replace(self.assembly(), store=store or self.store).supervisor(instance, self.plan.agents)

    def watch(self) -> Watch:
        """What a Supervisor knows of the agents."""
        return Watch(Breakers(self.shared_records), self.plan.agents, self.telemetry)

    def guard(self, limits: Limits = NEVER) -> Guard:
        """What stands before the service in one process; as it is, it never opens."""
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
        """The request that follows from a new order, as text."""
        self.submit.handle(order_text(order_id))
        self.schedule().handle(self.take(self.queues.scheduler))
        return self.take(self.queues.agents["worker"])

    def take(self, queue: MemoryQueue) -> str:
        """The one message of the queue, taken out of it."""
        (message,) = queue.receive()
        queue.delete(message.handle)
        return message.body

    def drain(self, queue: MemoryQueue) -> Iterator[str]:
        """Each message of the queue, taken out of it."""
        while messages := queue.receive(1):
            queue.delete(messages[0].handle)
            yield messages[0].body

    def kinds(self) -> list[HistoryKind]:
        """What happened, in order."""
        return [entry.kind for _, entry in self.telemetry.history]
