"""A world: everything that a seed decides, and its life from the first order to quiet time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from stepward.domain.history import HistoryKind
from stepward.domain.key import TaskKey
from stepward.testing.faults.broken import Broken
from stepward.testing.faults.diary import Diary
from stepward.testing.faults.gate import Chances, Gate
from stepward.testing.faults.judge import Judge
from stepward.testing.faults.loop import HOUR, MINUTE, SECOND, START, Loop
from stepward.testing.faults.profile import profile
from stepward.testing.faults.waits import held_up
from stepward.testing.pump import Part
from stepward.testing.seeded.cast import Cast
from stepward.testing.seeded.instances import Instances
from stepward.testing.seeded.mail import HIDDEN
from stepward.testing.seeded.mishaps import Mishaps
from stepward.testing.seeded.people import STRANGER
from stepward.testing.seeded.scenery import Scenery

COPIES = {"submission": 2, "scheduler": 3, "agent": 3, "supervisor": 2, "ledger": 2, "convoy": 3}
BACKLOG = 6
DEEPEST = 4
"""So many invocations wait inside each other at most."""
ORDERED_WITHIN = 20 * MINUTE
TROUBLE_ENDS = 90 * MINUTE
SWEPT_EVERY = MINUTE
REDRIVEN_AT = HOUR
MOST_ROUNDS = 400
EXPECTED_REJECTS = (
    "submitted before with other content",
    "there is no task for",
    "was given before",
    "came too late",
    "is accepted from operators only",
)

Casting = Callable[[Gate], Cast]


@dataclass(slots=True)
class World:
    """One seed's world; `only` are the accidents that happen, all if None; `noted` keeps its diary."""

    casting: Casting
    seed: int
    only: frozenset[str] | None = None
    noted: bool = False
    chances: Chances = field(init=False)
    gate: Gate = field(init=False)
    cast: Cast = field(init=False)
    parts: Instances = field(init=False)

    def __post_init__(self) -> None:
        self.chances, loop = Chances(self.seed, self.only), Loop()
        self.gate = Gate(loop, self.chances, Diary(loop, self.noted), profile(self.chances.dice("profile")))
        self.cast, mishaps = self.casting(self.gate), Mishaps(gate=self.gate)
        self.parts = self.cast.kind(
            app=self.cast.releases[0],
            releases=self.cast.releases,
            settings=self.cast.settings,
            gate=self.gate,
            pulse=mishaps,
            visibility=HIDDEN,
            lanes=self.cast.lanes,
            copies=COPIES,
            hear=self.cast.hear,
            backlog=BACKLOG,
        )
        pump, self.cast.people.post = self.parts.pump, self.parts.post
        pump.deepest, pump.due, pump.supervisor = DEEPEST, lambda: None, Part("supervisor", copies=COPIES["supervisor"])
        mishaps.wait = lambda milliseconds: pump.wait(milliseconds / SECOND)
        copies = COPIES | dict.fromkeys(self.parts.agents(), COPIES["agent"])
        Scenery(self.gate, self.parts, ORDERED_WITHIN).set(copies)

    @property
    def diary(self) -> Diary:
        """What happened."""
        return self.gate.diary

    @property
    def judge(self) -> Judge:
        """Who judges it."""
        return self.parts.judge

    def run(self) -> None:
        """Live until nothing is on its way and nothing waits; raises Broken."""
        for number in range(self.cast.orders):
            self.cast.people.order(number, ORDERED_WITHIN)
        self.cast.begin(self.parts)
        for copy in range(COPIES["supervisor"]):
            self.gate.loop.later(copy * 7 * SECOND, partial(self._sweep_often, copy))
        self.gate.loop.later(REDRIVEN_AT, self._redrive)
        self._go_on(START + TROUBLE_ENDS)
        self._calm_down()
        self._settle()
        self.judge.verdict()
        self.cast.verdict()
        self._all_were_taken()

    def _go_on(self, until: int | None = None) -> None:
        self.parts.pump.run(lambda: False, until)

    def _sweep_often(self, copy: int) -> None:
        if self.chances.over:
            return
        if not self.parts.pump.is_closed:
            self._sweep(copy)
        self.gate.loop.later(SWEPT_EVERY, partial(self._sweep_often, copy))

    def _sweep(self, copy: int) -> None:
        """One run of a Supervisor; it may die."""
        self.diary.counts["sweeps"] += 1
        pump, instance = self.parts.pump, f"supervisor-{copy}"
        pump.invoke(pump.supervisor, instance, self.parts.sweep, wish=copy)

    def _redrive(self) -> bool:
        """Operators redrive the dead letters; whether there were any."""
        redriven = sum(line.queue.redrive() for line in self.parts.pump.lines.values())
        self.diary.counts["dead letters"] += redriven
        return bool(redriven)

    def _calm_down(self) -> None:
        self.diary.note("", "all goes well from here on")
        self.chances.over = True
        self.parts.down.clear()
        numbers = range(len(self.cast.releases))
        for part in self.parts.all_parts():
            self.parts.deploy(part, numbers[-1:], numbers)

    def _settle(self) -> None:
        """Deliver all messages, let time pass, and have Supervisors sweep, until nothing waits."""
        loop, tasks = self.gate.loop, self.judge.tasks.tasks
        for turn in range(MOST_ROUNDS):
            self._go_on()
            if self._redrive():
                continue
            waiting = (task for task in tasks.values() if task.due is not None and not held_up(task, tasks))
            dues = [*(task.due or 0 for task in waiting), *self.cast.dues()]
            if not dues:
                return
            loop.now = max(loop.now + 20 * SECOND, min(dues))
            self._sweep(turn % COPIES["supervisor"])

    def _all_were_taken(self) -> None:
        """I1, I10: each order is there; what was rejected deserved it; every record can be read."""
        refused = (HistoryKind.DUPLICATE, HistoryKind.CONFLICT)
        duplicates = [order_id for order_id, entry in self.parts.telemetry.history if entry.kind in refused]
        for order_id in self.cast.people.ordered:
            if order_id not in self.judge.tasks.tasks:
                raise Broken("I1", order_id, "the order was sent and never accepted")
            if duplicates.count(order_id) >= self.parts.pump.deliveries[TaskKey.read(order_id).order_id, "orders"]:
                raise Broken("S", order_id, "each delivery of the order was taken for a second one")
            if STRANGER in self.judge.tasks.tasks[order_id].undoing:
                raise Broken("W1", order_id, "another customer has cancelled it")
        for order_id, entry in self.parts.telemetry.history:
            if entry.kind is HistoryKind.CORRUPT:
                raise Broken("I10", order_id, f"a record is called corrupt: {entry.note}")
        self._all_deserved_it()

    def _all_deserved_it(self) -> None:
        """I1, W1: each reject is nonsense, comes from another customer, or names one of the reasons."""
        for reject in self.parts.rejects.kept.values():
            nonsense = reject.source == "orders" and "order.submitted" not in reject.body
            foreign = STRANGER in reject.body and reject.field == "customerId"
            expected = nonsense or foreign or self.cast.expects(reject)
            if not expected and not any(reason in reject.reason for reason in EXPECTED_REJECTS):
                raise Broken("I1", reject.order_id, f"{reject.body} was rejected: {reject.field}: {reject.reason}")
