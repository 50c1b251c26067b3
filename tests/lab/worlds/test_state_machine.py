"""Orders under faults: any message lost, doubled, late; any part dying anywhere; any two racing; clocks that differ.

`make test` and `make lab` are deterministic; HYPOTHESIS_PROFILE=deep goes further, with another seed each time.
"""

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from stepward.domain.messages import Cancel, Pause, Resubmit, Resume, Undo
from stepward.domain.task.record import ProcessState
from stepward.domain.workflow.plan import Exhausted, Plan
from stepward.testing.faults.audit import waiting
from stepward.testing.faults.profile import Mood
from stepward.testing.faults.pulse import Kind
from stepward.testing.seeded.cast import SETTINGS
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
MISHAPS = {
    "dies before sending": Kind.DIES_BEFORE,
    "answer is lost": Kind.ANSWER_LOST,
    "nobody hears": Kind.FAILS,
}
FAULTS = ["none"] * 5 + ["comes again", "never comes", *MISHAPS]
MOODS = [None, Mood.FAILS, Mood.DECLINES, Mood.BREAKS, Mood.DIES_BEFORE, Mood.DIES_AFTER, Mood.HANGS]
WORKER = "agent-worker"
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
        self.world = HandWorld(plan, ahead)
        self.somebody_orders(number=1, priority="normal")
        self._handle(0, 0)

    @rule(number=st.integers(1, 2), priority=st.sampled_from(["normal", "normal", "high"]))
    def somebody_orders(self, number: int, priority: str) -> None:
        order_id = f"ord-{number}"
        self.world.parts.post("orders", order_text(order_id, priority=priority, replyTo=REPLY_TO))

    @precondition(lambda self: self.world.mail(*TO_THE_ENGINE))
    @rule(pick=picks, copy=copies, fault=st.sampled_from(FAULTS), rival=st.none() | picks)
    def a_message_reaches_the_engine(self, pick: int, copy: int, fault: str, rival: int | None) -> None:
        """`rival` is a message that somebody else handles between this one's read and its write."""
        self._break(fault)
        if rival is not None:
            self.world.hand.before_write = lambda: self._handle(rival, 1 - copy)
        self._deliver(self.world.mail(*TO_THE_ENGINE), pick, copy, fault)

    @precondition(lambda self: self.world.mail(WORKER))
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
        self.world.behave(moods, lambda: self._others_act(hangs, 1 - copy))
        self._deliver(self.world.mail(WORKER), pick, copy, fault)

    @rule(count=st.integers(1, 4))
    def messages_are_delivered_smoothly(self, count: int) -> None:
        self._break("none")
        for _ in range(count):
            self._handle(0, 0)

    @precondition(lambda self: self.world.mail(WORKER))
    @rule(copy=copies, late=passing, fault=st.sampled_from(FAULTS))
    def every_agent_is_dead(self, copy: int, late: int, fault: str) -> None:
        """All requests are lost; well past complete-by a Supervisor sweeps, and the Scheduler handles what it sends."""
        world = self.world
        self._break(fault)
        for mail in world.mail(WORKER):
            mail.forget()
        world.pass_time(36 * SECOND + late)
        world.sweep(copy)
        for mail in self.world.mail("scheduler"):
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
        self._click(text, clicks)

    @precondition(lambda self: self.world.judge.tasks.tasks)
    @rule(pick=picks, kind=st.sampled_from([Undo, Cancel, Pause, Resume, Resume]), clicks=st.integers(1, 2))
    def somebody_commands(self, pick: int, kind: type[Undo | Cancel | Pause | Resume], clicks: int) -> None:
        """An order of a plan without undo is only paused and resumed: nothing takes back what it did."""
        orders = list(self.world.judge.tasks.tasks)
        order_id = orders[pick % len(orders)]
        if kind in (Pause, Resume) or self.world.plan in UNDOABLE:
            self._click(encode(kind(order_id, "ada", "so it shall be")), clicks)

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
            rejected = self.world.parts.rejects.kept.values()
            assert all("other content" in reject.reason for reject in rejected), "I1"

    def _click(self, text: str, clicks: int) -> None:
        for _ in range(clicks):
            self.world.parts.post("scheduler", text)

    def _deliver(self, waiting: list[Mail], pick: int, copy: int, fault: str) -> None:
        mail = waiting[pick % len(waiting)]
        if fault == "never comes":
            mail.forget()
        else:
            self.world.deliver(mail, copy, again=fault == "comes again")

    def _break(self, fault: str) -> None:
        self.world.hand.arm(MISHAPS.get(fault))

    def _handle(self, pick: int, copy: int) -> None:
        if waiting := self.world.mail():
            self.world.deliver(waiting[pick % len(waiting)], copy)

    def _others_act(self, milliseconds: int, copy: int) -> None:
        self.world.pass_time(milliseconds)
        self.world.sweep(copy)
        for _ in range(2):
            self._handle(-1, copy)

    def _settle(self) -> None:
        """No more faults: all messages come, time passes, and the Supervisor sweeps, until nothing waits."""
        world = self.world
        self._break("none")
        world.behave([])
        for _ in range(60):
            while ripe := [mail for mail in world.mail() if mail.stored.visible_at <= world.now]:
                world.deliver(ripe[0], 0)
            upcoming = min([*world.dues(), *(mail.stored.visible_at for mail in world.mail())], default=0)
            if not upcoming:
                return
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
