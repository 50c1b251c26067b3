"""The whole policy of a lane as one pure function: (lane, what is known, what arrived, now) -> a change or a need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stepward.domain.convoy.apply_command import LaneRefusal, apply_command
from stepward.domain.convoy.change import LaneChange
from stepward.domain.convoy.commands import LaneCommand
from stepward.domain.convoy.event import OrderEvent, StoredEvent
from stepward.domain.convoy.lane import Lane, LaneRules
from stepward.domain.convoy.needs import Known, Missing, Need, Rejection
from stepward.domain.errors import Transient
from stepward.domain.history import HistoryEntry

Wanted = Sequence[OrderEvent] | LaneCommand


@dataclass(frozen=True, slots=True)
class LaneDecision:
    """What to write: the lane, which is the one that was read if nothing has changed, with new rows and older events.

    Once it is written, the `rejections` are kept and the `history` is logged. `refusal` says why a command is refused,
    `failure` is the error that the effect of the next event met; with `more`, another change follows.
    """

    lane: Lane
    rows: tuple[StoredEvent, ...]
    older: tuple[StoredEvent, ...]
    rejections: tuple[Rejection, ...]
    history: tuple[HistoryEntry, ...]
    refusal: LaneRefusal | None
    failure: Transient | None
    more: bool


def decide(lane: Lane, known: Known, wanted: Wanted, rules: LaneRules, now: int) -> LaneDecision | Need:
    """What `wanted` (arriving events, a command, or none: only parked events) makes of the lane at `now` (epoch ms).

    The answer is a need if that is not `known`; decide again once it is.
    """
    try:
        return _decided(LaneChange(lane, known, rules, now), wanted)
    except Missing as missing:
        return missing.need


def _decided(change: LaneChange, wanted: Wanted) -> LaneDecision:
    refusal = None
    change.close()
    if isinstance(wanted, LaneCommand):
        refusal = apply_command(change, wanted)
    else:
        _take(change, wanted)
    lane, older = change.written()
    return LaneDecision(
        lane=lane,
        rows=tuple(change.held.rows.values()),
        older=older,
        rejections=tuple(change.rejections),
        history=tuple(change.history),
        refusal=refusal,
        failure=change.failure,
        more=change.more,
    )


def _take(change: LaneChange, events: Sequence[OrderEvent]) -> None:
    for message, event in enumerate(events):
        if change.failure is None:
            change.take(event, message)
    change.drain()
