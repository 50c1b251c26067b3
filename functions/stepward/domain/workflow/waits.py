"""The steps that wait, as a user writes them: timers and signals; and the rules that they must keep."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from types import UnionType
from typing import Any, ClassVar

from stepward.domain.arguments import check_arguments, policy_mend, said
from stepward.domain.errors import WorkflowError
from stepward.domain.messages import DOORS, MOST_DATA_BYTES
from stepward.domain.timing import DAY_MS, milliseconds
from stepward.domain.workflow.plan import Exhausted, PlannedStep, Policy, StepKind
from stepward.domain.workflow.refs import Condition, Ref, as_data

LONGEST_TIMER_MS = 2 * 366 * DAY_MS
LONGEST_SIGNAL_MS = 366 * DAY_MS
_SIGNALS = {Exhausted.REMIND, Exhausted.DEFAULT, Exhausted.UNDO, Exhausted.ALERT}


@dataclass(frozen=True, slots=True)
class Remind:
    """A policy of a signal: alert an operator, and wait for `delay` more; `rounds` times before the next policy."""

    delay: timedelta
    rounds: int = 1

    def __post_init__(self) -> None:
        check_arguments("Remind", self, "delay", "rounds")

    def planned(self) -> Policy:
        """The policy as plain data."""
        return Policy(Exhausted.REMIND, wait=milliseconds(self.delay), rounds=self.rounds)


@dataclass(frozen=True, slots=True)
class Default:
    """A policy of a signal, and its last one: go on as if `answer` had been its data."""

    answer: Mapping[str, Any]

    def planned(self) -> Policy:
        """The policy as plain data."""
        return Policy(Exhausted.DEFAULT, answer=json.dumps(self.answer, sort_keys=True, separators=(",", ":")))


@dataclass(frozen=True, slots=True)
class Timer:
    """A step that ends after `span`, or at the instant that `until` refers to; never early.

    An instant is an RFC 3339 text with its offset, at most two years ahead; one that has passed ends it at once.
    `name`, `when` and `after` are as a Step's.
    """

    name: str
    span: timedelta | None = None
    until: Ref | None = None
    when: Condition | None = None
    after: Sequence[Any] | None = None
    operations: ClassVar[tuple[()]] = ()

    def __post_init__(self) -> None:
        check_arguments(f"step {self.name!r}", self, "name", "span", "until", "after", "when")

    def planned(self, after: tuple[str, ...]) -> PlannedStep:
        """The step as plain data."""
        return PlannedStep(
            name=self.name,
            agent="",
            operation="",
            after=after,
            complete_within=milliseconds(self.span),
            threshold=1,
            kind=StepKind.TIMER,
            when=as_data(self.when),
            until=as_data(self.until),
        )


@dataclass(frozen=True, slots=True)
class Signal:
    """A step that somebody outside ends by a signal of its name, whose data a `message` describes.

    `message` is a msgspec.Struct or another class that msgspec knows; the data is the step's result, at most 2,000
    bytes. `on_timeout` is what to do when nobody gives it within `complete_within`: Remind, Default, UNDO or ALERT, or
    several, one after another; `on_refused` is UNDO or ALERT. Both are the workflow's `on_failure` if they are left
    out. `by` says who may give it: "operators", "submitters", or either, if it is left out.
    `name`, `when` and `after` are as a Step's.
    """

    name: str
    message: type[Any]
    complete_within: timedelta | None = None
    by: str = ""
    on_timeout: Exhausted | Remind | Default | Sequence[Exhausted | Remind | Default] = ()
    on_refused: Exhausted | None = None
    when: Condition | None = None
    after: Sequence[Any] | None = None
    operations: ClassVar[tuple[()]] = ()

    def __post_init__(self) -> None:
        check_arguments(
            f"step {self.name!r}", self, "name", "message", "complete_within", "on_refused", "after", "when"
        )

    def planned(self, after: tuple[str, ...]) -> PlannedStep:
        """The step as plain data."""
        kinds = Exhausted | Remind | Default
        listed = policies_of(self.name, self.on_timeout, kinds, "Remind, Default, UNDO or ALERT")
        policies = tuple(Policy(each) if isinstance(each, Exhausted) else each.planned() for each in listed)
        return PlannedStep(
            name=self.name,
            agent="",
            operation="",
            after=after,
            complete_within=milliseconds(self.complete_within),
            threshold=1,
            exhausted=policies,
            on_permanent=self.on_refused or Exhausted.ALERT,
            kind=StepKind.SIGNAL,
            when=as_data(self.when),
            by=self.by,
        )


def policies_of(name: str, given: Any, kinds: UnionType, take: str) -> list[Any]:
    """The policies of a step, given as one or as several; raises WorkflowError for one of another kind of step."""
    listed = list(given) if isinstance(given, list | tuple) else [given]
    for policy in listed:
        if not isinstance(policy, kinds):
            raise WorkflowError(
                f"step {name!r}: on_timeout takes {take} there, not {said(policy)}{policy_mend(policy)}"
            )
    return listed


def check_wait(where: str, step: PlannedStep) -> None:
    """Refuse a wait that cannot work, with a message that names the fault."""
    match step.kind:
        case StepKind.TIMER:
            _check_timer(where, step)
        case StepKind.SIGNAL:
            _check_signal(where, step)


def _check_timer(where: str, step: PlannedStep) -> None:
    if bool(step.complete_within) == bool(step.until):
        raise WorkflowError(f"{where}: give either a span or until=, such as Timer({step.name!r}, days(7))")
    if not 0 <= step.complete_within <= LONGEST_TIMER_MS:
        raise WorkflowError(f"{where}: a timer runs for more than nothing and at most two years")


def _check_signal(where: str, step: PlannedStep) -> None:
    if not 1000 <= step.complete_within <= LONGEST_SIGNAL_MS:
        raise WorkflowError(f"{where}: say how long it waits, 1 s to 366 days, such as complete_within=days(2)")
    if step.by and step.by not in DOORS:
        raise WorkflowError(f"{where}: by={step.by!r}; it is {' or '.join(map(repr, DOORS))}, or left out for either")
    for policy in step.exhausted:
        if policy.kind not in _SIGNALS:
            raise WorkflowError(
                f"{where}: {policy.kind.name} has no attempt to repeat; take Remind, Default, UNDO, ALERT"
            )
        if policy.kind is Exhausted.REMIND and not (0 < policy.wait <= LONGEST_SIGNAL_MS and 0 < policy.rounds <= 100):
            raise WorkflowError(f"{where}: a reminder waits up to 366 days, 1 to 100 times: Remind(days(1), rounds=2)")
        if len(policy.answer) > MOST_DATA_BYTES:
            raise WorkflowError(f"{where}: the default answer is over {MOST_DATA_BYTES:,} bytes")
