"""What happened in a deployment under test, as the audits read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stepward.domain.errors import Rejected
from stepward.domain.messages import Alert, Notice, StepRequest, ToScheduler
from stepward.domain.task.record import Task
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Plan


class Died(BaseException):
    """The process is gone; no code of its own can catch that."""


@dataclass(frozen=True, slots=True)
class Write:
    """One change of a task, as the store saw it; `cause` is the message in whose handling it was written."""

    before: Task
    after: Task
    cause: ToScheduler | None


@dataclass(frozen=True, slots=True)
class Called:
    """One call of a service as it began: what was done and undone by then, and whether its attempt had been ended.

    `slot` is the idempotency key without the order: who does the step, or undoes it.
    """

    order_id: str
    effect: str
    attempt: int
    results: frozenset[str]
    done_before: frozenset[str]
    undone_before: frozenset[str]
    freed: bool


@dataclass(slots=True)
class Effects:
    """What remote services did and undid, as (order, slot), in order.

    `buried` are the effects that were undone, or were to be undone before they happened.
    """

    done: list[tuple[str, str]] = field(default_factory=list)
    undone: list[tuple[str, str]] = field(default_factory=list)
    buried: set[tuple[str, str]] = field(default_factory=set)
    calls: list[Called] = field(default_factory=list)

    def undo(self, effect: tuple[str, str]) -> None:
        """Take an effect back; one that never happened leaves a tombstone."""
        if effect in self.done and effect not in self.buried:
            self.undone.append(effect)
        self.buried.add(effect)

    def begin(self, order_id: str, effect: str, attempt: int, results: Mapping[str, object], *, freed: bool) -> None:
        """Keep a call that begins."""
        done = frozenset(name for order, name in self.done if order == order_id)
        undone = frozenset(name for order, name in self.undone if order == order_id)
        self.calls.append(Called(order_id, effect, attempt, frozenset(results), done, undone, freed))


@dataclass(frozen=True, slots=True)
class Record:
    """All that the audits ask of one deployment with one `plan`.

    `too_early` are requests that were sent before their claim was written; `trouble` says that agents had a backlog
    or a breaker, which excuses failures.
    """

    plan: Plan
    timing: Timing
    tasks: Mapping[str, Task]
    writes: list[Write]
    effects: Effects
    alerts: list[Alert]
    notices: list[Notice]
    rejected: list[Rejected] = field(default_factory=list)
    too_early: list[StepRequest] = field(default_factory=list)
    trouble: bool = False
