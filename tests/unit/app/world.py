"""The use cases joined to the in-memory twins, under a clock that the test holds."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from stepward.app.alerting import Throttled
from stepward.app.breakers import Breakers
from stepward.app.guarding import Guard
from stepward.app.leasing import Leases
from stepward.app.scheduling import Schedule
from stepward.app.serving import Serve
from stepward.app.submission import Submit
from stepward.app.supervision import Supervise
from stepward.app.trail import Trail
from stepward.app.transition import Transition
from stepward.app.watching import TaskSweep, Watch
from stepward.domain.breaker import Limits
from stepward.domain.facts import FactKind
from stepward.domain.plan import Plan
from stepward.domain.timing import Timing
from stepward.domain.workflow import Agent, Call, Operation
from stepward.ports import TaskStore
from stepward.testing.memory.queues import MemoryAlerts, MemoryQueues
from stepward.testing.memory.shared_records import MemoryControls
from stepward.testing.memory.task_store import MemoryRejects, MemoryTaskStore
from stepward.testing.memory.telemetry import MemoryTelemetry
from stepward.testing.sqs.queue import MemoryQueue
from stepward.wire.order import OrderMessage
from tests.factories import ORDER_ID, SECOND, T0, order_text, sequence

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
        self.controls = MemoryControls()
        self.submit = Submit(self.store, self.queues, self.telemetry, OrderMessage, self.plan, self.timing, self.clock)

    def queue(self, name: str) -> MemoryQueue:
        """A queue under this world's clock."""
        return MemoryQueue(name=name, clock=self.clock)

    def transition(self, instance: str = "scheduler-1", store: TaskStore | None = None) -> Transition:
        """The write path of one instance."""
        return Transition(
            store=store or self.store,
            queues=self.queues,
            alerts=Throttled(self.alerts, self.controls, self.clock),
            telemetry=self.telemetry,
            timing=self.timing,
            instance=instance,
            now=self.clock,
        )

    def schedule(self, instance: str = "scheduler-1", store: TaskStore | None = None) -> Schedule:
        """One Scheduler."""
        return Schedule(self.transition(instance, store), Trail(self.controls))

    def leases(self, holder: str = "supervisor-1") -> Leases:
        """The leases that one Supervisor takes."""
        return Leases(self.controls, self.telemetry, holder, LEASE, self.timing.skew_margin, self.clock)

    def supervise(self, store: TaskStore | None = None, instance: str = "supervisor-1") -> Supervise:
        """One Supervisor."""
        transition = self.transition(instance, store)
        return Supervise([TaskSweep(transition, self.watch())], self.leases(instance), transition.alerts, SHARDS)

    def watch(self) -> Watch:
        """What a Supervisor knows of the agents."""
        return Watch(Breakers(self.controls), self.plan.agents, self.telemetry)

    def guard(self, limits: Limits = NEVER) -> Guard:
        """What stands before the service in one process; as it is, it never opens."""
        names = (f"probe-{number}" for number in count())
        return Guard("worker", Breakers(self.controls), self.telemetry, limits, lambda: f"{next(names)}-{id(names)}")

    def serve(
        self,
        *operations: Operation,
        now: Callable[[], int] | None = None,
        jitter: float = 1.0,
        guard: Guard | None = None,
    ) -> Serve:
        """One instance of the agent."""
        return Serve(
            operations={operation.name: operation for operation in operations},
            queues=self.queues,
            telemetry=self.telemetry,
            now=now or self.clock,
            sleep=self.clock.sleep,
            jitter=lambda: jitter,
            guard=guard or self.guard(),
        )

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

    def kinds(self) -> list[FactKind]:
        """What happened, in order."""
        return [fact.kind for _, fact in self.telemetry.facts]
