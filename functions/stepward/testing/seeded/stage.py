"""The parts of a world, joined: an application, people and services around it, and who judges what they do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from stepward.app.assembly import Application
from stepward.domain.coordination.breaker import Limits
from stepward.domain.messages import Alert, LaneWaits, Outcome, Reply, StepFailed, ToScheduler
from stepward.domain.rejects import Reject
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Plan
from stepward.ports import LaneQueue, Lanes
from stepward.testing.faults.ledger import Ledger
from stepward.testing.faults.loop import MINUTE, SECOND
from stepward.testing.faults.record import Write
from stepward.testing.seeded.assembly import Instances, Log
from stepward.testing.seeded.gate import Gate
from stepward.testing.seeded.judge import Judge
from stepward.testing.seeded.mail import Mailbox, Message, Part
from stepward.testing.seeded.people import People
from stepward.testing.seeded.ports import SHARDS, Operators, Post, Rejects, SharedRecords, Store, Submitters
from stepward.testing.seeded.remote import Perform, Remote
from stepward.testing.settings import REPLY_QUEUES, Settings
from stepward.wire.messages import decode_for_scheduler

COPIES = {"submission": 2, "scheduler": 3, "agent": 3, "supervisor": 2, "ledger": 2, "convoy": 3}
SETTINGS = Settings(
    timing=Timing(claim_within=40 * SECOND, skew_margin=5 * SECOND, outage_after=15 * MINUTE),
    breaker=Limits(failures=3, open_for=10 * SECOND, longest=40 * SECOND),
    reply_queues=REPLY_QUEUES,
    shards=SHARDS,
)


@dataclass(slots=True)
class Cast:
    """Who and what lives in a world: an application, its plan before and after a deployment, people, services.

    `orders` is how many are ordered. What lives beside orders says more in the methods below.
    """

    app: Application
    old: Plan
    new: Plan
    people: People
    perform: Perform
    orders: int
    settings: Settings = SETTINGS
    lanes: Lanes | None = None
    lane_queue: LaneQueue | None = None
    after: Callable[[], object] = lambda: None

    def begin(self, world: Stage) -> None:
        """Have more parts take part, and more people act."""

    def hear_of_lane(self, alert: LaneWaits) -> None:
        """An operator is alerted that a lane waits."""

    def dues(self) -> Iterable[int]:
        """When a Supervisor has to sweep over what else there is (epoch ms)."""
        return ()

    def expects(self, _reject: Reject) -> bool:
        """Whether this message deserved its rejection."""
        return False

    def verdict(self) -> None:
        """Check what else must hold at quiet time; raises Broken, or whatever `after` raises."""
        self.after()


@dataclass(slots=True)
class Stage:
    """All parts of a world; its maker sets the gate, the mailbox and the cast, then calls `assemble`."""

    gate: Gate = field(init=False)
    mailbox: Mailbox = field(init=False)
    cast: Cast = field(init=False)
    judge: Judge = field(init=False)
    parts: Instances = field(init=False)

    def assemble(self, store: type[Store] = Store, remote: type[Remote] = Remote) -> None:
        """Join the parts over a store and services of these kinds."""
        gate, cast, log, ledger = self.gate, self.cast, Log(diary=self.gate.diary), Ledger()
        tasks = store(gate, self._written)
        self.judge = Judge(gate, tasks.inner, ledger, self._clock_of, log.logged, cast.settings.timing)
        self.mailbox.ended_well = self.judge.ended_well
        agents = sorted({*cast.old.agents, *cast.new.agents})
        self.parts = Instances(
            gate=gate,
            app=cast.app,
            settings=cast.settings,
            store=tasks,
            shared_records=SharedRecords(gate),
            post=Post(gate, self.mailbox.send, self.mailbox.waiting_in, agents, *self.judge.of_messages),
            operators=Operators(gate, self._alerted),
            submitters=Submitters(gate, self.judge.heard),
            remote=remote(gate, self.judge, ledger, cast.perform),
            log=log,
            plans=[cast.old],
            rejects=Rejects(gate),
            lanes=cast.lanes,
            lane_queue=cast.lane_queue,
        )
        self._staff()

    def _staff(self) -> None:
        """Say which part each queue triggers."""
        parts, queues = self.parts, self.mailbox.parts
        queues["orders"] = Part("submission", COPIES["submission"], parts.submit)
        scheduler = Part("scheduler", COPIES["scheduler"], parts.schedule, understood, self._scheduled)
        queues["scheduler"] = queues["responses"] = scheduler
        for agent in parts.post.agents:
            serve, bury = partial(parts.serve, agent), partial(parts.bury, agent)
            queues[f"agent {agent}"] = Part(agent, COPIES["agent"], serve, buried=bury)

    def _clock_of(self, instance: str) -> int:
        return self.parts.clock(instance)()

    def _written(self, write: Write) -> None:
        breakers = any(name.startswith("breaker/") for name in self.parts.shared_records.inner.kept)
        self.judge.uncounted = self.parts.post.backlog_seen or breakers
        self.judge.written(write)

    def _alerted(self, alert: Alert) -> None:
        self.judge.alerted(alert)
        if isinstance(alert, LaneWaits):
            self.cast.hear_of_lane(alert)
        elif isinstance(alert, StepFailed):
            self.cast.people.hear(alert)

    def _scheduled(self, message: Message) -> None:
        reply = decode_for_scheduler(message.text)
        if isinstance(reply, Reply) and reply.outcome is Outcome.OK:
            self.judge.handled(reply)


def understood(message: Message) -> ToScheduler:
    """What a message asks of the Scheduler."""
    return decode_for_scheduler(message.text)
