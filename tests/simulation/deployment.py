"""Two of every part, each under a clock of its own, joined by a bag of messages."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count

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
from stepward.domain.errors import PutBack, Rejected, Transient
from stepward.domain.messages import ToScheduler
from stepward.domain.plan import Plan
from stepward.domain.timing import Timing
from stepward.domain.workflow import Agent, Operation
from stepward.testing.faults.record import Died, Record
from stepward.testing.memory.shared_records import MemoryControls
from stepward.testing.memory.telemetry import MemoryTelemetry
from stepward.testing.settings import REPLY_QUEUES
from stepward.wire.messages import decode_for_scheduler
from stepward.wire.order import OrderMessage
from tests.factories import MINUTE, SECOND, T0
from tests.simulation.faults import Faults, Mail, Operators, Post, Submitters, WatchedStore
from tests.simulation.service import Service

TIMING = Timing(claim_within=40 * SECOND, skew_margin=5 * SECOND, outage_after=15 * MINUTE)
LEASE = 90 * SECOND
BREAKER = Limits(failures=3, open_for=10 * SECOND, longest=40 * SECOND)
COPIES = 2


@dataclass(slots=True)
class Deployment:
    """The real use cases over faulty ports; `skews` says how far the clock of each instance is ahead, in ms."""

    plan: Plan
    skews: dict[str, int]
    now: int = T0
    faults: Faults = field(default_factory=Faults)
    telemetry: MemoryTelemetry = field(default_factory=MemoryTelemetry)
    controls: MemoryControls = field(default_factory=MemoryControls)
    guards: dict[int, Guard] = field(default_factory=dict)
    rejected: list[Rejected] = field(default_factory=list)
    store: WatchedStore = field(init=False)
    service: Service = field(init=False)
    post: Post = field(init=False)
    operators: Operators = field(init=False)
    submitters: Submitters = field(default_factory=Submitters)

    def __post_init__(self) -> None:
        self.store, self.operators = WatchedStore(self.faults), Operators(self.faults)
        self.post, self.service = (
            Post(self.faults, self.store.writes.claims, lambda: self.now),
            Service(self.store.writes.freed),
        )

    @property
    def record(self) -> Record:
        """What the audits ask."""
        return Record(
            plan=self.plan,
            timing=TIMING,
            tasks=self.store.inner.tasks,
            writes=self.store.writes.log,
            effects=self.service.effects,
            alerts=self.operators.told,
            notices=self.submitters.told,
            rejected=self.rejected,
            too_early=self.post.too_early,
            trouble=self.post.backlog_seen or "breaker/worker" in self.controls.kept,
        )

    def deliver(self, mail: Mail, copy: int) -> bool:
        """Have one instance handle a message; whether the queue may forget it."""
        handle: Callable[[str], None] = {
            "orders": self.submission(copy).handle,
            "scheduler": self.scheduler(copy).handle,
            "responses": self.scheduler(copy).handle,
            "worker": self.agent(copy).handle,
        }[mail.to]
        outer = self.store.cause
        self.store.cause = understood(mail)
        try:
            handle(mail.text)
        except PutBack as put_back:
            self.sleep(put_back.seconds)
            return False
        except (Transient, Died):
            return False
        except Rejected as rejected:
            self.rejected.append(rejected)
        finally:
            self.store.cause = outer
        return True

    def sweep(self, copy: int) -> None:
        """Have one Supervisor look; it may die while it does."""
        outer, self.store.cause = self.store.cause, None
        try:
            self.supervisor(copy).sweep(lambda: MINUTE)
        except Died:
            pass
        finally:
            self.store.cause = outer

    def submission(self, copy: int) -> Submit:
        """One instance of the function that takes orders."""
        clock = self.clock(f"submission-{copy}")
        return Submit(self.store, self.post, self.telemetry, OrderMessage, self.plan, TIMING, clock, REPLY_QUEUES)

    def scheduler(self, copy: int) -> Schedule:
        """One Scheduler."""
        transition = replace(self.transition(f"scheduler-{copy}"), notices=self.submitters)
        return Schedule(transition, Trail(self.controls))

    def supervisor(self, copy: int) -> Supervise:
        """One Supervisor."""
        instance = f"supervisor-{copy}"
        clock = self.clock(instance)
        # Leases that nobody else sees: whatever they save, correctness must not rest on them.
        leases = Leases(MemoryControls(), self.telemetry, instance, LEASE, TIMING.skew_margin, clock)
        transition = self.transition(instance)
        return Supervise([TaskSweep(transition, self.watch())], leases, transition.alerts, shards=1)

    def watch(self) -> Watch:
        """What a Supervisor knows of the agents."""
        return Watch(Breakers(self.controls), self.plan.agents, self.telemetry)

    def transition(self, instance: str) -> Transition:
        """The write path of one instance."""
        clock = self.clock(instance)
        alerts = Throttled(self.operators, self.controls, clock)
        return Transition(self.store, self.post, alerts, self.telemetry, TIMING, instance, clock)

    def agent(self, copy: int) -> Serve:
        """One instance of the agent, with every operation; it is its own fallback, under another name."""
        worker, executors = Agent("worker"), [who for step in self.plan.steps for who in step.executors]
        names = {name for who in executors for name in (who.operation, who.undo) if name}
        operations = {name: Operation(worker, name, self.service.call) for name in names}
        clock = self.clock(f"worker-{copy}")
        guard = self.guards.setdefault(copy, self.guard(copy))
        return Serve(operations, self.post, self.telemetry, clock, self.sleep, lambda: 0.5, guard)

    def guard(self, copy: int) -> Guard:
        """What stands before the service in one process of the agent."""
        probes = (f"probe-{copy}-{number}" for number in count())
        return Guard("worker", Breakers(self.controls), self.telemetry, BREAKER, lambda: next(probes))

    def clock(self, instance: str) -> Callable[[], int]:
        """The time as this instance sees it."""
        return lambda: self.now + self.skews.get(instance, 0)

    def sleep(self, seconds: float) -> None:
        """Time passes for everybody."""
        self.now += round(seconds * 1000)


def understood(mail: Mail) -> ToScheduler | None:
    """What the Scheduler is told by this message, if it is to the Scheduler."""
    return decode_for_scheduler(mail.text) if mail.to in ("scheduler", "responses") else None
