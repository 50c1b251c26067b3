"""Builders of the plans, tasks and messages that tests talk about."""

import json
from dataclasses import dataclass, field
from typing import Any

from stepward.domain.decide import Event, Look, Told, decide
from stepward.domain.draft import Decision
from stepward.domain.facts import Fact, FactKind
from stepward.domain.messages import Alert, Outcome, Reply, Resubmit, Retry, Start, StepRequest
from stepward.domain.plan import Plan, PlannedStep
from stepward.domain.task import ProcessState, StepRecord, Task, new_task
from stepward.domain.timing import Timing

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
T0 = 1_800_000_000_000
ORDER_ID = "ord-1001"


def planned(name: str, *after: str, complete_within: int = MINUTE, threshold: int = 3) -> PlannedStep:
    """A step that waits for `after`, done by the agent `worker`."""
    return PlannedStep(name, "worker", name, after, complete_within, threshold)


def sequence(*names: str, complete_within: int = MINUTE, threshold: int = 3) -> Plan:
    """Steps one after another."""
    waits: list[tuple[str, ...]] = [(), *((name,) for name in names[:-1])]
    steps = (
        planned(name, *after, complete_within=complete_within, threshold=threshold)
        for name, after in zip(names, waits, strict=True)
    )
    return Plan("line", 1, tuple(steps))


def diamond(complete_within: int = MINUTE, threshold: int = 3) -> Plan:
    """`pick` and `pay` side by side between `check` and `ship`."""
    waits = {"check": (), "pick": ("check",), "pay": ("check",), "ship": ("pick", "pay")}
    steps = (
        planned(name, *after, complete_within=complete_within, threshold=threshold) for name, after in waits.items()
    )
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
    found = done if result is None else result
    return Reply(request.order_id, request.step, request.attempt, request.token, outcome, found, error)


@dataclass(slots=True)
class Life:
    """One task led from event to event, every write of which wins; `asked` holds all requests ever sent."""

    plan: Plan
    timing: Timing = field(default_factory=Timing)
    now: int = T0
    task: Task = field(init=False)
    asked: list[StepRequest] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.task = new_task(ORDER_ID, self.plan, self.now, self.timing)

    def apply(self, event: Event, *, at: int | None = None, by: str = "scheduler-1") -> Decision:
        """Decide, and keep the decision."""
        self.now = self.now if at is None else at
        decision = decide(self.task, self.plan, event, now=self.now, by=by, timing=self.timing)
        self.task = decision.task
        self.asked += requests(decision)
        self.facts += decision.facts
        return decision

    def start(self, **how: Any) -> Decision:
        """The Scheduler is told of the submission."""
        return self.apply(Start(ORDER_ID), **how)

    def look(self, **how: Any) -> Decision:
        """The Supervisor looks."""
        return self.apply(Look(), **{"by": "supervisor-1"} | how)

    def done(self, step: str, **how: Any) -> Decision:
        """The agent last asked for `step` answers that it is done."""
        return self.apply(answer(self.request(step)), **how)

    def declined(self, step: str, error: str = "card declined", **how: Any) -> Decision:
        """The agent last asked for `step` answers that it will never work."""
        return self.apply(answer(self.request(step), Outcome.PERMANENT, error=error), **how)

    def resubmit(self, step: str, attempt: int, **how: Any) -> Decision:
        """An operator asks for the step again."""
        return self.apply(Resubmit(ORDER_ID, step, attempt, "ada", "card replaced"), **how)

    def retry(self, step: str, attempt: int, **how: Any) -> Decision:
        """The Supervisor's request to run the step again arrives."""
        return self.apply(Retry(ORDER_ID, step, attempt), **how)

    def told(self, step: str, **how: Any) -> Decision:
        """The alert of the step's Error is out."""
        return self.apply(Told(step, self.step(step).attempt), **how)

    def step(self, name: str) -> StepRecord:
        """The step's record."""
        return self.task.steps[name]

    def state(self, name: str) -> ProcessState:
        """Where the step stands."""
        return self.task.steps[name].process_state

    def request(self, step: str) -> StepRequest:
        """The newest request for `step`."""
        return next(request for request in reversed(self.asked) if request.step == step)

    def count(self, kind: FactKind) -> int:
        """How often this has happened."""
        return sum(fact.kind is kind for fact in self.facts)


def requests(decision: Decision) -> list[StepRequest]:
    """What the decision asks of agents."""
    return [message for message in decision.messages if isinstance(message, StepRequest)]


def alerts(decision: Decision) -> list[Alert]:
    """What the decision tells operators."""
    return [message for message in decision.messages if isinstance(message, Alert)]


def retries(decision: Decision) -> list[Retry]:
    """What the decision asks the Scheduler to run again."""
    return [message for message in decision.messages if isinstance(message, Retry)]


def waiting(task: Task) -> list[int]:
    """When each thing that waits has waited long enough; beside an Error, what is Pending waits for an operator."""
    halted = task.process_state is ProcessState.ERROR
    limits = [
        record.complete_by
        for record in task.steps.values()
        if record.process_state is ProcessState.PROCESSING
        or (record.process_state is ProcessState.PENDING and not halted)
    ]
    alerting = [record.alert_by for record in task.steps.values()]
    return [limit for limit in (*limits, *alerting) if limit is not None]
