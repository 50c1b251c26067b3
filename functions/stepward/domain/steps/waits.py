"""What the kinds that wait share."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from stepward.domain.errors import Rejected, Untellable
from stepward.domain.workflow.plan import StepKind
from stepward.domain.workflow.refs import name_of, resolve

if TYPE_CHECKING:
    from stepward.domain.task.change import TaskChange
    from stepward.domain.workflow.plan import PlannedStep
    from stepward.domain.workflow.values import Frozen


def instant(change: TaskChange, ref: Frozen, latest: int) -> int:
    """The instant (epoch ms) that `ref` names, an RFC 3339 text with its offset; raises Untellable."""
    return parsed(resolve(ref, change.order or {}, change.results()), latest, name_of(ref))


def parsed(found: Any, latest: int, name: str) -> int:
    """The instant in a text; raises Untellable, which names the field."""
    if not isinstance(found, str):
        raise Untellable(f"{name} is no text with a time; expected one such as 2026-01-31T12:00:00Z")
    try:
        at = datetime.fromisoformat(found)
    except ValueError as error:
        raise Untellable(f"{name} is {found[:40]!r}; expected a time such as 2026-01-31T12:00:00Z") from error
    if at.tzinfo is None or "T" not in found.upper():
        raise Untellable(f"{name} is {found[:40]!r}; a time needs its offset, such as 2026-01-31T12:00:00Z")
    moment = round(at.timestamp() * 1000)
    if moment > latest:
        raise Untellable(f"{name} is {found[:40]!r}, more than two years ahead")
    return moment


_SAID = {"SignalGiven": "signal", "Reply": "reply", "Answered": "answer of a service"}


def not_taken(step: PlannedStep, event: object) -> Rejected:
    """The refusal of what a kind does not take."""
    name = type(event).__name__
    article = "an" if step.kind is StepKind.EACH else "a"
    return Rejected("step", f"{step.name!r} is {article} {step.kind}, which takes no {_SAID.get(name, name)}")
