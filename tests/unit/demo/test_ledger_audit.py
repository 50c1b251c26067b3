"""The audit of the ledgers finds each thing that can be wrong with a lane (I7)."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from orders.demo.ledger_audit import LaneRecord, LedgerEvidence, audit_ledgers
from orders.demo.ledgers import LedgerOrder, Story, ledger_scenario
from stepward.domain.convoy.event import StoredEvent
from stepward.domain.convoy.lane import Blocked, Lane
from stepward.domain.rejects import Reject
from stepward.domain.task.record import ProcessState, StepRecord, Task
from stepward.local.services import Effect
from stepward.wire.order_event import event_of
from tests.factories import T0

TEMPLATE = json.loads((Path(__file__).parents[3] / "events" / "orders" / "order.json").read_text())
SCENARIO = ledger_scenario(12, 1, TEMPLATE)
PLAIN = next(order for order in SCENARIO.orders if order.story is Story.PLAIN)
LATE = next(order for order in SCENARIO.orders if order.story is Story.LATE)


def record(order: LedgerOrder) -> LaneRecord:
    kept = [StoredEvent(number, event_of(entry)) for number, entry in enumerate(order.entries, start=1)]
    end = len(kept)
    return LaneRecord(Lane(order.order_id, last=end, highest=end, end=end, created=True), kept)


def task(order: LedgerOrder) -> Task:
    undone = "cancelled" if order.story is Story.CANCELLED else ""
    steps = {"ship": StepRecord(order.order_id, "ship", ProcessState.PROCESSED)}
    return Task(order.order_id, "plan", T0, steps, None, undoing=undone)


def reject(number: int) -> Reject:
    return Reject(f"m-{number}", "ledger of customer-north", T0, "orderId", "is missing", "{}")


def good() -> LedgerEvidence:
    return LedgerEvidence(
        lanes={order.order_id: record(order) for order in SCENARIO.orders},
        tasks={order.order_id: task(order) for order in SCENARIO.orders},
        rejects=[reject(number) for number in range(SCENARIO.rejected)],
        alerts={order.order_id: 1 for order in SCENARIO.orders if order.troubled},
        waited=frozenset(order.order_id for order in SCENARIO.orders if order.troubled),
        effects=[],
    )


def with_lane(order: LedgerOrder, lane: LaneRecord) -> LedgerEvidence:
    evidence = good()
    return replace(evidence, lanes={**evidence.lanes, order.order_id: lane})


def faults(evidence: LedgerEvidence) -> str:
    return "\n".join(audit_ledgers(SCENARIO, evidence).faults)


def test_nothing_is_wrong_where_every_lane_is_a_plain_replay() -> None:
    findings = audit_ledgers(SCENARIO, good())
    assert findings.faults == ()
    assert "2 orders waited for an operator and delayed no other; 0 faults" in findings.summary


def test_a_lane_without_its_record_is_a_fault() -> None:
    evidence = good()
    assert f"{PLAIN.order_id} has no lane" in faults(replace(evidence, lanes={}))


@pytest.mark.parametrize("missing", [0, 2, -1])
def test_an_event_that_was_not_applied_is_a_fault(missing: int) -> None:
    lane = record(PLAIN)
    kept = [one for number, one in enumerate(lane.events) if number != missing % len(lane.events)]
    assert "events are applied" in faults(with_lane(PLAIN, replace(lane, events=kept)))


def test_two_events_that_changed_places_are_a_fault() -> None:
    lane = record(PLAIN)
    first, second, *rest = lane.events
    swapped = [replace(second, position=1), replace(first, position=2), *rest]
    assert "is not the one that its customer meant" in faults(with_lane(PLAIN, replace(lane, events=swapped)))


def test_an_event_that_was_applied_twice_is_a_fault() -> None:
    lane = record(PLAIN)
    assert "applied more than once: [1]" in faults(
        with_lane(PLAIN, replace(lane, events=[lane.events[0], *lane.events]))
    )


@pytest.mark.parametrize("change", [{"end": 0}, {"blocked": Blocked(3, "why", T0)}])
def test_a_lane_that_did_not_come_to_its_end_is_a_fault(change: dict[str, object]) -> None:
    lane = record(PLAIN)
    ended = replace(lane, lane=replace(lane.lane, **change))  # type: ignore[arg-type]
    assert "did not come to its end" in faults(with_lane(PLAIN, ended))


@pytest.mark.parametrize("times", [0, 2])
def test_an_operator_has_to_hear_of_a_waiting_lane_once(times: int) -> None:
    evidence = good()
    alerts = {**evidence.alerts, LATE.order_id: times}
    assert f"got {times} alerts about its lane; it should be 1" in faults(replace(evidence, alerts=alerts))


def test_an_operator_must_not_hear_of_a_lane_that_went_well() -> None:
    evidence = good()
    alerts = {**evidence.alerts, PLAIN.order_id: 1}
    assert "got 1 alerts about its lane; it should be 0" in faults(replace(evidence, alerts=alerts))


def test_a_gap_that_held_nobody_up_is_a_fault() -> None:
    assert f"{LATE.order_id} did not wait" in faults(replace(good(), waited=frozenset()))


def test_a_task_that_ended_otherwise_is_a_fault() -> None:
    evidence = good()
    wrong = replace(evidence.tasks[PLAIN.order_id], undoing="why")
    assert "is Undone; it should be Processed" in faults(
        replace(evidence, tasks={**evidence.tasks, PLAIN.order_id: wrong})
    )
    assert f"{PLAIN.order_id} was not submitted" in faults(replace(evidence, tasks={}))


def test_an_entry_that_nobody_kept_is_a_fault() -> None:
    assert "are in the rejects; it should be" in faults(replace(good(), rejects=[]))


def test_an_effect_that_was_had_twice_is_a_fault() -> None:
    effect = Effect(T0, "shipping", "ship", f"{PLAIN.order_id}/ship", "", 1, undid=False)
    assert "had its effect 2 times" in faults(replace(good(), effects=[effect, effect]))
