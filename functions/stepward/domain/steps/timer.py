"""A timer: a step that ends at an instant, never early, and holds no function meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepward.domain.messages import Message, Retry
from stepward.domain.steps.overdue import remind
from stepward.domain.steps.waits import instant, not_taken
from stepward.domain.task.complete import complete
from stepward.domain.workflow.waits import LONGEST_TIMER_MS

if TYPE_CHECKING:
    from stepward.domain.coordination.outlook import DeadlineCheck
    from stepward.domain.task.change import TaskChange
    from stepward.domain.task.record import StepRecord
    from stepward.domain.timing import Timing
    from stepward.domain.workflow.plan import PlannedStep


def deadline(change: TaskChange, step: PlannedStep) -> int:
    """The instant at which it ends."""
    if step.complete_within:
        return change.now + step.complete_within
    return instant(change, step.until, change.now + LONGEST_TIMER_MS)


def begin(change: TaskChange, step: PlannedStep, record: StepRecord) -> None:
    """An instant that has passed ends it at once."""
    if (record.complete_by or 0) <= change.now:
        complete(change, record, {}, change.cause)
    else:
        change.messages.extend(asks(change, step, record))


def asks(change: TaskChange, step: PlannedStep, record: StepRecord) -> list[Message]:
    """A message that the queue delays till the end; a later end is left to the Supervisor."""
    rest = max(0, (record.complete_by or 0) - change.now)
    return [Retry(change.task.order_id, step.name, record.attempt, rest)] if rest <= change.timing.longest_delay else []


def hears(change: TaskChange, step: PlannedStep, record: StepRecord, event: Any) -> None:
    """The delayed message ends it, unless that came early."""
    if not isinstance(event, Retry):
        raise not_taken(step, event)
    if (record.complete_by or 0) <= change.now:
        complete(change, record, {}, f"retry {step.name} {event.attempt}")
    else:
        change.messages.extend(asks(change, step, record))


def late(change: TaskChange, step: PlannedStep, record: StepRecord, check: DeadlineCheck) -> None:
    """Its end has come."""
    complete(change, record, {}, "timer")


def unclaimed(change: TaskChange, step: PlannedStep, record: StepRecord, check: DeadlineCheck) -> None:
    """Ask the Scheduler again to claim it."""
    remind(change, step, record, check)


def longest(step: PlannedStep, timing: Timing) -> int:
    """Its span, or as long as an instant may be ahead."""
    return (step.complete_within or LONGEST_TIMER_MS) + 2 * (timing.claim_within + timing.skew_margin)
