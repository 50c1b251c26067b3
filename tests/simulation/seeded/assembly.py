"""The real use cases, wired over the ports of a world: so many instances of each part, each under its own clock."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count

from stepward.adapters.memory.telemetry import MemoryTelemetry
from stepward.app.alerting import Throttled
from stepward.app.breakers import Breakers
from stepward.app.guarding import Guard
from stepward.app.intake import Intake, Received
from stepward.app.lane_patrol import LaneSweep
from stepward.app.lane_telling import LaneTelling
from stepward.app.leasing import Leases
from stepward.app.scheduling import Schedule
from stepward.app.serving import Serve
from stepward.app.submission import Submit
from stepward.app.supervision import Supervise
from stepward.app.trail import Trail
from stepward.app.transition import Transition
from stepward.app.watching import TaskSweep, Watch
from stepward.domain.facts import Fact, FactKind
from stepward.domain.plan import Plan
from stepward.domain.workflow import Agent, Operation
from stepward.wire.order import OrderMessage
from tests.simulation.deployment import BREAKER, LEASE, REPLY_QUEUES, TIMING
from tests.simulation.seeded.diary import Diary
from tests.simulation.seeded.gate import Gate
from tests.simulation.seeded.lanes import Lanes
from tests.simulation.seeded.mail import Letter
from tests.simulation.seeded.ports import SHARDS, Controls, Operators, Post, Rejects, Store, Submitters
from tests.simulation.seeded.remote import Remote


@dataclass(slots=True)
class Log(MemoryTelemetry):
    """What the parts tell; each kind of fact once, and how often an order was one too many."""

    diary: Diary = field(kw_only=True)
    told: set[tuple[str, FactKind, str, int]] = field(default_factory=set, kw_only=True)
    duplicates: Counter[str] = field(default_factory=Counter, kw_only=True)

    def record(self, order_id: str, fact: Fact) -> None:
        """See the port."""
        self.told.add((order_id, fact.kind, fact.step, fact.attempt))
        self.duplicates[order_id] += fact.kind in (FactKind.DUPLICATE, FactKind.CONFLICT)
        if order_id and self.diary.is_kept:
            self.diary.note(order_id, f"fact: {fact.kind} {fact.step} {fact.attempt or ''} {fact.note}")


@dataclass(slots=True)
class Assembly:
    """The ports of a world and its parts; `plans` says which plan an instance that takes orders freezes with them."""

    gate: Gate
    store: Store
    controls: Controls
    post: Post
    operators: Operators
    submitters: Submitters
    remote: Remote
    log: Log
    plans: Sequence[Plan]
    lanes: Lanes
    rejects: Rejects
    skews: dict[str, int] = field(default_factory=dict)
    guards: dict[tuple[str, int], Guard] = field(default_factory=dict)
    probes: count = field(default_factory=count)  # type: ignore[type-arg]

    def submit(self, copy: int, letter: Letter) -> None:
        """One instance of the function that takes orders handles a message."""
        self.take_in(self.submission("submission", copy).handle, letter)

    def submission(self, part: str, copy: int) -> Submit:
        """What submits an order, in one instance of a part."""
        clock, plan = self.clock(f"{part}-{copy}"), self.plans[copy % len(self.plans)]
        return Submit(self.store, self.post, self.log, OrderMessage, plan, TIMING, clock, REPLY_QUEUES)

    def schedule(self, copy: int, letter: Letter) -> None:
        """One Scheduler handles a message."""
        transition = replace(self.transition(f"scheduler-{copy}"), notices=self.submitters)
        self.take_in(Schedule(transition, Trail(self.controls)).handle, letter)

    def serve(self, agent: str, copy: int, letter: Letter) -> None:
        """One instance of an agent handles a request."""
        names = {
            name
            for plan in self.plans
            for step in plan.steps
            for who in step.executors
            for name, by in ((who.operation, who.agent), (who.undo, who.undo_agent))
            if by == agent
        }
        call = partial(self.remote.call, agent)
        operations = {name: Operation(Agent(agent), name, call) for name in names}
        if (agent, copy) not in self.guards:
            new_id = partial(self._probe, copy)
            self.guards[agent, copy] = Guard(agent, Breakers(self.controls), self.log, BREAKER, new_id)
        clock, guard = self.clock(f"{agent}-{copy}"), self.guards[agent, copy]
        self.take_in(Serve(operations, self.post, self.log, clock, self._sleep, lambda: 0.5, guard).handle, letter)

    def bury(self, agent: str, copy: int) -> None:
        """A process of an agent is gone, and with it what it remembered."""
        self.guards.pop((agent, copy), None)

    def supervise(self, copy: int) -> Supervise:
        """One Supervisor."""
        instance = f"supervisor-{copy}"
        leases = Leases(self.controls, self.log, instance, LEASE, TIMING.skew_margin, self.clock(instance))
        watch = Watch(Breakers(self.controls), self.post.agents, self.log)
        transition = self.transition(instance)
        lanes = LaneSweep(self.telling(instance), TIMING.skew_margin, self.clock(instance))
        return Supervise([TaskSweep(transition, watch), lanes], leases, transition.alerts, SHARDS)

    def transition(self, instance: str) -> Transition:
        """The write path of one instance."""
        clock = self.clock(instance)
        return Transition(self.store, self.post, self._alerts(instance), self.log, TIMING, instance, clock)

    def telling(self, instance: str) -> LaneTelling:
        """What tells operators of lanes, in one instance."""
        return LaneTelling(self.lanes, self._alerts(instance), self.log, self.lanes.rules)

    def clock(self, instance: str) -> Callable[[], int]:
        """The time as this instance sees it."""
        loop, skew = self.gate.loop, self.skews.get(instance, 0)
        return lambda: loop.now + skew

    def take_in(self, handle: Callable[[str], None], letter: Letter) -> None:
        """Handle a message, or keep it if it cannot be accepted."""
        message = Received(letter.name, letter.queue, self.gate.loop.now, letter.text)
        Intake(handle, self.rejects, self.log).accept(message)

    def _alerts(self, instance: str) -> Throttled:
        return Throttled(self.operators, self.controls, self.clock(instance))

    def _sleep(self, seconds: float) -> None:
        self.gate.wait(round(seconds * 1000))

    def _probe(self, copy: int) -> str:
        return f"probe-{copy}-{next(self.probes)}"
