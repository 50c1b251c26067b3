"""What an operator's command does to a lane, and why it is refused."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from enum import Enum
from typing import assert_never
from zlib import crc32

from stepward.domain.convoy.change import LaneChange
from stepward.domain.convoy.commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.convoy.event import OrderEvent, StoredEvent, sequence_name
from stepward.domain.convoy.lane import Lane, with_done
from stepward.domain.convoy.needs import Held, ReadEvent
from stepward.domain.errors import OtherCustomer
from stepward.domain.history import HistoryKind
from stepward.domain.key import TaskKey, check_customer, spoken


class LaneRefusalCode(Enum):
    """Why a command is refused."""

    NOTHING_TO_RETRY = "nothing to retry"
    UNSEQUENCED = "unsequenced"
    ANOTHER_STOPS = "another event stops the lane"
    BEHIND = "behind the lane"
    ANOTHER_IS_MISSING = "another event is missing"
    NOT_AWAITED = "not awaited"
    NOT_VALID = "not valid"
    OTHER_ORDER = "other order"
    OTHER_CUSTOMER = "other customer"
    NO_SEQUENCE = "no sequence"
    OTHER_SEQUENCE = "other sequence"


@dataclass(frozen=True, slots=True)
class LaneRefusal:
    """Why a command is refused: a code for programs, and a text for people."""

    code: LaneRefusalCode
    text: str


def refused(lane: Lane, held: Held, command: LaneCommand) -> LaneRefusal | None:
    """Why a command is refused, None if it is not; raises Missing."""
    match command:
        case RetryLane():
            return _no_retry(lane, held)
        case SkipEvent():
            return _not_replaceable(lane, held, command.position)
        case ReplaceEvent():
            fixed = _not_replaceable(lane, held, command.position)
            return fixed or misplaced(lane, command.position, held.known[ReadEvent(command.body)])
        case _:
            assert_never(command)


def is_done(lane: Lane, command: LaneCommand) -> bool:
    """Whether the command was applied before."""
    return command.command_id in lane.done


def apply_command(change: LaneChange, command: LaneCommand) -> LaneRefusal | None:
    """Apply the command and the events that waited for it; why it is refused, or None. Raises Missing.

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
        named = f"{command.command_id} {rejection.why}"
        position = _rejected_by(command)
        change.held.rows[position] = StoredEvent(position, rejection.event, named)
    change.lane = with_done(change.lane, command.command_id)
    change.drain()
    change.stop_at_unsequenced()
    return None


def misplaced(lane: Lane, position: int, event: OrderEvent) -> LaneRefusal | None:
    """Why `event` cannot replace the one at `position`; None if it can."""
    if event.fault:
        return LaneRefusal(LaneRefusalCode.NOT_VALID, f"the new event is not valid: {event.fault}")
    if event.order_id != lane.order_id:
        return LaneRefusal(LaneRefusalCode.OTHER_ORDER, f"the new event is of order {spoken(event.order_id)}")
    try:
        check_customer(event.customer_id, lane.customer_id)
    except OtherCustomer as error:
        return LaneRefusal(LaneRefusalCode.OTHER_CUSTOMER, f"the new event is another customer's: {error}")
    if lane.sequenced and event.sequence is None:
        return LaneRefusal(LaneRefusalCode.NO_SEQUENCE, "the new event is not valid: sequence: is missing")
    if lane.sequenced and position > 0 and event.sequence != position:
        text = f"the new event has the sequence {event.sequence}; it has to be {position}"
        return LaneRefusal(LaneRefusalCode.OTHER_SEQUENCE, text)
    return None


def _no_retry(lane: Lane, held: Held) -> LaneRefusal | None:
    blocked = lane.blocked
    if blocked is None:
        waits = lane.goes_on and held.at(lane.last + 1) is not None
        code = LaneRefusalCode.NOTHING_TO_RETRY
        return None if waits else LaneRefusal(code, "nothing to retry: no event stops the lane")
    if blocked.position > 0 or ((event := _read_again(held, blocked.position)) and event.sequence is not None):
        return None
    name = sequence_name(blocked.position)
    why = f"nothing to retry: event {name} has no usable sequence; replace it or skip it"
    return LaneRefusal(LaneRefusalCode.UNSEQUENCED, why)


def _not_replaceable(lane: Lane, held: Held, position: int) -> LaneRefusal | None:
    """Why an operator may not skip or replace the event at `position`: it must block the lane, or be missing."""
    name = sequence_name(position)
    if lane.blocked:
        stops = sequence_name(lane.blocked.position)
        text = f"event {name} is not what stops the lane; event {stops} does"
        return None if lane.blocked.position == position else LaneRefusal(LaneRefusalCode.ANOTHER_STOPS, text)
    text = f"event {name} is not what the lane waits for"
    if 0 < position <= lane.last:
        return LaneRefusal(LaneRefusalCode.BEHIND, text)
    if not lane.goes_on or held.at(lane.last + 1) is not None:
        return LaneRefusal(LaneRefusalCode.NOT_AWAITED, text)
    return None if position == lane.last + 1 else LaneRefusal(LaneRefusalCode.ANOTHER_IS_MISSING, text)


def _retry(change: LaneChange) -> None:
    blocked = change.lane.blocked
    if blocked is None:
        return
    change.log(HistoryKind.RETRIED, blocked.position)
    if blocked.position > 0:
        change.lane = replace(change.lane, blocked=None)
        return
    event = _read_again(change.held, blocked.position)
    _resolve(change, blocked.position, "it has a usable sequence now")
    if event is not None:
        change.take(event, 0)


def _skip(change: LaneChange, command: SkipEvent) -> None:
    why = f"skipped by {command.who}: {command.why}"
    if command.position < 0:
        _resolve(change, command.position, why)
        return
    held = change.held.at(command.position)
    event = held.event if held else change.known[ReadEvent(_never_came(command))]
    change.go_past(StoredEvent(command.position, event, why))


def _replace(change: LaneChange, command: ReplaceEvent) -> None:
    position, why = command.position, f"replaced by {command.who}: {command.why}"
    event, before = change.known[ReadEvent(command.body)], change.held.at(position)
    change.log(HistoryKind.REPLACED, position, command.why)
    if position < 0 and before is not None:
        _resolve(change, position, why)
        change.take(event, 0)
        return
    if before is not None:
        change.reject(before.event, f"sequence: {why}")
    change.held.rows[position] = StoredEvent(position, event)
    change.lane = replace(change.lane, blocked=None)


def _resolve(change: LaneChange, position: int, why: str) -> None:
    """Skip an unsequenced event."""
    if (stored := change.held.at(position)) is not None:
        change.held.rows[position] = replace(stored, skipped=why)
    unsequenced = tuple(each for each in change.lane.unsequenced if each != position)
    change.lane = replace(change.lane, blocked=None, unsequenced=unsequenced)
    change.log(HistoryKind.SKIPPED, position, why)


def _read_again(held: Held, position: int) -> OrderEvent | None:
    """The event at a position as the deployed application reads it."""
    stored = held.at(position)
    return held.known[ReadEvent(stored.event.body)] if stored else None


def _never_came(command: SkipEvent) -> str:
    """The text of an event that is skipped and never came."""
    fault = {"invalid": "sequence: it never came", "begins": ""}
    return json.dumps({**TaskKey.read(command.order_id).fields, "sequence": command.position, **fault})


def _rejected_by(command: LaneCommand) -> int:
    """The position, which no event has, of what a command rejected: a reject that got lost is kept again."""
    return -(10**9) - crc32(command.command_id.encode())


def _reject_again(change: LaneChange, command: LaneCommand) -> None:
    """Reject again what the command rejected: whoever wrote the lane may have died before it was kept."""
    rejected = change.held.at(_rejected_by(command))
    command_id, _, why = rejected.skipped.partition(" ") if rejected else ("", "", "")
    if rejected and command_id == command.command_id:
        change.reject(rejected.event, why)
