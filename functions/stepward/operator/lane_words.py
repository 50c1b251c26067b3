"""Describes a lane in words: its state, its progress, and why it waits."""

from __future__ import annotations

from stepward.domain.convoy.event import StoredEvent, sequence_name
from stepward.domain.convoy.lane import Alerted, Lane


def lane_state(lane: Lane) -> str:
    """The state of the lane: blocked, gap, ended, idle or open."""
    if lane.blocked:
        return "blocked"
    if lane.last < lane.highest:
        return "gap"
    if lane.end:
        return "ended"
    return "idle" if lane.alerted is Alerted.IDLE else "open"


def lane_position(lane: Lane, following: StoredEvent | None) -> str:
    """The lane's progress in a phrase; `following` is the event after the last applied one, if it has arrived."""
    if lane.blocked:
        return f"event {sequence_name(lane.blocked.position)} stops the lane: {lane.blocked.reason}"
    if lane.last < lane.highest and following is None:
        return f"event {lane.last + 1} has not arrived, but event {lane.highest} has"
    if lane.last < lane.highest:
        failed = f"; event {lane.last + 1} has failed {lane.attempts} times" if lane.attempts else ""
        return f"events up to {lane.last} are applied, and the lane goes on{failed}"
    if not lane.last:
        return "no event is applied yet"
    ended = ", which was the last one" if lane.end else ""
    return f"all events that arrived are applied, up to event {lane.last}{ended}"


def why_it_waits(lane: Lane) -> str:
    """Why the lane waits for an operator."""
    if lane.blocked:
        return f"event {sequence_name(lane.blocked.position)}: {lane.blocked.reason}"
    if lane.last < lane.highest:
        return f"event {lane.last + 1} has not arrived, but event {lane.highest} has"
    return f"no event has arrived after event {lane.last}, which was not the last one"


def event_state(lane: Lane, stored: StoredEvent) -> str:
    """The state of an event: applied, skipped, stops the lane, or waits."""
    if stored.skipped:
        return "skipped"
    if lane.blocked and lane.blocked.position == stored.position:
        return "stops the lane"
    return "applied" if 0 < stored.position <= lane.last else "waits"
