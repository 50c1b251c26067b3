"""Orders whose records were made by the real policy, event by event."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from stepward.domain.decide import Event, Look, Told, decide
from stepward.domain.messages import Outcome, Reply, Resubmit, Start
from stepward.domain.plan import Plan, PlannedStep
from stepward.domain.task import Task, new_task
from stepward.domain.timing import Timing
from stepward.ports import Loaded

SUBMITTED = 1_790_000_000_000
TIMING = Timing(claim_within=60_000, skew_margin=0, outage_after=600_000)
PLAN = Plan(
    "fulfilment",
    2,
    (
        PlannedStep("reserve", "inventory", "reserve", (), 10_000, 3),
        PlannedStep("charge", "payments", "charge", ("reserve",), 20_000, 2),
    ),
)
SIDE_BY_SIDE = Plan("fulfilment", 3, tuple(replace(step, after=()) for step in PLAN.steps))


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

    def answer(self, step: str, at: int, error: str = "") -> Life:
        record = self.task.steps[step]
        outcome = Outcome.PERMANENT if error else Outcome.OK
        reply = Reply(self.order_id, step, record.attempt, record.token or "", outcome, {"reference": "r-7"}, error)
        return self.apply(reply, at)

    def look(self, at: int) -> Life:
        return self.apply(Look(), at, "supervisor-1")

    def retry(self, at: int) -> Life:
        return self.apply(Start(self.order_id), at, "scheduler-2")

    def told(self, step: str, at: int) -> Life:
        return self.apply(Told(step, self.task.steps[step].attempt), at)

    def resubmit(self, step: str, at: int, who: str, why: str) -> Life:
        return self.apply(Resubmit(self.order_id, step, self.task.steps[step].attempt, who, why), at)

    @property
    def loaded(self) -> Loaded:
        return Loaded(self.task, self.plan, {"orderId": self.order_id, "customerId": "jane-doe-7"})


def failed_twice() -> Life:
    """Two steps that ran side by side ended in Error."""
    return Life(plan=SIDE_BY_SIDE).start(0).answer("reserve", 100, "sold out").answer("charge", 200, "declined")


def recovered() -> Life:
    """Its first attempt at charge was never answered; the second one was."""
    return Life().start(40).answer("reserve", 1_000).look(25_000).retry(25_100).answer("charge", 26_000)


def failed(error: str = "refused with card_declined") -> Life:
    """The payment service refused for good, and an operator knows."""
    return Life().start(40).answer("reserve", 1_000).answer("charge", 2_000, error).told("charge", 2_050)
