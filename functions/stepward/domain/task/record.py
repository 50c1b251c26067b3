"""A task as the state store holds it: its own fields, and one record per step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from stepward.domain.errors import NotUnderstood
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import UNDO_SUFFIX, Plan

HISTORY_LIMIT = 20
"""A task keeps its newest troubles; the happy path leaves none, so an ordinary record stays small."""


class ProcessState(StrEnum):
    """The state of a step, or of a whole task.

    Only a step can be Stopped: an undo fenced it, or it never began; or Skipped: its condition did not hold. Only a
    task can be Undoing, Undone or UndoFailed.
    """

    PENDING = "Pending"
    PROCESSING = "Processing"
    PROCESSED = "Processed"
    ERROR = "Error"
    STOPPED = "Stopped"
    UNDOING = "Undoing"
    UNDONE = "Undone"
    UNDO_FAILED = "UndoFailed"
    SKIPPED = "Skipped"


SERVICE = "service"
"""Who holds a step whose agent has handed it over."""
DONE = frozenset({ProcessState.PROCESSED, ProcessState.SKIPPED})
"""The states in which nothing waits for a step any more."""
ENDED = (ProcessState.PROCESSED, ProcessState.UNDONE)
"""The states of a task that has ended."""
IN_ERROR = (ProcessState.ERROR, ProcessState.UNDO_FAILED)
"""The states of a task that waits for an operator."""


class TimeLimit(StrEnum):
    """What became of an order's complete-by: its policy was applied, or an operator acted on the order after it."""

    HOLDS = ""
    PASSED = "passed"
    LIFTED = "lifted"


@dataclass(frozen=True, slots=True)
class Early:
    """A signal, kept until its step begins: the id that its sender gave it, its data or why it refuses, and who."""

    signal_id: str
    data: Mapping[str, Any]
    refused: str
    who: str


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step of one order; `order_id` is the task's key. Times are epoch milliseconds.

    `complete_by` limits the running attempt, or how long a Pending step may wait for its next claim. `alert_by` is set
    until an operator has been alerted to the step's Error. A step in backoff is not claimed before `not_before`.
    `policy` counts the policies applied so far, `rounds` the waits under the present one. `raised` is what the
    operation raised in the newest attempt, as its agent reported it; a step that is Processed has none. `lacks` says
    what the deployment lacks for the step, `untried` is the newest attempt that its agent did not understand. While it
    lacks something, `alert_by` is when an operator has to be alerted to that, and is absent afterwards. `early` is a
    signal that came before the step began. `size` is the bytes of a result that is kept in a row of its own, where a
    reader finds it, and 0 of one that is kept here. `items` is how many items an each has, once it has begun,
    `ended` has a bit, in hex, of each of its children that has ended.
    """

    order_id: str
    name: str
    process_state: ProcessState = ProcessState.PENDING
    locked_by: str | None = None
    complete_by: int | None = None
    failure_count: int = 0
    attempt: int = 0
    token: str | None = None
    fence: int = 0
    started_at: int | None = None
    ended_at: int | None = None
    result: Mapping[str, Any] | None = None
    error: str | None = None
    alert_by: int | None = None
    not_before: int | None = None
    policy: int = 0
    rounds: int = 0
    lacks: str = ""
    untried: int = 0
    raised: str | None = None
    early: Early | None = None
    size: int = 0
    items: int = 0
    ended: str = ""

    @property
    def runs(self) -> bool:
        """Whether an attempt holds the step, or a wait has begun."""
        return self.process_state is ProcessState.PROCESSING

    @property
    def is_compensation(self) -> bool:
        """Whether this record undoes a step."""
        return self.name.endswith(UNDO_SUFFIX)

    def freed(self) -> StepRecord:
        """The step without its lock and limit, Pending again."""
        return replace(self, process_state=ProcessState.PENDING, locked_by=None, complete_by=None, not_before=None)

    def supplied(self) -> StepRecord:
        """The step, lacking nothing."""
        return replace(self, lacks="", untried=0, alert_by=None) if self.lacks else self


@dataclass(frozen=True, slots=True)
class Parent:
    """Whose child a task is: the key of the order and its step; until it has heard of the end, it is told by then."""

    order_id: str
    step: str
    tell_by: int | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """All steps of one order, at one revision; `order_id` is the task's key.

    `due` is when the Supervisor has to check the task: early or on time, never late; None when nothing
    waits. `fence` counts the claims of all steps, so it only rises; `fence_base` was its value when an
    operator last resubmitted a step. `undoing` and `paused` hold the reason, and are empty otherwise. `reply_to` and
    `correlation_id` are the submitter's, and so is `complete_by`, if its message names an end of the order's time.
    A child has a `parent`.
    """

    order_id: str
    plan_id: str
    created_at: int
    steps: Mapping[str, StepRecord]
    due: int | None
    revision: int = 1
    fence: int = 0
    fence_base: int = 0
    history: tuple[HistoryEntry, ...] = field(default=())
    undoing: str = ""
    paused: str = ""
    reply_to: str = ""
    correlation_id: str = ""
    complete_by: int | None = None
    time_limit: TimeLimit = TimeLimit.HOLDS
    parent: Parent | None = None

    def limit(self, plan: Plan) -> int | None:
        """The order's complete-by (epoch ms): its own or its workflow's, whichever is earlier; None without one."""
        of_workflow = None if plan.complete_within is None else self.created_at + plan.complete_within
        return min((limit for limit in (self.complete_by, of_workflow) if limit is not None), default=None)

    @property
    def process_state(self) -> ProcessState:
        """The state that follows from the step records."""
        if self.undoing:
            return self._state_of_undo
        states = {record.process_state for record in self.steps.values() if not record.is_compensation}
        if self._in_error:
            return ProcessState.ERROR
        if states <= DONE:
            return ProcessState.PROCESSED
        begun = any(record.attempt for record in self.steps.values())
        return ProcessState.PROCESSING if begun else ProcessState.PENDING

    @property
    def needs_attention(self) -> int | None:
        """Since when an operator has to act (epoch ms), by the first thing that needs one; None if nothing does."""
        failed = self._in_error if self.process_state in IN_ERROR else []
        since = [self.created_at if record.ended_at is None else record.ended_at for record in failed]
        lasting = (record for record in self.steps.values() if record.lacks and record.alert_by is None)
        since += [self._last(HistoryKind.LACKING, record.name) for record in lasting]
        if self.paused and not self.has_ended:
            since.append(self._last(HistoryKind.PAUSED))
        return min(since, default=None)

    @property
    def _in_error(self) -> list[StepRecord]:
        return [record for record in self.steps.values() if record.process_state is ProcessState.ERROR]

    def _last(self, kind: HistoryKind, step: str = "") -> int:
        """When this last happened to the step; if the task has forgotten that, when its oldest entry was made."""
        oldest = self.history[0].at if self.history else self.created_at
        return max((entry.at for entry in self.history if (entry.kind, entry.step) == (kind, step)), default=oldest)

    @property
    def has_ended(self) -> bool:
        """Whether the task was Processed or Undone."""
        return self.process_state in ENDED

    @property
    def ended_at(self) -> int | None:
        """When the task was Processed or Undone (epoch ms); None if it was not."""
        if not self.has_ended:
            return None
        ends = [record.ended_at for record in self.steps.values() if record.ended_at is not None]
        return max([*ends, *(entry.at for entry in self.history)], default=self.created_at)

    @property
    def _state_of_undo(self) -> ProcessState:
        states = {record.process_state for record in self.steps.values() if record.is_compensation}
        if ProcessState.ERROR in states:
            return ProcessState.UNDO_FAILED
        return ProcessState.UNDONE if states <= {ProcessState.PROCESSED} else ProcessState.UNDOING


@dataclass(frozen=True, slots=True)
class Loaded:
    """A task with its plan, and the order that it processes."""

    task: Task
    plan: Plan
    order: Mapping[str, Any]


class NewerPlan(NotUnderstood):
    """Newer code wrote `what` of the plan of `task`; the task itself is understood, and may be written."""

    def __init__(self, task: Task, what: str) -> None:
        super().__init__(f"{task.order_id}: {what}", task.due)
        self.task = task


def new_task(
    order_id: str,
    plan: Plan,
    now: int,
    timing: Timing,
    *,
    reply_to: str = "",
    correlation_id: str = "",
    complete_by: int | None = None,
    parent: Parent | None = None,
) -> Task:
    """The task of a new order: every step Pending, unlocked, never tried.

    It is due when its first steps would be if they were claimed at once, so that their claim need not touch the index,
    or at its complete-by.
    """
    begin = [step.complete_within for step in plan.steps if not step.after and step.complete_within]
    first = now + min([timing.claim_within, *begin])
    task = Task(
        order_id=order_id,
        plan_id=plan.plan_id,
        created_at=now,
        steps={step.name: StepRecord(order_id, step.name) for step in plan.steps},
        due=first,
        reply_to=reply_to,
        correlation_id=correlation_id,
        complete_by=complete_by,
        parent=parent,
    )
    limit = task.limit(plan)
    return task if limit is None else replace(task, due=min(first, limit))
