"""Orders whose records the real policy made, event by event."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from stepward.domain.coordination.outlook import DeadlineCheck
from stepward.domain.messages import (
    OPERATORS,
    Outcome,
    Pause,
    Reply,
    Resubmit,
    Resume,
    SignalGiven,
    Start,
    StepRequest,
    ToScheduler,
    Undo,
)
from stepward.domain.task.decide import AlertSent, Event, decide
from stepward.domain.task.record import Loaded, ProcessState, Task, new_task
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Plan, PlannedStep, StepKind
from tests.factories import ALERTS, falls_back, waits

Message = ToScheduler | StepRequest
SUBMITTED = 1_790_000_000_000
TIMING = Timing(claim_within=60_000, skew_margin=0, outage_after=600_000)
RESERVE = PlannedStep("reserve", "inventory", "reserve", (), 10_000, 3)
CHARGE = PlannedStep("charge", "payments", "charge", ("reserve",), 20_000, 2)
SHIP = PlannedStep("ship", "shipping", "ship", ("charge",), 20_000, 2, point_of_no_return=True)
RELEASED = replace(RESERVE, undo_agent="inventory", undo="release")
REFUNDED = replace(CHARGE, undo_agent="payments", undo="refund")
POLICIES = (waits(30_000), falls_back("invoices", "invoice"), ALERTS)
PLAN = Plan("fulfilment", 2, (RESERVE, CHARGE))
SIDE_BY_SIDE = Plan("fulfilment", 3, (RESERVE, replace(CHARGE, after=())))
UNDOABLE = Plan("fulfilment", 4, (RELEASED, REFUNDED, SHIP))
PATIENT = Plan("fulfilment", 5, (replace(REFUNDED, after=(), threshold=1, exhausted=POLICIES),))
"""A step that waits once, falls back to another agent, and then ends in Error."""


@dataclass
class Life:
    """One order; times are milliseconds since it was submitted."""

    order_id: str = "ord-1"
    plan: Plan = PLAN
    task: Task = field(init=False)

    def __post_init__(self) -> None:
        self.task = new_task(self.order_id, self.plan, SUBMITTED, TIMING)

    def apply(self, event: Event, at: int, by: str = "scheduler-1") -> Life:
        self.task = decide(self.task, self.plan, event, now=SUBMITTED + at, by=by, timing=TIMING).task
        return self

    def start(self, at: int) -> Life:
        return self.apply(Start(self.order_id), at)

    def reply(self, step: str, outcome: Outcome = Outcome.OK, error: str = "", token: str = "") -> Reply:
        """The agent's reply to the newest attempt, or one under another token."""
        record = self.task.steps[step]
        token = token or record.token or "gone"
        return Reply(self.order_id, step, record.attempt, token, outcome, {"reference": "r-7"}, error)

    def answer(self, step: str, at: int, error: str = "") -> Life:
        return self.apply(self.reply(step, Outcome.PERMANENT if error else Outcome.OK, error), at)

    def check_deadlines(self, at: int) -> Life:
        return self.apply(DeadlineCheck(), at, "supervisor-1")

    def retry(self, at: int) -> Life:
        return self.apply(Start(self.order_id), at, "scheduler-2")

    def alerted(self, step: str, at: int) -> Life:
        record = self.task.steps[step]
        return self.apply(AlertSent(step, record.attempt, record.process_state is not ProcessState.ERROR), at)

    def resubmit(self, step: str, at: int, who: str, why: str) -> Life:
        return self.apply(Resubmit(self.order_id, step, self.task.steps[step].attempt, who, why), at)

    def undo(self, at: int, who: str = "ada", why: str = "withdrawn") -> Life:
        return self.apply(Undo(self.order_id, who, why), at)

    def pause(self, at: int, who: str = "ada", why: str = "asking") -> Life:
        return self.apply(Pause(self.order_id, who, why), at)

    def resume(self, at: int, who: str = "alex", why: str = "agreed") -> Life:
        return self.apply(Resume(self.order_id, who, why), at)

    @property
    def loaded(self) -> Loaded:
        return Loaded(self.task, self.plan, {"orderId": self.order_id, "customerId": "jane-doe-7"})


def failed_twice() -> Life:
    """Two steps that ran side by side ended in Error."""
    return Life(plan=SIDE_BY_SIDE).start(0).answer("reserve", 100, "sold out").answer("charge", 200, "declined")


def not_deployed() -> Life:
    """Its agent does not know the operation of reserve."""
    life = Life().start(0)
    token = life.task.steps["reserve"].token or ""
    return life.apply(Reply("ord-1", "reserve", 1, token, Outcome.NOT_UNDERSTOOD, error="deploy it"), 100)


def recovered() -> Life:
    """Its first attempt at charge was never answered; the second one was."""
    return Life().start(40).answer("reserve", 1_000).check_deadlines(25_000).retry(26_000).answer("charge", 27_000)


def undoing() -> Life:
    """Withdrawn while charge was at work: what is in doubt is being undone."""
    return Life(plan=UNDOABLE).start(0).answer("reserve", 1_000).undo(2_000)


def undone() -> Life:
    """The same, to its end."""
    return undoing().answer("charge/undo", 2_100).answer("reserve/undo", 2_200)


def one_way() -> Life:
    """Withdrawn while charge was at work; neither of its steps has an undo."""
    return Life().start(0).answer("reserve", 1_000).undo(2_000)


def undo_failed() -> Life:
    """The refund was refused for good."""
    return undoing().answer("charge/undo", 2_100, "account closed").alerted("charge/undo", 2_150)


def paused() -> Life:
    """Paused while reserve was at work."""
    return Life(plan=UNDOABLE).start(0).pause(500)


def timed_out() -> Life:
    """Its complete-by, ten seconds, passed while reserve was at work."""
    return Life(plan=replace(UNDOABLE, complete_within=10_000)).start(0).answer("reserve", 10_000)


def stopped() -> Life:
    """Its complete-by passed while reserve was at work, and the Supervisor has seen it."""
    return timed_out().check_deadlines(12_000).alerted("charge", 12_050)


def shipping() -> Life:
    """Past its point of no return."""
    return Life(plan=UNDOABLE).start(0).answer("reserve", 1_000).answer("charge", 2_000)


def failed(error: str = "refused with card_declined", plan: Plan = PLAN) -> Life:
    """The payment service refused for good, and an operator knows."""
    return Life(plan=plan).start(40).answer("reserve", 1_000).answer("charge", 2_000, error).alerted("charge", 2_050)


APPROVAL = PlannedStep("approval", "", "", (), 172_800_000, 1, kind=StepKind.SIGNAL, exhausted=(ALERTS,))
APPROVED = Plan("fulfilment", 6, (APPROVAL, replace(CHARGE, after=("approval",))))
GIVEN = SignalGiven("ord-1", "approval", "a-1", {"by": "ann"}, who="ada", door=OPERATORS)


def approving(by: str = "") -> Life:
    """It waits for an approval."""
    return Life(plan=replace(APPROVED, steps=(replace(APPROVAL, by=by), *APPROVED.steps[1:]))).start(10)


def early() -> Life:
    """Its approval came before the first step began."""
    return Life(plan=APPROVED).apply(GIVEN, 5)
