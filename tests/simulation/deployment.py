"""Two of every part, each under a clock of its own, joined by a bag of messages."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from stepward.adapters.memory.telemetry import MemoryTelemetry
from stepward.app.scheduling import Schedule
from stepward.app.serving import Serve
from stepward.app.submission import Submit
from stepward.app.supervision import Supervise
from stepward.app.transition import Transition
from stepward.domain.errors import Rejected, Transient
from stepward.domain.messages import ToScheduler
from stepward.domain.plan import Plan
from stepward.domain.timing import Timing
from stepward.domain.workflow import Agent, Operation
from stepward.wire.messages import decode_for_scheduler
from stepward.wire.order import OrderMessage
from tests.factories import MINUTE, SECOND, T0
from tests.simulation.faults import Died, Faults, Mail, Operators, Post, WatchedStore
from tests.simulation.service import Service

TIMING = Timing(claim_within=40 * SECOND, skew_margin=5 * SECOND, outage_after=15 * MINUTE)
COPIES = 2


@dataclass(slots=True)
class Deployment:
    """The real use cases over faulty ports; `skews` says how far the clock of each instance is ahead, in ms."""

    plan: Plan
    skews: dict[str, int]
    now: int = T0
    faults: Faults = field(default_factory=Faults)
    telemetry: MemoryTelemetry = field(default_factory=MemoryTelemetry)
    rejected: list[Rejected] = field(default_factory=list)
    store: WatchedStore = field(init=False)
    service: Service = field(init=False)
    post: Post = field(init=False)
    operators: Operators = field(init=False)

    def __post_init__(self) -> None:
        self.store, self.operators = WatchedStore(self.faults), Operators(self.faults)
        self.post, self.service = Post(self.faults, self.store.claims), Service(self.store.freed)

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
        return Submit(self.store, self.post, self.telemetry, OrderMessage, self.plan, TIMING, clock)

    def scheduler(self, copy: int) -> Schedule:
        """One Scheduler."""
        return Schedule(self.transition(f"scheduler-{copy}"))

    def supervisor(self, copy: int) -> Supervise:
        """One Supervisor."""
        return Supervise(self.transition(f"supervisor-{copy}"), shards=1)

    def transition(self, instance: str) -> Transition:
        """The write path of one instance."""
        clock = self.clock(instance)
        return Transition(self.store, self.post, self.operators, self.telemetry, TIMING, instance, clock)

    def agent(self, copy: int) -> Serve:
        """One instance of the agent, with every operation."""
        worker, names = Agent("worker"), [step.name for step in self.plan.steps]
        operations = {name: Operation(worker, name, partial(self.service.call, name)) for name in names}
        clock = self.clock(f"worker-{copy}")
        return Serve(operations, self.post, self.telemetry, clock, self.sleep, jitter=lambda: 0.5)

    def clock(self, instance: str) -> Callable[[], int]:
        """The time as this instance sees it."""
        return lambda: self.now + self.skews.get(instance, 0)

    def sleep(self, seconds: float) -> None:
        """Time passes for everybody."""
        self.now += round(seconds * 1000)


def understood(mail: Mail) -> ToScheduler | None:
    """What the Scheduler is told by this message, if it is to the Scheduler."""
    return decode_for_scheduler(mail.text) if mail.to in ("scheduler", "responses") else None
