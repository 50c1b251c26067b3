"""What an operator may type about a lane."""

from __future__ import annotations

from collections.abc import Iterator

from stepward.cli.deployment.options import Target
from stepward.domain.convoy.event import StoredEvent, sequence_name
from stepward.domain.convoy.lane import Lane

REASON = ("--why", "...")


def repairs(lane: Lane, following: StoredEvent | None, target: Target) -> Iterator[str]:
    """What to type next, if the lane waits for an operator."""
    order = lane.order_id
    if lane.blocked:
        event = sequence_name(lane.blocked.position)
        if lane.blocked.position > 0:
            yield f"Fix the cause, then try event {event} again:\n  {_typed(target, 'retry', order)}"
        yield f"Or replace it by a corrected event:\n  {_typed(target, 'replace', order, event, 'FILE')}"
        yield f"Or skip it:\n  {_typed(target, 'skip', order, event)}"
    elif lane.last < lane.highest and following is None:
        event = str(lane.last + 1)
        yield f"Have its source send event {event} again: the lane then goes on by itself."
        yield f"If it will never arrive, supply it yourself:\n  {_typed(target, 'replace', order, event, 'FILE')}"
        yield f"Or skip it:\n  {_typed(target, 'skip', order, event)}"


def _typed(target: Target, command: str, *words: str) -> str:
    return target.typed("convoy", command, *words, *REASON)
