"""What must hold when nothing more happens: I7, and that nothing is lost."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from stepward.app.convoy.history import balance as balance_of_lane
from stepward.app.scheduler.audit_log import AuditEntry, AuditLog
from stepward.domain.convoy.lane import Alerted, Lane, LaneRules
from stepward.domain.convoy.sequence import MOST_UNSEQUENCED
from stepward.domain.key import TaskKey
from stepward.testing.memory.lanes import MemoryLanes
from stepward.testing.memory.queues import MemoryAlerts
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.testing.memory.task_store import MemoryRejects, MemoryTaskStore
from tests.factories import of_lanes
from tests.lab.convoy.record import held
from tests.lab.convoy.replay import Replay, said
from tests.lab.convoy.scripts import Book, has_order

Entry = dict[str, Any]


@dataclass(slots=True)
class Left:
    """What a world has left: its ports in memory, and the rules of its lanes."""

    rules: LaneRules
    lanes: MemoryLanes
    store: MemoryTaskStore
    shared_records: MemorySharedRecords
    rejects: MemoryRejects
    alerts: MemoryAlerts = field(default_factory=MemoryAlerts)

    def commands(self, order_id: str, command: str) -> Iterator[AuditEntry]:
        return (e for e in AuditLog(self.shared_records).of(order_id) if e.applied and e.command == command)


def checks(left: Left, books: Collection[Book]) -> Iterator[tuple[str, str, Callable[[], None]]]:
    """Every invariant at quiet time, with the order it is about, and what raises AssertionError if it is broken."""
    for order_id, lane in left.lanes.lanes.items():
        entries = sent(books, lane)
        yield "I1", order_id, partial(at_rest, left, lane)
        yield "I7", order_id, partial(replayed, left, lane, entries)
        yield "C5", order_id, partial(nothing_is_missing, left, lane, entries)
        yield "C5", order_id, partial(nothing_comes_after_the_end, left, lane, entries)
    yield "C3", "", partial(nothing_is_lost, left, books)


def sent(books: Iterable[Book], lane: Lane) -> list[Entry]:
    """Every entry of an order by its own customer, in the order of sending."""
    order_id, own = TaskKey.read(lane.order_id).order_id, (book for book in books if book.customer == lane.customer_id)
    return [
        written for book in own for written in book.entries if has_order(written) and written["orderId"] == order_id
    ]


def at_rest(left: Left, lane: Lane) -> None:
    """Nobody works on the lane: every event whose turn has come is applied, and an operator knows what blocks it."""
    if not lane.blocked and lane.last < lane.highest:
        following = left.lanes.kept.get(lane.order_id, {}).get(lane.last + 1)
        assert following is None, f"{lane.order_id}: event {lane.last + 1} is there and waits"
        assert lane.alerted is Alerted.GAP
        assert _is_alerted(left, lane, "gap", lane.last + 1)
    if lane.blocked:
        assert lane.alerted is Alerted.BLOCKED
        assert _is_alerted(left, lane, "blocked", lane.blocked.position)
    assert (lane.due is None) or left.rules.idle_after


def _is_alerted(left: Left, lane: Lane, trouble: str, position: int) -> bool:
    wanted = (lane.order_id, trouble, str(position) if position > 0 else f"u{-position}")
    alerts = of_lanes(left.alerts.events)
    return any((alert.order_id, alert.trouble.value, alert.event) == wanted for alert in alerts)


def replayed(left: Left, lane: Lane, entries: Sequence[Entry]) -> None:
    """I7: the order is what a plain replay of its events makes of it, and each event has had its effect once."""
    replay, possible, at = Replay(), _possible(left, lane, entries), held(left.lanes, lane)
    skipped = {entry.step for entry in left.commands(lane.order_id, "convoy skip")}
    for stored in (at[position] for position in range(1, lane.last + 1)):
        if stored.skipped:
            assert f"event {stored.position}" in skipped, stored
            continue
        content = said(json.loads(stored.event.body))
        event = f"event {stored.position} of {lane.order_id}"
        assert content in possible.get(stored.position, []), f"nobody sent {event}: {content}"
        replay.apply(stored.position, content)
    assert (lane.created, bool(lane.deleted), bool(lane.end)) == (replay.created, replay.deleted, replay.ended)
    balance = balance_of_lane(left.lanes, lane)
    booked = [*balance.additions.values(), *([balance.order] if balance.order else [])]
    assert {one.position: one.details for one in booked} == replay.transactions
    if lane.created:
        assert lane.order_id in left.store.orders
    if lane.deleted:
        assert left.store.tasks[lane.order_id].undoing


def _possible(left: Left, lane: Lane, entries: Sequence[Entry]) -> dict[int, list[Entry]]:
    """What may be at each position: what was sent for it, or an operator's replacement."""
    found: dict[int, list[Entry]] = {}
    if lane.sequenced:
        for written in entries:
            found.setdefault(written.get("sequence", 0), []).append(written)
    else:
        first = [written for written in entries if written.get("op") == "create"][:1]
        begun = bool(first) and not any(
            position == 1 and event.skipped for position, event in held(left.lanes, lane).items()
        )
        others = [written for written in entries if not begun or written is not first[0]]
        found |= {position: [written] for position, written in enumerate(others, start=2)}
        found[1] = first
    for entry in left.commands(lane.order_id, "convoy replace"):
        position = int(entry.step.split()[1])
        found.setdefault(position, []).append(said(replacement(left.rules, lane.order_id, position)))
    return found


def replacement(rules: LaneRules, order_id: str, position: int) -> Entry:
    numbered = {"sequence": position} if rules.sequenced else {}
    address = {name: value for name, value in TaskKey.read(order_id).fields.items() if name != "workflow"}
    return {**address, **numbered, "op": "add", "amount": "9.99"}


def alerted_once(left: Left) -> None:
    """C6: one alert per trouble; only after a fault hid that an alert was sent may it come twice."""
    alerts = [(alert.order_id, alert.trouble, alert.event, alert.at) for alert in of_lanes(left.alerts.told)]
    assert len(alerts) == len(set(alerts)), alerts


def nothing_is_lost(left: Left, books: Iterable[Book]) -> None:
    """C3: every entry is in its order's lane, or among the rejects."""
    rows = (row for lane in left.lanes.lanes.values() for row in held(left.lanes, lane).values())
    # What a command rejected has a row behind these, and has to be among the rejects, too.
    events = (row.event for row in rows if row.position >= -MOST_UNSEQUENCED)
    contents = [*(json.loads(event.body) for event in events), *_rejected(left)]
    found = [(content.get("customerId"), said(content)) for content in contents]
    named = {reject.message_id for reject in left.rejects.kept.values()}
    for book in books:
        for index, written in enumerate(book.entries):
            is_named = f"{book.ledger_id}/{index}" in named
            assert (book.customer, said(written)) in found if has_order(written) else is_named, written


def nothing_is_missing(left: Left, lane: Lane, entries: Sequence[Entry]) -> None:
    """What was sent for a position is there, however far its lane has come: only another event there refuses it."""
    positions = {written["sequence"] for written in entries if lane.sequenced and "sequence" in written}
    meant = {position for position in positions if not lane.end or position <= lane.end}
    missing = meant - held(left.lanes, lane).keys()
    assert not missing, f"{lane.order_id}: {missing} came and is not there"


def nothing_comes_after_the_end(left: Left, lane: Lane, entries: Sequence[Entry]) -> None:
    """C5: what was sent for positions behind the end is among the rejects."""
    rejected = list(map(said, _rejected(left)))
    for written in entries:
        if lane.end and lane.sequenced and written.get("sequence", 0) > lane.end:
            assert written in rejected, written


def _rejected(left: Left) -> list[Entry]:
    contents = (_read(reject.body) for reject in left.rejects.kept.values())
    return [content for content in contents if isinstance(content, dict)]


def _read(body: str) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None
