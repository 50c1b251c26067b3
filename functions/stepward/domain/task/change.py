"""A change in the making: the one place where step records are claimed, ended and given deadlines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from stepward.domain.history import REMEMBERED, HistoryEntry, HistoryKind
from stepward.domain.messages import Command, Message, Resubmit, Retry, StepFailed, StepRequest
from stepward.domain.task.notices import notices
from stepward.domain.task.record import HISTORY_LIMIT, ProcessState, StepRecord, Task, claim_token
from stepward.domain.task.refusals import Refusal, RefusalCode
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Plan, PlannedStep, forward_name

CLAIMS_PER_THRESHOLD = 10
LONGEST_NOTE = 200


@dataclass(frozen=True, slots=True)
class Decision:
    """The task as it shall be, what to send once that is written, what to tell of it, and why a command is refused."""

    task: Task
    messages: tuple[Message, ...] = ()
    history: tuple[HistoryEntry, ...] = ()
    refusal: Refusal | None = None


@dataclass(slots=True)
class TaskChange:
    """The steps of `task` on their way to its next revision, changed by `by` at `now`.

    `claims` is False for the Supervisor: it asks the Scheduler to claim what may run.
    """

    task: Task
    plan: Plan
    now: int
    by: str
    timing: Timing
    claims: bool = True
    steps: dict[str, StepRecord] = field(init=False)
    messages: list[Message] = field(init=False, default_factory=list)
    history: list[HistoryEntry] = field(init=False, default_factory=list)
    fence: int = field(init=False)
    fence_base: int = field(init=False)
    undoing: str = field(init=False)
    paused: str = field(init=False)
    refusal: Refusal | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.steps = dict(self.task.steps)
        self.fence = self.task.fence
        self.fence_base = self.task.fence_base
        self.undoing = self.task.undoing
        self.paused = self.task.paused

    @property
    def halted(self) -> bool:
        """A task that is paused, or has a step in Error, starts nothing new until an operator has acted."""
        return bool(self.paused) or any(record.process_state is ProcessState.ERROR for record in self.steps.values())

    def ready(self) -> Iterator[PlannedStep]:
        """The steps that wait for nothing but to be claimed, those that still rest included."""
        for name, record in () if self.halted else tuple(self.steps.items()):
            if record.process_state is ProcessState.PENDING and all(map(self._is_done, self._waits_for(name))):
                yield self.plan.by_name[name]

    def _waits_for(self, name: str) -> Iterator[str]:
        """A step waits for its predecessors, and for the undo of who did it before; an undo for its dependents'."""
        if not self.steps[name].is_compensation:
            yield from self.plan.by_name[name].after
            yield from (other for other in self.compensations() if forward_name(other) == name)
        elif self.undoing:
            later = self.plan.dependents[forward_name(name)]
            yield from (other for other in self.compensations() if forward_name(other) in later)

    def _is_done(self, name: str) -> bool:
        return self.steps[name].process_state is ProcessState.PROCESSED

    def compensations(self) -> list[str]:
        """The names of the records that undo steps."""
        return [name for name, record in self.steps.items() if record.is_compensation]

    def go_on(self, causation_id: str) -> None:
        """Claim whatever may run now; the Supervisor has the Scheduler do it."""
        for planned in list(self.ready()):
            record = self.steps[planned.name]
            if (record.not_before or 0) > self.now or self.halted:
                continue
            if self.claims:
                self.claim(planned, causation_id)
            elif record.complete_by is None:
                self.ask(record)

    def claim(self, planned: PlannedStep, causation_id: str) -> None:
        """Lock the step for one attempt and ask its agent; past the task's bound of claims, end it in Error."""
        record = self.steps[planned.name]
        foreseen = sum(self.plan.by_name[name].threshold * self.plan.by_name[name].rounds for name in self.steps)
        bound = CLAIMS_PER_THRESHOLD * foreseen
        if self.fence - self.fence_base >= bound:
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
            token=claim_token(self.task, causation_id, planned.name, attempt),
            fence=self.fence,
            started_at=self.now,
            not_before=None,
        )
        self.tell(HistoryKind.CLAIMED, planned.name, attempt)
        self.messages.append(self.request(planned))

    def ask(self, record: StepRecord, backoff: int = 0) -> None:
        """Have the Scheduler claim a step that is Pending, once it has rested; ask again if that gets lost."""
        begins = self.now + backoff
        told_late = backoff > self.timing.longest_delay
        complete_by = begins if told_late else begins + self.timing.claim_within
        not_before = begins if backoff else None
        self.steps[record.name] = replace(record, complete_by=complete_by, not_before=not_before)
        if not self.halted and not told_late:
            self.messages.append(Retry(self.task.order_id, record.name, record.attempt, backoff))

    def resend(self, causation_id: str) -> None:
        """Ask again for every running step that this very cause claimed: its first asking may be lost."""
        for name, record in self.steps.items() if self.claims else ():
            running = record.process_state is ProcessState.PROCESSING
            if running and record.token == claim_token(self.task, causation_id, name, record.attempt):
                self.messages.append(self.request(self.plan.by_name[name]))

    def request(self, planned: PlannedStep) -> StepRequest:
        """The message that asks the agent for the step's running attempt."""
        record = self.steps[planned.name]
        executor = planned.executor(record.policy)
        complete_by = record.complete_by or self.now
        return StepRequest(
            order_id=self.task.order_id,
            step=planned.name,
            agent=executor.agent,
            operation=executor.operation,
            attempt=record.attempt,
            token=record.token or "",
            fence=record.fence,
            idempotency_key=f"{self.task.order_id}/{executor.effect}",
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
        self.tell(HistoryKind.FAILED, record.name, record.attempt, record.locked_by or "", reason, overdue)
        self.alert(self.steps[record.name])

    def alert(self, record: StepRecord) -> None:
        """Tell an operator of the step's Error, and again if that is not confirmed in time."""
        self.steps[record.name] = replace(record, alert_by=self.now + self.timing.claim_within)
        remaining_effects = [name for name in self.compensations() if not self._is_done(name)] if self.undoing else []
        self.messages.append(
            StepFailed(
                self.task.order_id,
                record.name,
                record.attempt,
                record.error or "",
                record.ended_at or self.now,
                tuple(dict.fromkeys(forward_name(name) for name in remaining_effects)),
            )
        )

    def tell(
        self, kind: HistoryKind, step: str = "", attempt: int = 0, by: str = "", note: str = "", value: int = 0
    ) -> None:
        """Note a fact of this change."""
        self.history.append(
            HistoryEntry(self.now, kind, step, attempt, (by or self.by)[:LONGEST_NOTE], note[:LONGEST_NOTE], value)
        )

    def refuse(self, command: Command, code: RefusalCode, text: str) -> None:
        """Note why nothing comes of `command`."""
        self.refusal = Refusal(code, text)
        step, attempt = (command.step, command.attempt) if isinstance(command, Resubmit) else ("", 0)
        self.tell(HistoryKind.REFUSED, step, attempt, command.who, text)

    def decision(self) -> Decision:
        """The finished change; only the Supervisor, who looks at all that waits, may move the due time forward."""
        deadline = min(self._deadlines(), default=None)
        due = deadline
        if self.claims and deadline is not None and self.task.due is not None:
            due = min(deadline, self.task.due)
        troubles = tuple(entry for entry in self.history if REMEMBERED in entry.kind.marks)
        task = replace(
            self.task,
            steps=self.steps,
            due=due,
            fence=self.fence,
            fence_base=self.fence_base,
            undoing=self.undoing,
            paused=self.paused,
            history=(self.task.history + troubles)[-HISTORY_LIMIT:],
        )
        if task == self.task:
            return Decision(self.task, tuple(self.messages), tuple(self.history), self.refusal)
        task = replace(task, revision=self.task.revision + 1)
        return Decision(task, (*self.messages, *notices(task, self.history)), tuple(self.history))

    def _deadlines(self) -> Iterator[int]:
        """When each thing that waits has waited long enough; a step never asked for waits until the task is due."""
        for planned in self.ready():
            waits_until = self.steps[planned.name].complete_by or self.task.due
            yield self.now + self.timing.claim_within if waits_until is None else waits_until
        for record in self.steps.values():
            if record.process_state is ProcessState.PROCESSING and record.complete_by is not None:
                yield record.complete_by
            if record.alert_by is not None:
                yield record.alert_by
        if not self.claims and self.task.reply_to and any(entry.kind is HistoryKind.UNDONE for entry in self.history):
            # The Supervisor only asks the Scheduler to tell the submitter, and that may get lost.
            yield self.now + self.timing.claim_within
