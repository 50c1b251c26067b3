"""A world: everything that a seed decides, and its life from the first order to quiet time."""

from dataclasses import dataclass, field
from functools import partial

from stepward.domain.messages import Alert, Outcome, Reply, ToScheduler
from stepward.domain.plan import Plan
from stepward.wire.messages import decode_for_scheduler
from tests.factories import MINUTE, SECOND, T0
from tests.simulation.faults import Died, Write
from tests.simulation.seeded.assembly import Assembly, Log
from tests.simulation.seeded.broken import Broken
from tests.simulation.seeded.chances import Chances
from tests.simulation.seeded.convoy import ConvoyParts
from tests.simulation.seeded.customers import OWNERS, Customers
from tests.simulation.seeded.diary import Diary
from tests.simulation.seeded.gate import Gate
from tests.simulation.seeded.judge import Judge
from tests.simulation.seeded.lane_judge import LaneJudge
from tests.simulation.seeded.lanes import LaneQueue, Lanes, rules
from tests.simulation.seeded.ledger import Ledger
from tests.simulation.seeded.loop import Loop
from tests.simulation.seeded.mail import Letter, Mailbox, Part
from tests.simulation.seeded.people import People
from tests.simulation.seeded.plans import FAMILIES, LINE
from tests.simulation.seeded.ports import Controls, Operators, Post, Rejects, Store, Submitters
from tests.simulation.seeded.profile import profile
from tests.simulation.seeded.remote import Remote
from tests.simulation.seeded.scenery import Scenery

ORDERS = 20 - len(OWNERS)
"""Those that come by the queue of orders; the others come by ledger."""
ORDERED_WITHIN = 20 * MINUTE
TROUBLE_ENDS = 90 * MINUTE
COPIES = {"submission": 2, "scheduler": 3, "agent": 3, "supervisor": 2, "ledger": 2, "convoy": 3}
SWEPT_EVERY = MINUTE
MOST_ROUNDS = 400
RECEIVED_IN_ORDER = 100
"""Deliveries after which a message of a queue in order is given up: as many as a deployment allows, so that none is."""
EXPECTED_REJECTS = ("submitted before with other content", "there is no task for")


@dataclass(slots=True)
class World:
    """One seed's world; `only` are the accidents that happen, all if None. `told` keeps the diary."""

    seed: int
    only: frozenset[str] | None = None
    told: bool = False
    chances: Chances = field(init=False)
    gate: Gate = field(init=False)
    judge: Judge = field(init=False)
    mailbox: Mailbox = field(init=False)
    people: People = field(init=False)
    customers: Customers = field(init=False)
    parts: Assembly = field(init=False)
    lane_judge: LaneJudge = field(init=False)

    def __post_init__(self) -> None:
        self.chances, loop = Chances(self.seed, self.only), Loop()
        self.gate = Gate(loop, self.chances, Diary(loop, self.told), profile(self.chances.dice("profile")))
        dice, ledger = self.chances.dice("scenery"), Ledger()
        old, new = dice.choice(FAMILIES)
        self.mailbox = Mailbox(self.gate)
        undoable = (old, new) != LINE
        self.people = People(self.gate, self.mailbox, undoable)
        lanes = Lanes(self.gate, rules(self.chances.dice("rules of lanes")))
        self.customers = Customers(self.gate, self.mailbox, lanes.rules, undoable)
        store = Store(self.gate, self._written)
        log = Log(diary=self.gate.diary)
        self.judge = Judge(self.gate, store.inner, ledger, lambda instance: self.parts.clock(instance)(), log.told)
        self.mailbox.ended_well = self.judge.ended_well
        self.parts = self._assembled(store, Remote(self.gate, self.judge, ledger), log, lanes, old, new)
        controls, rejects = self.parts.controls.inner, self.parts.rejects.inner
        self.lane_judge = LaneJudge(lanes.rules, lanes.inner, store.inner, controls, rejects)
        self._staff()
        copies = COPIES | dict.fromkeys(self.parts.post.agents, COPIES["agent"])
        Scenery(self.gate, self.parts, self.mailbox, ORDERED_WITHIN).set(new, copies)

    @property
    def diary(self) -> Diary:
        """What happened."""
        return self.gate.diary

    def run(self) -> None:
        """Live until nothing is on its way and nothing waits; raises Broken."""
        for number in range(ORDERS):
            self.people.order(number, ORDERED_WITHIN)
        self.customers.write(ORDERED_WITHIN)
        for copy in range(COPIES["supervisor"]):
            self.gate.loop.later(copy * 7 * SECOND, partial(self._sweep_often, copy))
        self.gate.loop.run(T0 + TROUBLE_ENDS)
        self._calm_down()
        self._settle()
        self.judge.verdict()
        self.lane_judge.verdict(self.customers.sent)
        self._all_were_taken()

    def _assembled(self, store: Store, remote: Remote, log: Log, lanes: Lanes, old: Plan, new: Plan) -> Assembly:
        agents = sorted({*old.agents, *new.agents})
        post = Post(self.gate, self.mailbox.send, self.mailbox.waiting.__getitem__, agents, *self.judge.of_messages)
        operators, submitters = Operators(self.gate, self._alerted), Submitters(self.gate, self.judge.heard)
        controls, rejects = Controls(self.gate), Rejects(self.gate)
        return Assembly(self.gate, store, controls, post, operators, submitters, remote, log, [old], lanes, rejects)

    def _staff(self) -> None:
        """Whoever is triggered by queues; another part joins by a line here."""
        parts, queues = self.parts, self.mailbox.parts
        queues["orders"] = Part("submission", COPIES["submission"], parts.submit)
        queues["scheduler"] = queues["responses"] = Part(
            "scheduler", COPIES["scheduler"], parts.schedule, understood, self._scheduled
        )
        for agent in parts.post.agents:
            serve, bury = partial(parts.serve, agent), partial(parts.bury, agent)
            queues[f"agent {agent}"] = Part(agent, COPIES["agent"], serve, buried=bury)
        convoy = ConvoyParts(parts, LaneQueue(self.gate, self.mailbox.send))
        queues["ledgers"] = Part("ledger", COPIES["ledger"], convoy.split, most=RECEIVED_IN_ORDER)
        queues["lanes"] = Part("convoy", COPIES["convoy"], convoy.apply, most=RECEIVED_IN_ORDER)

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
                self.parts.supervise(copy).sweep(lambda: MINUTE - (self.gate.loop.now - began))
        except Died:
            self.diary.counts["deaths"] += 1

    def _calm_down(self) -> None:
        self.diary.note("", "all goes well from here on")
        self.chances.over = True
        self.parts.remote.down.clear()

    def _settle(self) -> None:
        """All messages come, time passes, and Supervisors look, until nothing waits."""
        loop, tasks, lanes = self.gate.loop, self.judge.tasks.tasks, self.lane_judge.lanes.lanes
        for turn in range(MOST_ROUNDS):
            while loop.waiting:
                loop.run(loop.waiting[0][0])
            looked_at = [*(task.due for task in tasks.values()), *(lane.due for lane in lanes.values())]
            dues = [due for due in looked_at if due is not None]
            if not dues:
                return
            loop.now = max(loop.now + 20 * SECOND, min(dues))
            self._sweep(turn % COPIES["supervisor"])

    def _written(self, write: Write) -> None:
        kept = self.parts.controls.inner.kept
        self.judge.excused = self.parts.post.backlog_seen or any(name.startswith("breaker/") for name in kept)
        self.judge.written(write)

    def _alerted(self, alert: Alert) -> None:
        self.judge.alerted(alert)
        if alert.trouble:
            self.lane_judge.alerts.tell(alert)
            self.customers.hear(alert)
        else:
            self.people.hear(alert)

    def _scheduled(self, letter: Letter) -> None:
        message = decode_for_scheduler(letter.text)
        if isinstance(message, Reply) and message.outcome is Outcome.OK:
            self.judge.handled(message)

    def _all_were_taken(self) -> None:
        """I1: each order is there; what was rejected deserved it."""
        for order_id in self.people.ordered:
            if order_id not in self.judge.tasks.tasks:
                raise Broken("I1", order_id, "the order was sent and never accepted")
            if self.parts.log.duplicates[order_id] >= self.mailbox.deliveries[order_id, "orders"]:
                raise Broken("S", order_id, "each delivery of the order was taken for a second one")
        for reject in self.parts.rejects.inner.kept.values():
            if reject.order_id in OWNERS or reject.source.startswith("ledger of "):
                continue
            nonsense = reject.source == "orders" and "order.submitted" not in reject.body
            if not nonsense and not any(reason in reject.reason for reason in EXPECTED_REJECTS):
                raise Broken("I1", reject.order_id, f"{reject.body} was rejected: {reject.field}: {reject.reason}")


def understood(letter: Letter) -> ToScheduler:
    """What a message asks of the Scheduler."""
    return decode_for_scheduler(letter.text)
