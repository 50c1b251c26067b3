"""What a child does for its parent: it tells how it ended, until the parent has heard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stepward.domain.coordination.outlook import DeadlineCheck
from stepward.domain.messages import ChildEnded, ChildHeard, ChildUndo
from stepward.domain.task.record import ProcessState
from stepward.domain.task.refusals import RefusalCode
from stepward.domain.task.results import ITEMS, at_hand

if TYPE_CHECKING:
    from stepward.domain.task.change import TaskChange
    from stepward.domain.task.decide import Event
    from stepward.domain.task.record import Parent


def tell(change: TaskChange, event: Event) -> None:
    """Tell the parent of an end when it comes, each time its messages come again, and until the parent has heard.

    A child that cannot be undone says so, each time it is asked.
    """
    if (parent := change.parent) is None:
        return
    after = replace(
        change.task, steps=change.steps, undoing=change.undoing, history=(*change.task.history, *change.history)
    )
    undone = after.process_state is ProcessState.UNDONE
    if isinstance(event, ChildUndo) and change.refusal and change.refusal.code is RefusalCode.PAST_NO_RETURN:
        change.messages.append(ChildEnded(parent.order_id, parent.step, error=change.refusal.text))
    elif not after.has_ended:
        change.parent = replace(parent, tell_by=None)
    elif isinstance(event, ChildHeard):
        change.parent = replace(parent, tell_by=parent.tell_by if event.undone is not undone else None)
    elif after.process_state is not change.task.process_state or _is_due(change, parent, event):
        waits = max(change.timing.claim_within, change.now - (after.ended_at or change.now))
        change.parent = replace(parent, tell_by=change.now + waits)
        _tell(change, parent, undone=undone)
    elif not isinstance(event, DeadlineCheck):
        _tell(change, parent, undone=undone)


def _is_due(change: TaskChange, parent: Parent, event: Event) -> bool:
    seen = change.now - change.timing.skew_margin
    return isinstance(event, DeadlineCheck) and parent.tell_by is not None and parent.tell_by <= seen


def _tell(change: TaskChange, parent: Parent, *, undone: bool) -> None:
    result = {} if undone else _result(change)
    change.messages.append(ChildEnded(parent.order_id, parent.step, undone=undone, result=result))


def _result(change: TaskChange) -> Mapping[str, Any]:
    """The result of its last step; the parent of some items only counts them."""
    last = change.plan.steps[-1]
    if last.parts and last.items == ("order", ITEMS):
        return {}
    return at_hand(change.results()).get(last.name, {})
