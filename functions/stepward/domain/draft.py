"""A change in the making: the one place where step records are claimed, ended and given deadlines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from stepward.domain.facts import TROUBLES, Fact, FactKind
from stepward.domain.messages import Alert, Message, StepRequest
from stepward.domain.plan import Plan, PlannedStep
from stepward.domain.task import HISTORY_LIMIT, ProcessState, StepRecord, Task, claim_token
from stepward.domain.timing import Timing

CLAIMS_PER_THRESHOLD = 10
LONGEST_NOTE = 200


@dataclass(frozen=True, slots=True)
class Decision:
    """The task as it shall be, what to send once that is written, and what to tell of it."""

    task: Task
    messages: tuple[Message, ...] = ()
    facts: tuple[Fact, ...] = ()


@dataclass(slots=True)
class Draft:
    """The steps of `task` on their way to its next revision, changed by `by` at `now`."""

    task: Task
    plan: Plan
    now: int
    by: str
    timing: Timing
    steps: dict[str, StepRecord] = field(init=False)
    messages: list[Message] = field(init=False, default_factory=list)
    facts: list[Fact] = field(init=False, default_factory=list)
    fence: int = field(init=False)
    fence_base: int = field(init=False)

    def __post_init__(self) -> None:
        self.steps = dict(self.task.steps)
        self.fence = self.task.fence
        self.fence_base = self.task.fence_base

    @property
    def halted(self) -> bool:
        """A task with a step in Error starts nothing new until an operator has acted."""
        return any(record.process_state is ProcessState.ERROR for record in self.steps.values())

    def ready(self) -> Iterator[PlannedStep]:
        """The steps that may be claimed now: Pending, all they wait for Processed, the task not halted."""
        for planned in () if self.halted else self.plan.steps:
            done = (self.steps[name].process_state is ProcessState.PROCESSED for name in planned.after)
            if self.steps[planned.name].process_state is ProcessState.PENDING and all(done):
                yield planned

    def claim_ready(self, cause: str) -> None:
        """Claim whatever may run."""
        while (planned := next(self.ready(), None)) is not None:
            self.claim(planned, cause)

    def claim(self, planned: PlannedStep, cause: str) -> None:
        """Lock the step for one attempt and ask its agent; past the task's bound of claims, end it in Error."""
        record = self.steps[planned.name]
        if self.fence - self.fence_base >= CLAIMS_PER_THRESHOLD * sum(step.threshold for step in self.plan.steps):
            self.fail(record, "the task was claimed too often; something drives it in a circle")
            return
        self.fence += 1
        attempt = record.attempt + 1
        self.steps[planned.name] = replace(
            record,
            process_state=ProcessState.PROCESSING,
            locked_by=self.by,
            complete_by=self.now + planned.complete_within,
            attempt=attempt,
            token=claim_token(self.task, cause, planned.name, attempt),
            fence=self.fence,
            started_at=self.now,
        )
        self.tell(FactKind.CLAIMED, planned.name, attempt)
        self.messages.append(self.request(planned))

    def resend(self, cause: str) -> None:
        """Ask again for every running step that this very cause claimed: its first asking may be lost."""
        for planned in self.plan.steps:
            record = self.steps[planned.name]
            running = record.process_state is ProcessState.PROCESSING
            if running and record.token == claim_token(self.task, cause, planned.name, record.attempt):
                self.messages.append(self.request(planned))

    def request(self, planned: PlannedStep) -> StepRequest:
        """The message that asks the agent for the step's running attempt."""
        record = self.steps[planned.name]
        complete_by = record.complete_by or self.now
        return StepRequest(
            order_id=self.task.order_id,
            step=planned.name,
            agent=planned.agent,
            operation=planned.operation,
            attempt=record.attempt,
            token=record.token or "",
            fence=record.fence,
            idempotency_key=f"{self.task.order_id}/{planned.name}",
            complete_by=complete_by,
            budget=complete_by - self.now,
            results={name: done.result for name, done in self.steps.items() if done.result is not None},
        )

    def fail(self, record: StepRecord, reason: str, overdue: int = 0) -> None:
        """End the step in Error; the task stays due until an operator has been told."""
        reason = reason[:LONGEST_NOTE]
        self.steps[record.name] = replace(
            record,
            process_state=ProcessState.ERROR,
            locked_by=None,
            complete_by=None,
            ended_at=self.now,
            error=reason,
        )
        self.tell(FactKind.FAILED, record.name, record.attempt, record.locked_by or "", reason, overdue)
        self.alert(self.steps[record.name])

    def alert(self, record: StepRecord) -> None:
        """Tell an operator of the step's Error, and again if that is not confirmed in time."""
        self.steps[record.name] = replace(record, alert_by=self.now + self.timing.claim_within)
        alert = Alert(self.task.order_id, record.name, record.attempt, record.error or "", record.ended_at or self.now)
        self.messages.append(alert)

    def tell(
        self, kind: FactKind, step: str = "", attempt: int = 0, by: str = "", note: str = "", value: int = 0
    ) -> None:
        """Note a fact of this change."""
        self.facts.append(Fact(self.now, kind, step, attempt, by or self.by, note[:LONGEST_NOTE], value))

    def decision(self, *, looked: bool = False) -> Decision:
        """The finished change; only a look of the Supervisor may move the due time forward."""
        deadline = min(self._deadlines(), default=None)
        due = deadline
        if not looked and deadline is not None and self.task.due is not None:
            due = min(deadline, self.task.due)
        troubles = tuple(fact for fact in self.facts if fact.kind in TROUBLES)
        task = replace(
            self.task,
            steps=self.steps,
            due=due,
            fence=self.fence,
            fence_base=self.fence_base,
            history=(self.task.history + troubles)[-HISTORY_LIMIT:],
        )
        if task == self.task:
            return Decision(self.task, tuple(self.messages), tuple(self.facts))
        return Decision(replace(task, revision=self.task.revision + 1), tuple(self.messages), tuple(self.facts))

    def _deadlines(self) -> Iterator[int]:
        """When each thing that waits has waited long enough; a step never claimed waits until the task is due."""
        for planned in self.ready():
            waits_until = self.steps[planned.name].complete_by or self.task.due
            if waits_until is not None:
                yield waits_until
        for record in self.steps.values():
            if record.process_state is ProcessState.PROCESSING and record.complete_by is not None:
                yield record.complete_by
            if record.alert_by is not None:
                yield record.alert_by
