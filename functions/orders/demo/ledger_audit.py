"""The audit of the ledgers: each order's events were applied in sequence, each once, and no order held up another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from orders.demo.ledgers import LedgerOrder, LedgerScenario, Story
from stepward.domain.convoy.event import StoredEvent
from stepward.domain.convoy.lane import Lane
from stepward.domain.rejects import Reject
from stepward.domain.task.record import ProcessState, Task
from stepward.local.services import Effect
from stepward.wire.order_event import event_of


@dataclass(frozen=True, slots=True)
class LaneRecord:
    """A lane as it stands at the end, with all that it holds in the order of the places."""

    lane: Lane
    kept: Sequence[StoredEvent]


@dataclass(frozen=True, slots=True)
class LedgerEvidence:
    """What stands at the end. `stood` are the orders that waited for somebody while all others had come to their end.

    `alerts` counts what operators were told of lanes, by order.
    """

    lanes: Mapping[str, LaneRecord]
    tasks: Mapping[str, Task]
    rejects: Sequence[Reject]
    alerts: Mapping[str, int]
    stood: frozenset[str]
    effects: Sequence[Effect]


@dataclass(frozen=True, slots=True)
class LedgerFindings:
    """What the audit found; every fault is a line."""

    summary: str
    faults: tuple[str, ...]


def audit_ledgers(scenario: LedgerScenario, evidence: LedgerEvidence) -> LedgerFindings:
    """Compare every lane with a plain replay of what its customer meant."""
    faults = [fault for order in scenario.orders for fault in _faults_of(order, evidence)]
    done = Counter(effect.key for effect in evidence.effects if not effect.undo_of)
    faults += [f"{key} had its effect {times} times" for key, times in done.items() if times > 1]
    known = {order.order_id for order in scenario.orders}
    kept = [reject for reject in evidence.rejects if reject.order_id in known or reject.source.startswith("ledger of")]
    if len(kept) != scenario.rejected:
        faults.append(f"{len(kept)} entries are among the rejects; {scenario.rejected} belong there")
    applied = sum(record.lane.last for record in evidence.lanes.values())
    summary = (
        f"ledgers: {scenario.entries} entries of {len(scenario.orders)} orders: {applied} applied in sequence, "
        f"{len(kept)} rejected, kept; {len(evidence.stood)} orders waited for somebody, and held up no other; "
        f"{len(faults)} faults"
    )
    return LedgerFindings(summary, tuple(faults))


def _faults_of(order: LedgerOrder, evidence: LedgerEvidence) -> Iterator[str]:
    record = evidence.lanes.get(order.order_id)
    if record is None:
        yield f"{order.order_id} has no lane"
        return
    yield from _unlike_a_replay(order, record)
    yield from _ended_wrong(order, evidence.tasks.get(order.order_id))
    told, due = evidence.alerts.get(order.order_id, 0), 1 if order.troubled else 0
    # On a slow machine, events that changed places may be so far apart that it looks like a gap.
    if told != due and not (order.story is Story.SWAPPED and told == 1):
        yield f"{order.order_id}: an operator was told of its lane {told} times; {due} would be right"
    if order.troubled and order.order_id not in evidence.stood:
        yield f"{order.order_id} did not wait at event {order.troubled}"


def _unlike_a_replay(order: LedgerOrder, record: LaneRecord) -> Iterator[str]:
    applied = [kept for kept in record.kept if 0 < kept.position <= record.lane.last and not kept.skipped]
    again = [position for position, times in Counter(kept.position for kept in applied).items() if times > 1]
    if again:
        yield f"{order.order_id}: applied more than once: {again}"
    if [kept.position for kept in applied] != list(range(1, len(order.entries) + 1)):
        yield f"{order.order_id}: {len(applied)} of its {len(order.entries)} events are applied"
    meant = {entry["sequence"]: event_of(entry).digest for entry in order.entries}
    yield from (
        f"{order.order_id}: event {kept.position} is not the one that its customer meant"
        for kept in applied
        if kept.event.digest != meant.get(kept.position)
    )
    if record.lane.end != len(order.entries) or record.lane.blocked:
        yield f"{order.order_id}: its lane did not come to its end"


def _ended_wrong(order: LedgerOrder, task: Task | None) -> Iterator[str]:
    undone = order.given_up or order.story is Story.CANCELLED
    ends = ProcessState.UNDONE if undone else ProcessState.PROCESSED
    if task is None:
        yield f"{order.order_id} was not submitted"
    elif task.process_state is not ends:
        yield f"{order.order_id} is {task.process_state}; it should be {ends}"
