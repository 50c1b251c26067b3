"""The death of a process, and a write of a task."""

from __future__ import annotations

from dataclasses import dataclass

from stepward.domain.messages import ToScheduler
from stepward.domain.task.record import Task


class Died(BaseException):
    """The process is gone; no code of its own can catch that."""


@dataclass(frozen=True, slots=True)
class Write:
    """One change of a task, as the store saw it; `cause` is the message whose handler wrote it."""

    before: Task
    after: Task
    cause: ToScheduler | None
