"""What every simulation knows of: the death of a process, and a write of a task."""

from dataclasses import dataclass

from stepward.domain.messages import ToScheduler
from stepward.domain.task import Task


class Died(BaseException):
    """The process is gone; no code of its own can catch that."""


def nothing() -> None:
    """Nobody acts."""


@dataclass(frozen=True, slots=True)
class Write:
    """One change of a task, as the store saw it; `cause` is the message in whose handling it was written."""

    before: Task
    after: Task
    cause: ToScheduler | None
