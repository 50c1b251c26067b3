"""A world: everything that a seed decides, and its life from the first order to quiet time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from stepward.testing.faults.broken import Broken
from stepward.testing.faults.diary import Diary
from stepward.testing.faults.loop import MINUTE, SECOND, START, Loop
from stepward.testing.faults.record import Died
from stepward.testing.seeded.chances import Chances
from stepward.testing.seeded.gate import Gate
from stepward.testing.seeded.mail import Mailbox
from stepward.testing.seeded.profile import profile
from stepward.testing.seeded.scenery import Scenery
from stepward.testing.seeded.stage import COPIES, Cast, Stage

ORDERED_WITHIN = 20 * MINUTE
TROUBLE_ENDS = 90 * MINUTE
SWEPT_EVERY = MINUTE
MOST_ROUNDS = 400
EXPECTED_REJECTS = ("submitted before with other content", "there is no task for")

Casting = Callable[[Gate, Mailbox], Cast]


@dataclass(slots=True)
class World(Stage):
    """One seed's world; `only` are the accidents that happen, all if None; `noted` keeps its diary."""

    casting: Casting
    seed: int
    only: frozenset[str] | None = None
    noted: bool = False
    chances: Chances = field(init=False)

    def __post_init__(self) -> None:
        self.chances, loop = Chances(self.seed, self.only), Loop()
        self.gate = Gate(loop, self.chances, Diary(loop, self.noted), profile(self.chances.dice("profile")))
        self.mailbox = Mailbox(self.gate)
        self.cast = self.casting(self.gate, self.mailbox)
        self.assemble()
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
        """Deliver all messages, let time pass, and have Supervisors sweep, until nothing waits."""
        loop, tasks = self.gate.loop, self.judge.tasks.tasks
        for turn in range(MOST_ROUNDS):
            while loop.waiting:
                loop.run(loop.waiting[0][0])
            dues = [*(task.due for task in tasks.values() if task.due is not None), *self.cast.dues()]
            if not dues:
                return
            loop.now = max(loop.now + 20 * SECOND, min(dues))
            self._sweep(turn % COPIES["supervisor"])

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
