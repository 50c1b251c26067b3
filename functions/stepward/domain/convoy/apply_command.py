"""What an operator's command makes of a lane, and why it is refused."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from enum import Enum
from typing import assert_never

from stepward.domain.convoy.arrival import Held
from stepward.domain.convoy.change import Change
from stepward.domain.convoy.commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.convoy.event import Kept, OrderEvent, sequence_name
from stepward.domain.convoy.lane import Lane
from stepward.domain.convoy.needs import ReadEvent
from stepward.domain.history import FactKind

REJECTED_BY_COMMAND = 0
"""The place, which no event has, of what the newest command has rejected: were its reject lost, it is kept again."""


class RefusalCode(Enum):
    """Why a command is refused."""

    NOTHING_TO_RETRY = "nothing to retry"
    UNSEQUENCED = "unsequenced"
    ANOTHER_STOPS = "another event stops the lane"
    BEHIND = "behind the lane"
    ANOTHER_IS_MISSING = "another event is missing"
    NOT_AWAITED = "not awaited"
    NOT_VALID = "not valid"
    OTHER_ORDER = "other order"
    NO_SEQUENCE = "no sequence"
    OTHER_SEQUENCE = "other sequence"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a command is refused: a code for programs, and words."""

    code: RefusalCode
    text: str


def refused(lane: Lane, held: Held, command: LaneCommand) -> Refusal | None:
    """Why nothing comes of a command, None if something does; raises Missing."""
    match command:
        case RetryLane():
            return _no_retry(lane, held)
        case SkipEvent():
            return _not_in_the_way(lane, held, command.place)
        case ReplaceEvent():
            in_vain = _not_in_the_way(lane, held, command.place)
            return in_vain or misplaced(lane, command.place, held.known[ReadEvent(command.body)])
        case _:
            assert_never(command)


def is_done(lane: Lane, command: LaneCommand) -> bool:
    """Whether the command has come before and had its effect."""
    return lane.done == command.asked


def obey(change: Change, command: LaneCommand) -> Refusal | None:
    """Do what is asked, and apply what waited for it; why it is refused, or None. Raises Missing.

    A command that comes a second time finds its name on the lane, and changes nothing more.
    """
    if is_done(change.lane, command):
        _reject_again(change, command)
        change.drain()
        return None
    if refusal := refused(change.lane, change.held, command):
        return refusal
    match command:
        case RetryLane():
            _retry(change)
        case SkipEvent():
            _skip(change, command)
        case ReplaceEvent():
            _replace(change, command)
    for rejection in change.rejections:
        mark = f"{command.asked} {rejection.why}"
        change.held.rows[REJECTED_BY_COMMAND] = Kept(REJECTED_BY_COMMAND, rejection.event, mark)
    change.lane = replace(change.lane, done=command.asked)
    change.drain()
    change.stop_at_unsequenced()
    return None


def misplaced(lane: Lane, place: int, event: OrderEvent) -> Refusal | None:
    """Why `event` cannot stand in for the one at `place`; None if it can."""
    if event.fault:
        return Refusal(RefusalCode.NOT_VALID, f"the new event is not valid: {event.fault}")
    if event.order_id != lane.order_id:
        return Refusal(RefusalCode.OTHER_ORDER, f"the new event is of order {event.order_id}")
    if lane.sequenced and event.sequence is None:
        return Refusal(RefusalCode.NO_SEQUENCE, "the new event is not valid: sequence: is missing")
    if lane.sequenced and place > 0 and event.sequence != place:
        text = f"the new event has the sequence {event.sequence}; it has to be {place}"
        return Refusal(RefusalCode.OTHER_SEQUENCE, text)
    return None


def _no_retry(lane: Lane, held: Held) -> Refusal | None:
    blocked = lane.blocked
    if blocked is None:
        waits = lane.goes_on and held.at(lane.last + 1) is not None
        code = RefusalCode.NOTHING_TO_RETRY
        return None if waits else Refusal(code, "nothing to retry: no event stops the lane")
    if blocked.place > 0 or ((event := _read_again(held, blocked.place)) and event.sequence is not None):
        return None
    name = sequence_name(blocked.place)
    why = f"nothing to retry: event {name} has no usable sequence; replace it or skip it"
    return Refusal(RefusalCode.UNSEQUENCED, why)


def _not_in_the_way(lane: Lane, held: Held, place: int) -> Refusal | None:
    """Why the event at `place` is none that an operator may take away: it must stop the lane, or be missing."""
    name = sequence_name(place)
    if lane.blocked:
        stops = sequence_name(lane.blocked.place)
        text = f"event {name} is not what stops the lane; event {stops} does"
        return None if lane.blocked.place == place else Refusal(RefusalCode.ANOTHER_STOPS, text)
    text = f"event {name} is not what the lane waits for"
    if 0 < place <= lane.last:
        return Refusal(RefusalCode.BEHIND, text)
    if not lane.goes_on or held.at(lane.last + 1) is not None:
        return Refusal(RefusalCode.NOT_AWAITED, text)
    return None if place == lane.last + 1 else Refusal(RefusalCode.ANOTHER_IS_MISSING, text)


def _retry(change: Change) -> None:
    blocked = change.lane.blocked
    if blocked is None:
        return
    change.tell(FactKind.RETRIED, blocked.place)
    if blocked.place > 0:
        change.lane = replace(change.lane, blocked=None)
        return
    event = _read_again(change.held, blocked.place)
    _resolve(change, blocked.place, "it has a usable sequence now")
    if event is not None:
        change.take(event, 0)


def _skip(change: Change, command: SkipEvent) -> None:
    why = f"skipped by {command.who}: {command.why}"
    if command.place < 0:
        _resolve(change, command.place, why)
        return
    kept = change.held.at(command.place) or Kept(command.place, change.known[ReadEvent(_never_came(command))])
    change.go_past(replace(kept, passed_over=why))


def _replace(change: Change, command: ReplaceEvent) -> None:
    place, why = command.place, f"replaced by {command.who}: {command.why}"
    event, before = change.known[ReadEvent(command.body)], change.held.at(place)
    change.tell(FactKind.REPLACED, place, command.why)
    if place < 0 and before is not None:
        _resolve(change, place, why)
        change.take(event, 0)
        return
    if before is not None:
        change.reject(before.event, f"sequence: {why}")
    change.held.rows[place] = Kept(place, event)
    change.lane = replace(change.lane, blocked=None)


def _resolve(change: Change, place: int, why: str) -> None:
    """Take an event that nobody could place out of the way."""
    if (kept := change.held.at(place)) is not None:
        change.held.rows[place] = replace(kept, passed_over=why)
    unplaced = tuple(each for each in change.lane.unplaced if each != place)
    change.lane = replace(change.lane, blocked=None, unplaced=unplaced)
    change.tell(FactKind.PASSED_OVER, place, why)


def _read_again(held: Held, place: int) -> OrderEvent | None:
    """The event at a place as the application reads it by now."""
    kept = held.at(place)
    return held.known[ReadEvent(kept.event.body)] if kept else None


def _never_came(command: SkipEvent) -> str:
    """The text that stands for an event that is skipped and never came."""
    fault = {"invalid": "sequence: it never came", "begins": ""}
    return json.dumps({"orderId": command.order_id, "sequence": command.place, **fault})


def _reject_again(change: Change, command: LaneCommand) -> None:
    """Have what the command rejected kept once more: whoever wrote the lane may have died before."""
    rejected = change.held.at(REJECTED_BY_COMMAND)
    asked, _, why = rejected.passed_over.partition(" ") if rejected else ("", "", "")
    if rejected and asked == command.asked:
        change.reject(rejected.event, why)
