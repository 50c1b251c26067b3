"""The death of a process, and a write of a task."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stepward.domain.messages import ToScheduler
from stepward.domain.task.record import Task
from stepward.domain.workflow.plan import Plan


class Died(BaseException):
    """The process is gone; no code of its own can catch that."""


@dataclass(frozen=True, slots=True)
class Write:
    """One change of a task, as the store saw it; `cause` is the message whose handler wrote it."""

    before: Task
    after: Task
    cause: ToScheduler | None

    def past_return(self, plan: Plan) -> Iterator[str]:
        """I6: the points of no return that had begun before the undo that this write begins."""
        for step in plan.steps if self.after.undoing and not self.before.undoing else ():
            if step.point_of_no_return and self.before.steps[step.name].attempt:
                yield f"it is undone though {step.name}, past which it only goes forward, had begun"
