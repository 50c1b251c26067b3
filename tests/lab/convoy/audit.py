"""What must hold when nothing more happens: I7, and that nothing was lost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from stepward.app.convoy.history import balance as balance_of_lane
from stepward.app.scheduler.audit_log import AuditLog
from stepward.domain.convoy.event import StoredEvent
from stepward.domain.convoy.lane import Alerted, Lane, LaneRules
from stepward.testing.memory.lanes import MemoryLanes
from stepward.testing.memory.queues import MemoryAlerts
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.testing.memory.task_store import MemoryRejects, MemoryTaskStore
from tests.factories import of_lanes
from tests.lab.convoy.replay import Replay, said
from tests.lab.convoy.scripts import Book
from tests.lab.convoy.world import ConvoyWorld


class Lived(Protocol):
    """What a world has left: its ports in memory, and the rules of its lanes."""

    rules: LaneRules
    lanes: MemoryLanes
    store: MemoryTaskStore
    shared_records: MemorySharedRecords
    rejects: MemoryRejects
    alerts: MemoryAlerts


@dataclass(slots=True)
class Left:
    """The same, of a world that keeps it elsewhere."""

    rules: LaneRules
    lanes: MemoryLanes
    store: MemoryTaskStore
    shared_records: MemorySharedRecords
    rejects: MemoryRejects
    alerts: MemoryAlerts


def sent(books: Iterable[Book], order_id: str) -> list[dict[str, Any]]:
    """Every entry of an order, in the order of sending."""
    entries = (written for book in books for written in book.entries)
    return [written for written in entries if isinstance(written, dict) and written.get("orderId") == order_id]


def at_rest(world: Lived, lane: Lane) -> None:
    """A lane that nobody works on: whatever has its turn is applied, and an operator knows of what is in the way."""
    if not lane.blocked and lane.last < lane.highest:
        assert next_of(world, lane) is None, f"{lane.order_id}: event {lane.last + 1} is there and waits"
        assert lane.alerted is Alerted.GAP
        assert _told(world, lane, "gap", lane.last + 1)
    if lane.blocked:
        assert lane.alerted is Alerted.BLOCKED
        assert _told(world, lane, "blocked", lane.blocked.position)
    assert (lane.due is None) or world.rules.idle_after


def next_of(world: Lived, lane: Lane) -> StoredEvent | None:
    """The event that is next, if it has come."""
    return world.lanes.kept.get(lane.order_id, {}).get(lane.last + 1)


def _told(world: Lived, lane: Lane, trouble: str, position: int) -> bool:
    wanted = (lane.order_id, trouble, str(position) if position > 0 else f"u{-position}")
    told = of_lanes(world.alerts.events)
    return any((alert.order_id, alert.trouble.value, alert.event) == wanted for alert in told)


def replayed(world: Lived, order_id: str, entries: Sequence[dict[str, Any]]) -> None:
    """I7: the order is what a plain replay of its events makes of it, and each has had its effect once."""
    lane, replay = world.lanes.lanes[order_id], Replay()
    possible, at = _possible(world, lane, entries), held(world, lane)
    for kept in (at[position] for position in range(1, lane.last + 1)):
        content = json.loads(kept.event.body)
        if kept.skipped:
            assert _is_skipped(world, order_id, kept.position), kept
            continue
        assert said(content) in possible.get(kept.position, []), (
            f"{order_id}: nobody sent this for {kept.position}: {content}"
        )
        replay.apply(kept.position, said(content))
    assert (lane.created, bool(lane.deleted), bool(lane.end)) == (replay.created, replay.deleted, replay.ended)
    balance = balance_of_lane(world.lanes, lane)
    booked = {
        one.position: one.details for one in [*balance.additions.values(), *([balance.order] if balance.order else [])]
    }
    assert booked == replay.transactions
    if lane.created:
        assert order_id in world.store.orders
    if lane.deleted:
        assert world.store.tasks[order_id].undoing


def _possible(world: Lived, lane: Lane, entries: Sequence[dict[str, Any]]) -> dict[int, list[dict[str, Any]]]:
    """What may stand at each place: what was sent for it, or an operator's replacement."""
    found: dict[int, list[dict[str, Any]]] = {}
    if lane.sequenced:
        for written in entries:
            found.setdefault(written.get("sequence", 0), []).append(written)
    else:
        first = [written for written in entries if written.get("op") == "create"][:1]
        begun = bool(first) and not any(position == 1 and kept.skipped for position, kept in held(world, lane).items())
        others = [written for written in entries if not begun or written is not first[0]]
        found |= {position: [written] for position, written in enumerate(others, start=2)}
        found[1] = first
    for position, event in _replacements(world, lane.order_id):
        found.setdefault(position, []).append(event)
    return found


def held(world: Lived, lane: Lane) -> dict[int, StoredEvent]:
    return world.lanes.kept.get(lane.order_id, {}) | {kept.position: kept for kept in lane.recent}


def _is_skipped(world: Lived, order_id: str, position: int) -> bool:
    entries = AuditLog(world.shared_records).of(order_id)
    return any(e.applied and (e.command, e.step) == ("convoy skip", f"event {position}") for e in entries)


def _replacements(world: Lived, order_id: str) -> list[tuple[int, dict[str, Any]]]:
    entries = AuditLog(world.shared_records).of(order_id)
    positions = [int(e.step.split()[1]) for e in entries if e.applied and e.command == "convoy replace"]
    return [(position, replacement(world.rules, order_id, position)) for position in positions]


def replacement(rules: LaneRules, order_id: str, position: int) -> dict[str, Any]:
    """What the operator puts in the place of an event."""
    numbered = {"sequence": position} if rules.sequenced else {}
    return {"orderId": order_id, **numbered, "op": "add", "amount": "9.99"}


def told_once(world: ConvoyWorld) -> None:
    """C6: one alert per trouble, unless a fault hid that it was out."""
    told = [(alert.order_id, alert.trouble, alert.event, alert.at) for alert in of_lanes(world.alerts.told)]
    assert world.gate.hit or len(told) == len(set(told)), told


def nothing_is_lost(world: Lived, books: Iterable[Book]) -> None:
    """Every entry is in its order's lane, or among the rejects."""
    kept = [json.loads(kept.event.body) for lane in world.lanes.lanes.values() for kept in held(world, lane).values()]
    rejected = [_read(reject.body) for reject in world.rejects.kept.values()]
    found = [said(content) for content in [*kept, *rejected] if isinstance(content, dict)]
    named = {reject.message_id for reject in world.rejects.kept.values()}
    for book in books:
        for index, written in enumerate(book.entries):
            belongs = isinstance(written, dict) and "orderId" in written
            assert said(written) in found if belongs else f"{book.ledger_id}/{index}" in named, written


def nothing_is_missing(world: Lived, order_id: str, entries: Sequence[dict[str, Any]]) -> None:
    """What was sent for a place holds it, wherever its lane stands: only what another event holds is refused."""
    lane = world.lanes.lanes[order_id]
    if not lane.sequenced:
        return
    positions = {written["sequence"] for written in entries if "sequence" in written}
    meant = {position for position in positions if not lane.end or position <= lane.end}
    assert meant <= held(world, lane).keys(), f"{order_id}: {meant - held(world, lane).keys()} came and is not there"


def nothing_comes_after_the_end(world: Lived, order_id: str, entries: Sequence[dict[str, Any]]) -> None:
    """C5: what was sent for places behind the end is refused, and kept."""
    lane = world.lanes.lanes[order_id]
    rejected = [
        said(content) for reject in world.rejects.kept.values() if isinstance(content := _read(reject.body), dict)
    ]
    for written in entries:
        if lane.end and lane.sequenced and written.get("sequence", 0) > lane.end:
            assert written in rejected, written


def _read(body: str) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None
