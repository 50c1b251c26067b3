"""A world: everything that a seed decides, and its life from the first order to quiet time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from stepward.app.assembly import Application
from stepward.domain.coordination.breaker import Limits
from stepward.domain.messages import Alert, LaneWaits, Outcome, Reply, ToScheduler
from stepward.domain.rejects import Reject
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Plan
from stepward.ports import LaneQueue, Lanes
from stepward.testing.faults.broken import Broken
from stepward.testing.faults.diary import Diary
from stepward.testing.faults.loop import MINUTE, SECOND, START, Loop
from stepward.testing.faults.record import Died, Write
from stepward.testing.seeded.assembly import Instances, Log
from stepward.testing.seeded.chances import Chances
from stepward.testing.seeded.gate import Gate
from stepward.testing.seeded.judge import Judge
from stepward.testing.seeded.ledger import Ledger
from stepward.testing.seeded.mail import Letter, Mailbox, Part
from stepward.testing.seeded.people import People
from stepward.testing.seeded.ports import SHARDS, Operators, Post, Rejects, SharedRecords, Store, Submitters
from stepward.testing.seeded.profile import profile
from stepward.testing.seeded.remote import Perform, Remote
from stepward.testing.seeded.scenery import Scenery
from stepward.testing.settings import REPLY_QUEUES, Settings
from stepward.wire.messages import decode_for_scheduler

ORDERED_WITHIN = 20 * MINUTE
TROUBLE_ENDS = 90 * MINUTE
COPIES = {"submission": 2, "scheduler": 3, "agent": 3, "supervisor": 2, "ledger": 2, "convoy": 3}
SWEPT_EVERY = MINUTE
MOST_ROUNDS = 400
EXPECTED_REJECTS = ("submitted before with other content", "there is no task for")
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

    def begin(self, world: World) -> None:
        """Have more parts take part, and more people act."""

    def hear_of_lane(self, alert: LaneWaits) -> None:
        """An operator is told that a lane waits."""

    def dues(self) -> Iterable[int]:
        """When a Supervisor has to look at what else there is (epoch ms)."""
        return ()

    def expects(self, _reject: Reject) -> bool:
        """Whether this message deserved its rejection."""
        return False

    def verdict(self) -> None:
        """What else must hold at quiet time; raises Broken."""


Casting = Callable[[Gate, Mailbox], Cast]


@dataclass(slots=True)
class World:
    """One seed's world; `only` are the accidents that happen, all if None. `told` keeps the diary."""

    casting: Casting
    seed: int
    only: frozenset[str] | None = None
    told: bool = False
    chances: Chances = field(init=False)
    gate: Gate = field(init=False)
    judge: Judge = field(init=False)
    mailbox: Mailbox = field(init=False)
    cast: Cast = field(init=False)
    parts: Instances = field(init=False)

    def __post_init__(self) -> None:
        self.chances, loop = Chances(self.seed, self.only), Loop()
        self.gate = Gate(loop, self.chances, Diary(loop, self.told), profile(self.chances.dice("profile")))
        self.mailbox = Mailbox(self.gate)
        self.cast = self.casting(self.gate, self.mailbox)
        store, log, ledger = Store(self.gate, self._written), Log(diary=self.gate.diary), Ledger()
        timing = self.cast.settings.timing
        self.judge = Judge(
            self.gate, store.inner, ledger, lambda instance: self.parts.clock(instance)(), log.told, timing
        )
        self.mailbox.ended_well = self.judge.ended_well
        self.parts = self._assembled(store, Remote(self.gate, self.judge, ledger, self.cast.perform), log)
        self._staff()
        copies = COPIES | dict.fromkeys(self.parts.post.agents, COPIES["agent"])
        Scenery(self.gate, self.parts, self.mailbox, ORDERED_WITHIN).set(self.cast.new, copies)

    @property
    def diary(self) -> Diary:
        """What happened."""
        return self.gate.diary

    def run(self) -> None:
        """Live until nothing is on its way and nothing waits; raises Broken."""
        for number in range(self.cast.orders):
            self.cast.people.order(number, ORDERED_WITHIN)
        self.cast.begin(self)
        for copy in range(COPIES["supervisor"]):
            self.gate.loop.later(copy * 7 * SECOND, partial(self._sweep_often, copy))
        self.gate.loop.run(START + TROUBLE_ENDS)
        self._calm_down()
        self._settle()
        self.judge.verdict()
        self.cast.verdict()
        self._all_were_taken()

    def _assembled(self, store: Store, remote: Remote, log: Log) -> Instances:
        cast = self.cast
        agents = sorted({*cast.old.agents, *cast.new.agents})
        post = Post(self.gate, self.mailbox.send, self.mailbox.waiting.__getitem__, agents, *self.judge.of_messages)
        return Instances(
            gate=self.gate,
            app=cast.app,
            settings=cast.settings,
            store=store,
            shared_records=SharedRecords(self.gate),
            post=post,
            operators=Operators(self.gate, self._alerted),
            submitters=Submitters(self.gate, self.judge.heard),
            remote=remote,
            log=log,
            plans=[cast.old],
            rejects=Rejects(self.gate),
            lanes=cast.lanes,
            lane_queue=cast.lane_queue,
        )

    def _staff(self) -> None:
        """Whoever is triggered by queues."""
        parts, queues = self.parts, self.mailbox.parts
        queues["orders"] = Part("submission", COPIES["submission"], parts.submit)
        queues["scheduler"] = queues["responses"] = Part(
            "scheduler", COPIES["scheduler"], parts.schedule, understood, self._scheduled
        )
        for agent in parts.post.agents:
            serve, bury = partial(parts.serve, agent), partial(parts.bury, agent)
            queues[f"agent {agent}"] = Part(agent, COPIES["agent"], serve, buried=bury)

    def _sweep_often(self, copy: int) -> None:
        if self.chances.over:
            return
        if not self.mailbox.is_closed:
            self._sweep(copy)
        self.gate.loop.later(SWEPT_EVERY, partial(self._sweep_often, copy))

    def _sweep(self, copy: int) -> None:
        """One run of a Supervisor; it may die."""
        began, instance = self.gate.loop.now, f"supervisor-{copy}"
        self.diary.counts["sweeps"] += 1
        try:
            with self.gate.invocation(instance, instance, None):
                self.parts.sweep(copy, lambda: MINUTE - (self.gate.loop.now - began))
        except Died:
            self.diary.counts["deaths"] += 1

    def _calm_down(self) -> None:
        self.diary.note("", "all goes well from here on")
        self.chances.over = True
        self.parts.remote.down.clear()

    def _settle(self) -> None:
        """All messages come, time passes, and Supervisors look, until nothing waits."""
        loop, tasks = self.gate.loop, self.judge.tasks.tasks
        for turn in range(MOST_ROUNDS):
            while loop.waiting:
                loop.run(loop.waiting[0][0])
            dues = [*(task.due for task in tasks.values() if task.due is not None), *self.cast.dues()]
            if not dues:
                return
            loop.now = max(loop.now + 20 * SECOND, min(dues))
            self._sweep(turn % COPIES["supervisor"])

    def _written(self, write: Write) -> None:
        kept = self.parts.shared_records.inner.kept
        self.judge.uncounted = self.parts.post.backlog_seen or any(name.startswith("breaker/") for name in kept)
        self.judge.written(write)

    def _alerted(self, alert: Alert) -> None:
        self.judge.alerted(alert)
        if isinstance(alert, LaneWaits):
            self.cast.hear_of_lane(alert)
        else:
            self.cast.people.hear(alert)

    def _scheduled(self, letter: Letter) -> None:
        message = decode_for_scheduler(letter.text)
        if isinstance(message, Reply) and message.outcome is Outcome.OK:
            self.judge.handled(message)

    def _all_were_taken(self) -> None:
        """I1: each order is there; what was rejected deserved it."""
        for order_id in self.cast.people.ordered:
            if order_id not in self.judge.tasks.tasks:
                raise Broken("I1", order_id, "the order was sent and never accepted")
            if self.parts.log.duplicates[order_id] >= self.mailbox.deliveries[order_id, "orders"]:
                raise Broken("S", order_id, "each delivery of the order was taken for a second one")
        for reject in self.parts.rejects.inner.kept.values():
            nonsense = reject.source == "orders" and "order.submitted" not in reject.body
            if not (nonsense or self.cast.expects(reject)) and not any(
                reason in reject.reason for reason in EXPECTED_REJECTS
            ):
                raise Broken("I1", reject.order_id, f"{reject.body} was rejected: {reject.field}: {reject.reason}")


def understood(letter: Letter) -> ToScheduler:
    """What a message asks of the Scheduler."""
    return decode_for_scheduler(letter.text)
