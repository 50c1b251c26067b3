"""Audits the ledgers: each order's events were applied in sequence and once, and no order delayed another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from orders.demo.audit import ended_late
from orders.demo.ledgers import LedgerOrder, LedgerScenario, Story
from orders.demo.limits import out_of_time
from stepward.domain.convoy.event import StoredEvent
from stepward.domain.convoy.lane import Lane
from stepward.domain.rejects import Reject
from stepward.domain.task.record import ProcessState, Task
from stepward.local.services import Effect
from stepward.wire.order_event import event_of


@dataclass(frozen=True, slots=True)
class LaneRecord:
    """A lane at the end, and its stored events in the order of their positions."""

    lane: Lane
    events: Sequence[StoredEvent]


@dataclass(frozen=True, slots=True)
class SentAlert:
    """An alert to operators about an order's lane, and when it was sent (epoch ms); one of a summary has no id."""

    order_id: str
    alert_id: str
    at: int


@dataclass(frozen=True, slots=True)
class LedgerEvidence:
    """The state at the end. `waited` are the orders that waited for an operator while all others came to their end.

    `alerts` counts the alerts to operators about each order's lane, as `alerts_about` does.
    """

    lanes: Mapping[str, LaneRecord]
    tasks: Mapping[str, Task]
    rejects: Sequence[Reject]
    alerts: Mapping[str, int]
    waited: frozenset[str]
    effects: Sequence[Effect]


@dataclass(frozen=True, slots=True)
class LedgerFindings:
    """The result of the audit; each fault is a line, and so is each order that is `late` as in the orders' audit."""

    summary: str
    faults: tuple[str, ...]
    late: tuple[str, ...] = ()


def audit_ledgers(scenario: LedgerScenario, evidence: LedgerEvidence) -> LedgerFindings:
    """Compare every lane with a plain replay of the events that its customer meant."""
    faults = [fault for order in scenario.orders for fault in _faults_of(order, evidence)]
    done = Counter(effect.key for effect in evidence.effects if not effect.undo_of)
    faults += [f"{key} had its effect {times} times" for key, times in done.items() if times > 1]
    known = {order.order_id for order in scenario.orders}
    rejects = [each for each in evidence.rejects if each.order_id in known or each.source.startswith("ledger of")]
    if len(rejects) != scenario.rejected:
        faults.append(f"{len(rejects)} entries are in the rejects; it should be {scenario.rejected}")
    applied = sum(record.lane.last for record in evidence.lanes.values())
    summary = (
        f"ledgers: {scenario.entries} entries of {len(scenario.orders)} orders: {applied} applied in sequence, "
        f"{len(rejects)} rejected and stored; {len(evidence.waited)} orders waited for an operator and delayed no "
        f"other; {len(faults)} fault{'' if len(faults) == 1 else 's'}"
    )
    return LedgerFindings(summary, tuple(faults), tuple(_late(scenario, evidence)))


def alerts_about(sent: Sequence[SentAlert], confirmed: Mapping[str, int]) -> Counter[str]:
    """How many alerts count for each order: every other trouble, and a repeated alert that was `confirmed` before.

    Alerts come at least once: one that is not noted yet is sent again, which is as it must be. `confirmed` is when
    (epoch ms) somebody saw on the lane that it was alerted; what was sent after that cannot be excused.
    """
    counts: Counter[str] = Counter()
    heard: dict[str, set[str]] = {}
    for alert in sorted(sent, key=lambda alert: alert.at):
        names = heard.setdefault(alert.order_id, set())
        repeats = bool(names) and (alert.alert_id in names or "" in {alert.alert_id, *names})
        noted = alert.at > confirmed.get(alert.order_id, alert.at)
        counts[alert.order_id] += not repeats or noted
        names.add(alert.alert_id)
    return counts


def _faults_of(order: LedgerOrder, evidence: LedgerEvidence) -> Iterator[str]:
    record = evidence.lanes.get(order.order_id)
    if record is None:
        yield f"{order.order_id} has no lane"
        return
    yield from _unlike_a_replay(order, record)
    yield from _ended_wrong(order, evidence.tasks.get(order.order_id))
    alerts, due = evidence.alerts.get(order.order_id, 0), 1 if order.troubled else 0
    # On a slow machine, swapped events may arrive so far apart that the lane has a gap.
    if alerts != due and not (order.story is Story.SWAPPED and alerts == 1):
        yield f"{order.order_id}: operators got {alerts} alerts about its lane; it should be {due}"
    if order.troubled and order.order_id not in evidence.waited:
        yield f"{order.order_id} did not wait at event {order.troubled}"


def _unlike_a_replay(order: LedgerOrder, record: LaneRecord) -> Iterator[str]:
    applied = [each for each in record.events if 0 < each.position <= record.lane.last and not each.skipped]
    again = [position for position, times in Counter(each.position for each in applied).items() if times > 1]
    if again:
        yield f"{order.order_id}: applied more than once: {again}"
    if [each.position for each in applied] != list(range(1, len(order.entries) + 1)):
        yield f"{order.order_id}: {len(applied)} of its {len(order.entries)} events are applied"
    meant = {entry["sequence"]: event_of(entry).digest for entry in order.entries}
    yield from (
        f"{order.order_id}: event {each.position} is not the one that its customer meant"
        for each in applied
        if each.event.digest != meant.get(each.position)
    )
    if record.lane.end != len(order.entries) or record.lane.blocked:
        yield f"{order.order_id}: its lane did not come to its end"


def _ended_wrong(order: LedgerOrder, task: Task | None) -> Iterator[str]:
    if task is None:
        yield f"{order.order_id} was not submitted"
    elif task.process_state is not (ends := _ends(order)) and not out_of_time(task):
        yield f"{order.order_id} is {task.process_state}; it should be {ends}"


def _late(scenario: LedgerScenario, evidence: LedgerEvidence) -> Iterator[str]:
    for order in scenario.orders:
        task = evidence.tasks.get(order.order_id)
        if task and task.process_state is not _ends(order) and (step := out_of_time(task)):
            yield ended_late(order.order_id, task, step)


def _ends(order: LedgerOrder) -> ProcessState:
    return ProcessState.UNDONE if order.given_up or order.story is Story.CANCELLED else ProcessState.PROCESSED
