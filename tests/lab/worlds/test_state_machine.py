"""Orders under faults: any message lost, doubled, late; any part dying anywhere; any two racing; clocks that differ.

`make test` and `make lab` are deterministic; HYPOTHESIS_PROFILE=deep goes further, with another seed each time.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from stepward.domain.messages import Cancel, Pause, Resubmit, Resume, Undo
from stepward.domain.task.record import ProcessState
from stepward.domain.workflow.plan import Exhausted, Plan
from stepward.testing.faults.audit import waiting
from stepward.testing.seeded.profile import Mishap
from stepward.testing.seeded.stage import SETTINGS
from stepward.testing.services import Mood
from stepward.testing.settings import REPLY_TO
from stepward.wire.messages import encode
from tests.depth import machine
from tests.factories import (
    ALERTS,
    HOUR,
    MINUTE,
    SECOND,
    UNDOES,
    diamond,
    falls_back,
    order_text,
    planned,
    sequence,
    waits,
)
from tests.lab.worlds.by_hand import COPIES, HandWorld, Mail

SHORT: dict[str, Any] = {"complete_within": 30 * SECOND, "threshold": 2}
UNDOING = {**SHORT, "exhausted": (UNDOES,), "on_permanent": Exhausted.UNDO}
HASTY = {**SHORT, "threshold": 1}
ELSEWHERE = falls_back("other", undo="give_back")
PLANS = [
    sequence("reserve", "charge", "ship", complete_within=30 * SECOND, threshold=2),
    diamond(complete_within=30 * SECOND, threshold=2),
    Plan(
        "undoing",
        1,
        (
            planned("check", undo="uncheck", **SHORT),
            planned("pick", "check", undo="unpick", **UNDOING),
            planned("pay", "check", undo="unpay", **SHORT),
            planned("ship", "pick", "pay", undo="recall", **UNDOING),
        ),
    ),
    Plan(
        "patient",
        1,
        (
            planned("pick", undo="unpick", **HASTY, exhausted=(ELSEWHERE, waits(2 * MINUTE), ALERTS)),
            planned("pay", "pick", undo="unpay", **HASTY, exhausted=(waits(HOUR), ELSEWHERE, UNDOES)),
        ),
    ),
]
UNDOABLE = PLANS[2:]
PARTS = ("submission", "scheduler", "worker", "supervisor")
MISHAPS = {
    "dies before sending": Mishap.DIES_BEFORE,
    "answer is lost": Mishap.LOSES_ANSWER,
    "nobody hears": Mishap.THROTTLED,
}
FAULTS = ["none"] * 5 + ["comes again", "never comes", *MISHAPS]
MOODS = [None, Mood.FAILS, Mood.DECLINES, Mood.BREAKS, Mood.DIES_BEFORE, Mood.DIES_AFTER, Mood.HANGS]
WORKER = "agent worker"
TO_THE_ENGINE = ("orders", "scheduler", "responses")
copies = st.integers(0, COPIES - 1)
picks = st.integers(0, 9)
passing = st.sampled_from([SECOND, 12 * SECOND, 29 * SECOND, 36 * SECOND, 46 * SECOND, 2 * MINUTE, HOUR])


class OrdersUnderFaults(RuleBasedStateMachine):
    """The real use cases over the ports of the seeded worlds, with these invariants:

    I1 at quiet time every accepted order is Processed or Undone, in Error with an alert, or paused where it shows.
    I2 a step has at most one holder, and only the holder, in time, completes it.
    I3 a step runs only after everything that it waits for is Processed.
    I4 each effect happens once, and a Processed step has its effect.
    I5 FailureCount follows the failed attempts, and never passes the threshold without its policy, applied once.
    I6 each effect of an Undone order is undone once, in reverse, and none is left.
    I8 every notice matches a state that was reached, and those told first have rising revisions.
    I9 the index lists tasks early or on time, never late.
    """

    world: HandWorld

    @initialize(plan=st.sampled_from(PLANS), ahead=st.sampled_from([SETTINGS.timing.skew_margin, 2_500, 0]))
    def deploy(self, plan: Plan, ahead: int) -> None:
        """The clock of every second instance is `ahead` of the others by up to the margin."""
        self.world = HandWorld(plan, {f"{part}-1": ahead for part in PARTS})
        self.somebody_orders(number=1, priority="normal")
        self._handle(0, 0)

    @rule(number=st.integers(1, 2), priority=st.sampled_from(["normal", "normal", "high"]))
    def somebody_orders(self, number: int, priority: str) -> None:
        order_id = f"ord-{number}"
        self.world.bag.send("orders", order_id, order_text(order_id, priority=priority, replyTo=REPLY_TO))

    @precondition(lambda self: self._mail(*TO_THE_ENGINE))
    @rule(pick=picks, copy=copies, fault=st.sampled_from(FAULTS), rival=st.none() | picks)
    def a_message_reaches_the_engine(self, pick: int, copy: int, fault: str, rival: int | None) -> None:
        """`rival` is a message that somebody else handles between this one's read and its write."""
        self._break(fault)
        if rival is not None:
            self.world.hand.before_write = lambda: self._handle(rival, 1 - copy)
        self._deliver(self._mail(*TO_THE_ENGINE), pick, copy, fault)

    @precondition(lambda self: self._mail(WORKER))
    @rule(
        pick=picks,
        copy=copies,
        fault=st.sampled_from(FAULTS),
        moods=st.lists(st.sampled_from(MOODS), max_size=2),
        hangs=passing,
    )
    def an_agent_works(self, pick: int, copy: int, fault: str, moods: list[Mood | None], hangs: int) -> None:
        """While a call hangs, time passes, a Supervisor sweeps, and what it frees may run elsewhere."""
        self._break(fault)
        self.world.services.moods = list(moods)
        self.world.services.meanwhile = lambda: self._others_act(hangs, 1 - copy)
        self._deliver(self._mail(WORKER), pick, copy, fault)

    @rule(count=st.integers(1, 4))
    def messages_are_delivered_smoothly(self, count: int) -> None:
        self.world.hand.clear()
        for _ in range(count):
            self._handle(0, 0)

    @precondition(lambda self: self._mail(WORKER))
    @rule(copy=copies, late=passing, fault=st.sampled_from(FAULTS))
    def every_agent_is_dead(self, copy: int, late: int, fault: str) -> None:
        """All requests are lost; well past complete-by a Supervisor sweeps, and the Scheduler handles what it sends."""
        world = self.world
        self._break(fault)
        world.bag.mail = [mail for mail in world.bag.mail if mail.message.queue != WORKER]
        world.pass_time(36 * SECOND + late)
        world.sweep(copy)
        for mail in self._mail("scheduler"):
            self._deliver([mail], 0, copy, "none")

    @rule(milliseconds=passing)
    def time_passes(self, milliseconds: int) -> None:
        self.world.pass_time(milliseconds)

    @precondition(lambda self: self._limits())
    @rule(
        offset=st.sampled_from([-SETTINGS.timing.skew_margin, -1, 0, 1, SETTINGS.timing.skew_margin]),
        copy=copies,
        fault=st.sampled_from(FAULTS),
    )
    def a_deadline_comes(self, offset: int, copy: int, fault: str) -> None:
        """A Supervisor sweeps around the moment of a deadline, where clocks that differ disagree."""
        self._break(fault)
        self.world.pass_time(max(0, min(self._limits()) + offset - self.world.now))
        self.world.sweep(copy)

    @rule(copy=copies, fault=st.sampled_from(FAULTS), rival=st.booleans())
    def a_supervisor_sweeps(self, copy: int, fault: str, *, rival: bool) -> None:
        """With a rival, the other Supervisor sweeps between the first one's read and its write."""
        self._break(fault)
        if rival:
            self.world.hand.before_write = lambda: self.world.sweep(1 - copy)
        self.world.sweep(copy)

    @precondition(lambda self: any(self._in_error()))
    @rule(pick=picks, clicks=st.integers(1, 2), seen=st.integers(-1, 0))
    def an_operator_resubmits(self, pick: int, clicks: int, seen: int) -> None:
        """Perhaps with two clicks; perhaps (`seen`) looking at an earlier attempt."""
        failed = list(self._in_error())
        order_id, step, attempt = failed[pick % len(failed)]
        text = encode(Resubmit(order_id, step, max(0, attempt + seen), "ada", "fixed"))
        self._click(order_id, text, clicks)

    @precondition(lambda self: self.world.judge.tasks.tasks)
    @rule(pick=picks, kind=st.sampled_from([Undo, Cancel, Pause, Resume, Resume]), clicks=st.integers(1, 2))
    def somebody_commands(self, pick: int, kind: type[Undo | Cancel | Pause | Resume], clicks: int) -> None:
        """An order of a plan without undo is only paused and resumed: nothing takes back what it did."""
        orders = list(self.world.judge.tasks.tasks)
        order_id = orders[pick % len(orders)]
        if kind in (Pause, Resume) or self.world.plan in UNDOABLE:
            self._click(order_id, encode(kind(order_id, "ada", "so it shall be")), clicks)

    @invariant()
    def what_happened_was_right(self) -> None:
        """I2 to I6 and I8, judged as it happens."""
        assert not self.world.faults

    @invariant()
    def each_effect_happens_once(self) -> None:
        assert not list(self.world.doubled())

    @invariant()
    def nothing_is_listed_late(self) -> None:
        assert not list(self.world.late())

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self._settle()
            self.world.verdict()
            assert not self.world.faults
            rejected = self.world.parts.rejects.inner.kept.values()
            assert all("other content" in reject.reason for reject in rejected), "I1"

    def _mail(self, *queues: str) -> list[Mail]:
        return [mail for mail in self.world.bag.mail if mail.message.queue in queues]

    def _click(self, order_id: str, text: str, clicks: int) -> None:
        for _ in range(clicks):
            self.world.bag.send("scheduler", order_id, text)

    def _deliver(self, waiting: list[Mail], pick: int, copy: int, fault: str) -> None:
        mail, bag = waiting[pick % len(waiting)], self.world.bag.mail
        handled = fault == "never comes" or self.world.deliver(mail.message, copy) is None
        if handled and fault != "comes again" and mail in bag:
            bag.remove(mail)

    def _break(self, fault: str) -> None:
        self.world.hand.clear()
        self.world.hand.armed = MISHAPS.get(fault)

    def _handle(self, pick: int, copy: int) -> None:
        bag = self.world.bag.mail
        if bag:
            mail = bag.pop(pick % len(bag))
            back = self.world.deliver(mail.message, copy)
            if back is not None:
                bag.append(replace(mail, at=self.world.now + back))

    def _others_act(self, milliseconds: int, copy: int) -> None:
        self.world.pass_time(milliseconds)
        self.world.sweep(copy)
        for _ in range(2):
            self._handle(-1, copy)

    def _settle(self) -> None:
        """No more faults: all messages come, time passes, and the Supervisor sweeps, until nothing waits."""
        world = self.world
        world.hand.clear()
        world.services.moods.clear()
        for _ in range(60):
            while ripe := [mail for mail in world.bag.mail if mail.at <= world.now]:
                self._handle(world.bag.mail.index(ripe[0]), 0)
            if not world.dues():
                return
            upcoming = min([*world.dues(), *(mail.at for mail in world.bag.mail)])
            world.pass_time(max(20 * SECOND, upcoming - world.now))
            world.sweep(0)

    def _limits(self) -> list[int]:
        return [limit for task in self.world.judge.tasks.tasks.values() for limit in waiting(task)]

    def _in_error(self) -> Iterator[tuple[str, str, int]]:
        for task in self.world.judge.tasks.tasks.values():
            for record in task.steps.values():
                if record.process_state is ProcessState.ERROR:
                    yield task.order_id, record.name, record.attempt


OrdersUnderFaults.TestCase.settings = machine(300, 40, steps=50, deep=3_000)
TestOrdersUnderFaults = OrdersUnderFaults.TestCase
