"""The audit of the ledgers finds each thing that can be wrong with a lane (I7)."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orders.demo.ledger_audit import LaneRecord, LedgerEvidence, SentAlert, alerts_about, audit_ledgers
from orders.demo.ledger_play import sent_alerts
from orders.demo.ledgers import LedgerOrder, Story, ledger_scenario
from stepward.domain.convoy.event import StoredEvent
from stepward.domain.convoy.lane import Blocked, Lane
from stepward.domain.history import HistoryEntry, HistoryKind
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
    events = [StoredEvent(number, event_of(entry)) for number, entry in enumerate(order.entries, start=1)]
    end = len(events)
    return LaneRecord(Lane(order.order_id, last=end, highest=end, end=end, created=True), events)


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


Change = Callable[[LedgerEvidence], LedgerEvidence]


def lane(**changes: Any) -> Change:
    """Change the record of the plain order's lane."""
    return lambda right: replace(right, lanes={**right.lanes, PLAIN.order_id: replace(record(PLAIN), **changes)})


def alerts(order: LedgerOrder, times: int) -> Change:
    return lambda right: replace(right, alerts={**right.alerts, order.order_id: times})


def undoing(right: LedgerEvidence) -> LedgerEvidence:
    return replace(right, tasks={**right.tasks, PLAIN.order_id: replace(right.tasks[PLAIN.order_id], undoing="why")})


EVENTS = record(PLAIN).events
WHOLE = record(PLAIN).lane
SHIPPED = Effect(T0, "shipping", "ship", f"{PLAIN.order_id}/ship", "", 1, undid=False)


@pytest.mark.parametrize(
    ("sent", "confirmed", "count"),
    [
        ([("a", 1)], {}, 1),
        ([("a", 1), ("a", 5)], {}, 1),
        ([("a", 1), ("a", 5)], {"led": 5}, 1),
        ([("a", 1), ("a", 5)], {"led": 4}, 2),
        ([("a", 1), ("b", 2)], {}, 2),
        ([("", 1), ("a", 2)], {"led": 3}, 1),
        ([("a", 1), ("", 4)], {"led": 3}, 2),
    ],
)
def test_an_alert_that_is_sent_again_counts_once_until_it_is_confirmed(
    sent: list[tuple[str, int]], confirmed: dict[str, int], count: int
) -> None:
    assert alerts_about([SentAlert("led", name, at) for name, at in sent], confirmed) == {"led": count}


def test_the_alerts_of_a_message_are_read_from_what_the_topic_sends() -> None:
    name = {"alertId": {"Type": "String", "Value": "led-1/event 3/gap/5"}}
    message = {"Message": "stepward convoy show led-1", "Timestamp": "1970-01-01T00:00:02.000Z"}
    assert [*sent_alerts(json.dumps(message | {"MessageAttributes": name}), ["led-1", "led-2"])] == [
        SentAlert("led-1", "led-1/event 3/gap/5", 2000)
    ]
    assert [each.alert_id for each in sent_alerts(json.dumps(message), ["led-1"])] == [""]
    assert [*sent_alerts(json.dumps(message | {"Message": "stepward show led-1"}), ["led-1"])] == []


def test_an_order_whose_attempts_ran_out_of_time_is_late_and_no_fault() -> None:
    failed = StepRecord(PLAIN.order_id, "ship", ProcessState.ERROR, attempt=3)
    history = (HistoryEntry(T0, HistoryKind.FAILED, "ship", 3, value=900),)
    late = replace(task(PLAIN), steps={"ship": failed}, history=history)
    findings = audit_ledgers(SCENARIO, replace(good(), tasks={**good().tasks, PLAIN.order_id: late}))
    assert findings.faults == ()
    assert findings.late == (f"{PLAIN.order_id} ended Error: ship had no answer in time, 3 attempts",)


def test_nothing_is_wrong_where_every_lane_is_a_plain_replay() -> None:
    findings = audit_ledgers(SCENARIO, good())
    assert findings.faults == ()
    assert "2 orders waited for an operator and delayed no other; 0 faults" in findings.summary
    assert audit_ledgers(SCENARIO, alerts(LATE, 0)(good())).summary.endswith("; 1 fault")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda right: replace(right, lanes={}), f"{PLAIN.order_id} has no lane"),
        (lane(events=EVENTS[1:]), "events are applied"),
        (lane(events=[*EVENTS[:2], *EVENTS[3:]]), "events are applied"),
        (lane(events=EVENTS[:-1]), "events are applied"),
        (
            lane(events=[replace(EVENTS[1], position=1), replace(EVENTS[0], position=2), *EVENTS[2:]]),
            "is not the one that its customer meant",
        ),
        (lane(events=[EVENTS[0], *EVENTS]), "applied more than once: [1]"),
        (lane(lane=replace(WHOLE, end=0)), "did not come to its end"),
        (lane(lane=replace(WHOLE, blocked=Blocked(3, "why", T0))), "did not come to its end"),
        (alerts(LATE, 0), "got 0 alerts about its lane; it should be 1"),
        (alerts(LATE, 2), "got 2 alerts about its lane; it should be 1"),
        (alerts(PLAIN, 1), "got 1 alerts about its lane; it should be 0"),
        (lambda right: replace(right, waited=frozenset()), f"{LATE.order_id} did not wait"),
        (undoing, "is Undone; it should be Processed"),
        (lambda right: replace(right, tasks={}), f"{PLAIN.order_id} was not submitted"),
        (lambda right: replace(right, rejects=[]), "are in the rejects; it should be"),
        (lambda right: replace(right, effects=[SHIPPED, SHIPPED]), "had its effect 2 times"),
    ],
)
def test_whatever_is_wrong_with_a_lane_is_a_fault(change: Change, fault: str) -> None:
    assert fault in "\n".join(audit_ledgers(SCENARIO, change(good())).faults)
