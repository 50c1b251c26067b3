"""A task's next revision in the making; every rule about tasks acts on one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stepward.domain.coordination.outlook import Outlook
from stepward.domain.history import REMEMBERED, HistoryEntry, HistoryKind
from stepward.domain.messages import ChildUndo, Command, Message, Resubmit, StepFailed, StepWaits
from stepward.domain.replace import replace
from stepward.domain.task.notices import notices, status_notice
from stepward.domain.task.record import DONE, HISTORY_LIMIT, IN_ERROR, Parent, ProcessState, StepRecord, Task, TimeLimit
from stepward.domain.task.refusals import Refusal, RefusalCode
from stepward.domain.task.results import PARENT_RESULTS, Result, readable
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Plan, PlannedStep, StepKind, forward_name
from stepward.domain.workflow.values import UNREAD, Unread

LONGEST_NOTE = 200
_ENDS = (HistoryKind.UNDONE, HistoryKind.PROCESSED)


@dataclass(frozen=True, slots=True)
class Decision:
    """The new task, what to send once it is written, what happened, and why a command is refused."""

    task: Task
    messages: tuple[Message, ...] = ()
    history: tuple[HistoryEntry, ...] = ()
    refusal: Refusal | None = None


@dataclass(slots=True)
class TaskChange:
    """The steps of `task` on their way to its next revision, changed by the instance `by` at `now` (epoch ms).

    `order` is the submitted order; the Supervisor has none, so it asks the Scheduler to claim what is ready. `outlook`
    is what is known of the agents that a claim may ask.
    """

    task: Task
    plan: Plan
    now: int
    by: str
    timing: Timing
    order: Mapping[str, Any] | None
    outlook: Outlook = field(default_factory=Outlook)
    steps: dict[str, StepRecord] = field(init=False)
    messages: list[Message] = field(init=False, default_factory=list)
    history: list[HistoryEntry] = field(init=False, default_factory=list)
    fence: int = field(init=False)
    fence_base: int = field(init=False)
    undoing: str = field(init=False)
    paused: str = field(init=False)
    time_limit: TimeLimit = field(init=False)
    parent: Parent | None = field(init=False)
    refusal: Refusal | None = field(init=False, default=None)
    cause: str = field(init=False, default="")
    """What caused the claim that is made now: it causes what follows, too, if the step ends with its claim."""

    def __post_init__(self) -> None:
        self.steps = dict(self.task.steps)
        self.fence = self.task.fence
        self.fence_base = self.task.fence_base
        self.undoing = self.task.undoing
        self.paused = self.task.paused
        self.time_limit = self.task.time_limit
        self.parent = self.task.parent

    @property
    def claims(self) -> bool:
        """Whether it claims what is ready, and does not ask the Scheduler to."""
        return self.order is not None

    @property
    def absent(self) -> frozenset[str]:
        """The agents that have no queue."""
        return self.outlook.absent

    @property
    def halted(self) -> bool:
        """Whether the task starts nothing new: it is paused, has a step in Error, or is past its complete-by."""
        return bool(self.paused) or self.has_error or self.is_late

    @property
    def has_error(self) -> bool:
        """Whether a step is in Error."""
        return any(record.process_state is ProcessState.ERROR for record in self.steps.values())

    @property
    def limit(self) -> int | None:
        """The order's complete-by, until its policy is applied; an undo has none."""
        holds = self.time_limit is TimeLimit.HOLDS and not self.undoing
        return self.task.limit(self.plan) if holds else None

    @property
    def is_late(self) -> bool:
        """Whether the order is past its complete-by, and its policy is not applied yet.

        Nobody claims a step from then on; the Supervisor acts only when it has passed by every clock.
        """
        seen = self.now if self.claims else self.now - self.timing.skew_margin
        return self.limit is not None and self.limit <= seen

    def is_done(self, name: str) -> bool:
        """Whether nothing waits for this record any more: it is Processed, or Skipped."""
        return self.steps[name].process_state in DONE

    def overdue(self, record: StepRecord) -> int:
        """How many milliseconds ago the record's complete-by passed; 0 if it has none."""
        return self.now - (record.complete_by or self.now)

    def results(self, reader: str = "") -> dict[str, Result | Unread]:
        """The results of the steps done so far, as this step knows them; UNREAD for those in rows of their own."""
        of_parent = (self.order or {}).get(PARENT_RESULTS, {}) if self.plan.is_child else {}
        of_parent = {name: UNREAD if result is None else result for name, result in of_parent.items()}
        return {**of_parent, **readable(self.steps, self.plan, reader)}

    def compensations(self) -> list[str]:
        """The names of the records that undo steps."""
        return [name for name, record in self.steps.items() if record.is_compensation]

    def fail(self, record: StepRecord, reason: str, overdue: int = 0) -> None:
        """End the step in Error; the task stays due until an operator has been alerted."""
        reason = reason[:LONGEST_NOTE]
        self.steps[record.name] = replace(
            record.supplied(),
            process_state=ProcessState.ERROR,
            locked_by=None,
            complete_by=None,
            ended_at=self.now,
            error=reason,
        )
        self.log(HistoryKind.FAILED, record.name, record.attempt, record.locked_by or "", reason, overdue)
        self.alert(self.steps[record.name])

    def alert(self, record: StepRecord) -> None:
        """Alert an operator to the step's Error, or to what it lacks, and again if that is not confirmed in time."""
        self.steps[record.name] = replace(record, alert_by=self.now + self.timing.claim_within)
        if record.process_state is not ProcessState.ERROR:
            name, signal = record.name, self.plan.by_name[record.name].kind is StepKind.SIGNAL
            self.messages.append(StepWaits(self.task.order_id, name, record.attempt, record.lacks, self.now, signal))
            return
        remaining_effects = [name for name in self.compensations() if not self.is_done(name)] if self.undoing else []
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

    def log(
        self, kind: HistoryKind, step: str = "", attempt: int = 0, by: str = "", note: str = "", value: int = 0
    ) -> None:
        """Add a history entry."""
        self.history.append(
            HistoryEntry(self.now, kind, step, attempt, (by or self.by)[:LONGEST_NOTE], note[:LONGEST_NOTE], value)
        )

    def refuse(self, command: Command | ChildUndo, code: RefusalCode, text: str) -> None:
        """Refuse `command`, and log why.

        It may have come before, and have put the order where it is; whoever took it then may not have got to notify.
        """
        if self.in_error:
            self.notify()
        self.refusal = Refusal(code, text)
        step, attempt = (command.step, command.attempt) if isinstance(command, Resubmit) else ("", 0)
        self.log(HistoryKind.REFUSED, step, attempt, command.who, text)

    @property
    def in_error(self) -> bool:
        """Whether the task, as it was, waits for an operator."""
        return self.task.process_state in IN_ERROR

    def notify(self) -> None:
        """Notify the submitter of the task's status, once: an earlier notice may be lost."""
        self.messages.extend(each for each in status_notice(self.task, self.now) if each not in self.messages)

    def decision(self, waiting: Iterable[PlannedStep], times_out: int | None) -> Decision:
        """The finished change, with the steps that still wait to be claimed, and when the whole order times out.

        The Supervisor moves the due time forward. Whoever claims does so only in a change that is written anyway, for a
        deadline that is far away: that costs two index units, and saves the Supervisor its looks at a long wait.
        """
        if self.claims and self._untold:  # whatever event this is, nobody looks at the task after it
            self.notify()
        deadlines = [*self._deadlines(waiting), *([] if times_out is None else [times_out])]
        deadline = min(deadlines, default=None)
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
            time_limit=self.time_limit,
            parent=self.parent,
            history=(self.task.history + troubles)[-HISTORY_LIMIT:],
        )
        if task == self.task:
            return Decision(self.task, tuple(self.messages), tuple(self.history), self.refusal)
        if due is not None and deadline is not None and deadline - self.now > self.timing.longest_delay:
            due = deadline
        task = replace(task, due=due, revision=self.task.revision + 1)
        return Decision(task, (*self.messages, *notices(task, self.history)), tuple(self.history), self.refusal)

    def _deadlines(self, waiting: Iterable[PlannedStep]) -> Iterator[int]:
        """When each thing that waits is overdue; a step whose claim nobody requested waits until the task is due."""
        for planned in waiting:
            waits_until = self.steps[planned.name].complete_by or self.task.due
            yield self.now + self.timing.claim_within if waits_until is None else waits_until
        for record in self.steps.values():
            if record.process_state is ProcessState.PROCESSING and record.complete_by is not None:
                yield record.complete_by
            if record.alert_by is not None:
                yield record.alert_by
        if self.parent is not None and self.parent.tell_by is not None:
            yield self.parent.tell_by
        if not self.claims and self.task.reply_to and (self._untold or any(it.kind in _ENDS for it in self.history)):
            # The Supervisor only asks the Scheduler to notify the submitter, and goes on until that has done so.
            yield self.now + self.timing.claim_within

    @property
    def _untold(self) -> bool:
        """Whether the order has ended, and its submitter may not have been notified."""
        return self.task.has_ended and self.task.due is not None
