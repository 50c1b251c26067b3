"""Builders of the plans, tasks and messages that tests talk about."""

# mypy: implicit-reexport

import json
from dataclasses import dataclass, field, replace
from typing import Any

from stepward.domain.coordination.outlook import DeadlineCheck, Outlook
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.messages import (
    Cancel,
    Notice,
    Outcome,
    Pause,
    Reply,
    Report,
    Resubmit,
    Resume,
    Retry,
    Start,
    StepRequest,
    Undo,
)
from stepward.domain.task.change import Decision
from stepward.domain.task.decide import AlertSent, Event, decide
from stepward.domain.task.record import ProcessState, StepRecord, Task, new_task
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Exhausted, Plan, PlannedStep, Policy
from tests.decisions import alerts, asked, kinds, notices, of_lanes, requests, retries  # noqa: F401 - known by both names

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
T0 = 1_800_000_000_000
ORDER_ID = "ord-1001"


def planned(
    name: str, *after: str, complete_within: int = MINUTE, threshold: int = 3, undo: str = "", **more: Any
) -> PlannedStep:
    """A step that waits for `after`, done by the agent `worker`, and undone by it with `undo`."""
    by = "worker" if undo else ""
    return PlannedStep(name, "worker", name, after, complete_within, threshold, undo_agent=by, undo=undo, **more)


def waits(delay: int, rounds: int = 1) -> Policy:
    """The policy to wait for `delay` milliseconds."""
    return Policy(Exhausted.WAIT, wait=delay, rounds=rounds)


def falls_back(agent: str, operation: str = "", undo: str = "") -> Policy:
    """The policy to have `agent` take the step."""
    undo_agent, operation = agent if undo else "", operation or f"by_{agent}"
    return Policy(Exhausted.FALLBACK, agent=agent, operation=operation, undo_agent=undo_agent, undo=undo)


ALERTS, UNDOES = Policy(Exhausted.ALERT), Policy(Exhausted.UNDO)


def undoable(**last: Any) -> Plan:
    """`reserve`, then `charge`, then `ship`, each with an undo; `last` says more of `ship`."""
    ship = planned("ship", "charge", undo="recall", **last)
    return Plan("line", 1, (planned("reserve", undo="release"), planned("charge", "reserve", undo="refund"), ship))


def sequence(*names: str, **each: Any) -> Plan:
    """Steps one after another; `each` says more of every one."""
    return Plan("line", 1, tuple(planned(name, *names[:at][-1:], **each) for at, name in enumerate(names)))


def diamond(*, undo: bool = False, **each: Any) -> Plan:
    """`pick` and `pay` side by side between `check` and `ship`; `undo` gives each an undo."""
    waits = {"check": (), "pick": ("check",), "pay": ("check",), "ship": ("pick", "pay")}
    steps = (planned(name, *after, undo=f"un{name}" if undo else "", **each) for name, after in waits.items())
    return Plan("diamond", 1, tuple(steps))


def order_text(order_id: str = ORDER_ID, **changes: Any) -> str:
    """An order message that the engine accepts, with `changes`."""
    order = {"orderId": order_id, "type": "order.submitted", "version": 1, "submittedAt": "2026-01-01T00:00:00Z"}
    return json.dumps(order | changes)


def answer(
    request: StepRequest, outcome: Outcome = Outcome.OK, *, error: str = "", result: dict[str, Any] | None = None
) -> Reply:
    """The reply of the agent that was asked."""
    done = {"ref": request.step} if outcome is Outcome.OK else {}
    returned = done if result is None else result
    return Reply(request.order_id, request.step, request.attempt, request.token, outcome, returned, error)


@dataclass(slots=True)
class Life:
    """One task and its events, one after the other; every write wins, and `asked` holds all requests ever sent."""

    plan: Plan
    timing: Timing = field(default_factory=Timing)
    now: int = T0
    reply_to: str = ""
    correlation_id: str = "checkout-1"
    order_id: str = ORDER_ID
    absent: frozenset[str] = frozenset()
    complete_by: int | None = None
    task: Task = field(init=False)
    before: Task = field(init=False)
    asked: list[StepRequest] = field(default_factory=list)
    history: list[HistoryEntry] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)

    def __post_init__(self) -> None:
        task = new_task(self.order_id, self.plan, self.now, self.timing, complete_by=self.complete_by)
        known = self.correlation_id if self.reply_to else ""
        self.task = replace(task, reply_to=self.reply_to, correlation_id=known)

    def apply(self, event: Event, *, at: int | None = None, by: str = "scheduler-1") -> Decision:
        """Decide, and write the decision; `before` is the task that it was about."""
        self.now = self.now if at is None else at
        self.before = self.task
        known = Outlook(absent=self.absent)
        decision = decide(self.task, self.plan, event, now=self.now, by=by, timing=self.timing, outlook=known)
        self.task = decision.task
        self.asked += requests(decision)
        self.history += decision.history
        self.notices += notices(decision)
        return decision

    def start(self, **how: Any) -> Decision:
        """The Scheduler gets the start of the submission."""
        return self.apply(Start(self.order_id), **how)

    def check(self, **how: Any) -> Decision:
        """The Supervisor checks the deadlines."""
        return self.apply(DeadlineCheck(), **{"by": "supervisor-1"} | how)

    def done(self, step: str, **how: Any) -> Decision:
        """The agent last asked for `step` answers that it is done."""
        return self.apply(answer(self.request(step)), **how)

    def declined(self, step: str, error: str = "card declined", **how: Any) -> Decision:
        """The agent last asked for `step` answers that it can never succeed."""
        return self.apply(answer(self.request(step), Outcome.PERMANENT, error=error), **how)

    def resubmit(self, step: str, attempt: int, **how: Any) -> Decision:
        """An operator asks for the step again."""
        return self.apply(Resubmit(self.order_id, step, attempt, "ada", "card replaced"), **how)

    def retry(self, step: str, attempt: int, **how: Any) -> Decision:
        """The Supervisor's request to run the step again arrives as soon as the backoff is over."""
        ready = max(self.now, self.step(step).not_before or 0)
        return self.apply(Retry(self.order_id, step, attempt), **{"at": ready} | how)

    def undo(self, why: str = "sold twice", **how: Any) -> Decision:
        """An operator wants it undone."""
        return self.apply(Undo(self.order_id, "ada", why), **how)

    def undone(self) -> Decision:
        """An operator wants it undone, and all of `undoable` is; the decision about the last compensation."""
        self.undo()
        self.done("ship/undo")
        self.done("charge/undo")
        return self.done("reserve/undo")

    def cancel(self, **how: Any) -> Decision:
        """The submitter cancels it."""
        return self.apply(Cancel(self.order_id, "shop", "no longer wanted"), **how)

    def pause(self, **how: Any) -> Decision:
        """An operator pauses it."""
        return self.apply(Pause(self.order_id, "ada", "stock is being counted"), **how)

    def resume(self, **how: Any) -> Decision:
        """An operator resumes it."""
        return self.apply(Resume(self.order_id, "ada", "counted"), **how)

    def report(self, **how: Any) -> Decision:
        """Somebody asks for the submitter to be notified of the state."""
        return self.apply(Report(self.order_id), **how)

    def overdue(self, step: str, **how: Any) -> Decision:
        """The Supervisor checks when the running attempt of `step` has just become overdue."""
        limit = self.step(step).complete_by
        assert limit is not None
        return self.check(**{"at": limit + self.timing.skew_margin} | how)

    def used_up(self, step: str) -> Decision:
        """All attempts of this round run past complete-by; the decision about the last of them."""
        for _ in range(self.plan.by_name[step].threshold - self.step(step).failure_count - 1):
            self.overdue(step)
            self.retry(step, self.step(step).attempt)
        return self.overdue(step)

    def alerted(self, step: str, **how: Any) -> Decision:
        """The alert of the step's Error was sent."""
        return self.apply(
            AlertSent(step, self.step(step).attempt, self.step(step).process_state is not ProcessState.ERROR), **how
        )

    def step(self, name: str) -> StepRecord:
        """The step's record."""
        return self.task.steps[name]

    def state(self, name: str) -> ProcessState:
        """The state of the step."""
        return self.task.steps[name].process_state

    def request(self, step: str) -> StepRequest:
        """The newest request for `step`."""
        return next(request for request in reversed(self.asked) if request.step == step)

    def ignored(self, decision: Decision) -> bool:
        """Whether the newest decision leaves the task as it was and sends nothing."""
        return decision.task == self.before and not decision.messages

    def count(self, kind: HistoryKind) -> int:
        """How often this is in the history."""
        return sum(entry.kind is kind for entry in self.history)


def again(record: StepRecord, now: int) -> Retry:
    """The request to run the step again after its backoff."""
    return Retry(record.order_id, record.name, record.attempt, (record.not_before or now) - now)


OTHER = falls_back("other", undo="unpay")
"""The fallback of the step `pay`: another agent, with an undo of its own."""


def started(plan: Plan, *done: str, **how: Any) -> Life:
    """A life that has begun, with these steps done."""
    life = Life(plan, **how)
    life.start()
    for step in done:
        life.done(step)
    return life


def paying(*policies: Policy, threshold: int = 2) -> Life:
    """A life whose step `pay`, under way, has these policies; `reserve` is done."""
    pay = planned("pay", "reserve", undo="refund", threshold=threshold, exhausted=policies)
    return started(Plan("line", 1, (planned("reserve", undo="release"), pay, planned("ship", "pay"))), "reserve")


def shipping(reply_to: str = "", **last: Any) -> Life:
    """`reserve` and `charge` are done, `ship` is under way; `last` says more of `ship`."""
    return started(undoable(**last), "reserve", "charge", reply_to=reply_to)
