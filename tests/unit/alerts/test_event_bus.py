"""What programs get of a failed step when the event bus takes only a part, or nothing."""

import json
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace

import pytest
from moto import mock_aws

from stepward.adapters.alerts.both import OperatorAlerts
from stepward.adapters.alerts.event_bus import EventBus, detail
from stepward.domain.convoy.lane import Alerted
from stepward.domain.deployment import Deployment
from stepward.domain.errors import HalfAlerted, Misconfigured, Transient
from stepward.domain.messages import AgentDefect, Alert, LaneWaits, StepFailed
from tests.contract.worlds.queue_worlds import SqsWorld
from tests.unit.alerts.flaky_event_bus import FlakyEvents


def alerts(*orders: str, remaining_effects: tuple[str, ...] = ()) -> list[StepFailed]:
    return [StepFailed(order, "charge", 3, "card declined", 1_000_000, remaining_effects) for order in orders]


def put(batch: Sequence[Alert], events: FlakyEvents | None = None, error: str = "") -> FlakyEvents:
    """The alerts are put on the bus, and nothing is wrong, or this."""
    events = events or FlakyEvents()
    with pytest.raises(Transient, match=error) if error else nullcontext():
        EventBus(events.client()).put(batch)
    return events


def test_an_event_says_what_the_alert_says() -> None:
    """S7."""
    events = put(alerts("a"))
    (entry,) = events.entries
    assert (entry["Source"], entry["EventBusName"]) == ("stepward", "default")
    assert entry["DetailType"] == "stepward.step.failed"
    assert json.loads(entry["Detail"])["alertId"] == "a/charge/3"


def test_an_event_names_the_deployment_that_it_leaves() -> None:
    """D3: a rule of one deployment matches no other one's events."""
    events = FlakyEvents()
    EventBus(events.client(), deployment=Deployment("shop-prod")).put(alerts("a"))
    assert json.loads(events.entries[0]["Detail"])["stack"] == "shop-prod"


def test_an_entry_that_fails_once_is_put_again_alone() -> None:
    """S22: the answer is 200, and one entry was not taken."""
    events = FlakyEvents(lambda order, attempt: "ThrottlingException" if (order, attempt) == ("b", 1) else "")
    put(alerts("a", "b", "c"), events)
    assert events.calls == [["a", "b", "c"], ["b"]]
    assert sorted(events.taken) == ["a", "b", "c"]


def test_entries_that_fail_twice_are_counted_in_the_error() -> None:
    """S22: whoever put them has to put them again."""
    events = FlakyEvents(lambda order, _: "InternalFailure" if order in "bc" else "")
    put(alerts("a", "b", "c"), events, r"2 of 3 messages were not taken \(InternalFailure\)")


def test_an_entry_that_can_never_be_taken_is_not_put_again() -> None:
    events = FlakyEvents(lambda order, _: "MalformedDetail" if order == "b" else "")
    put(alerts("a", "b"), events, "MalformedDetail")
    assert events.calls == [["a", "b"]]


def test_an_entry_that_the_answer_does_not_name_counts_as_failed() -> None:
    """S22."""
    events = FlakyEvents(forgets=1)
    put(alerts("a", "b"), events, r"1 of 2 messages were not taken \(NotAnswered\)")
    assert events.calls == [["a", "b"], ["b"]]


def test_many_go_in_calls_of_ten() -> None:
    events = put(alerts(*(f"ord-{number}" for number in range(23))))
    assert [len(call) for call in events.calls] == [10, 10, 3]


def test_a_failed_undo_has_a_type_of_its_own() -> None:
    """S17."""
    events = put([*alerts("a"), *alerts("b", remaining_effects=("charge",))])
    assert [(entry["DetailType"], json.loads(entry["Detail"])["remainingEffects"]) for entry in events.entries] == [
        ("stepward.step.failed", []),
        ("stepward.undo.failed", ["charge"]),
    ]


def test_steps_and_lanes_that_come_together_each_have_their_type() -> None:
    """C6."""
    events = FlakyEvents()
    lane = [LaneWaits("b", str(n), what, "no", 1_000_000) for n, what in enumerate((Alerted.GAP, Alerted.BLOCKED))]
    EventBus(events.client()).put([*lane, *alerts("a")])
    kinds = [entry["DetailType"] for entry in events.entries]
    assert kinds == ["stepward.step.failed", "stepward.lane.blocked", "stepward.lane.gap"]


def test_machines_read_the_parts_of_a_key_apart() -> None:
    (found,) = alerts("fulfilment~acme~1042")
    named = {"orderId": "1042", "workflow": "fulfilment", "customerId": "acme"}
    assert {name: json.loads(detail(found, Deployment(workflow="fulfilment")))[name] for name in named} == named
    assert "customerId" not in json.loads(detail(replace(found, order_id="1042"), Deployment(workflow="fulfilment")))


def test_no_alerts_make_no_call() -> None:
    events = put([])
    assert events.calls == []


@pytest.mark.parametrize(
    ("code", "error"), [("AccessDeniedException", Misconfigured), ("InternalException", Transient)]
)
def test_a_bus_that_refuses_the_call_is_misconfigured_or_away(code: str, error: type[Exception]) -> None:
    with pytest.raises(error, match="event bus default"):
        EventBus(FlakyEvents(refuses_all=code).client()).put(alerts("a"))


def test_people_are_alerted_of_what_the_bus_refuses_and_it_counts_as_half() -> None:
    """S7: so only machines are told again, under the same id."""
    refusing = EventBus(FlakyEvents(refuses_all="InternalException").client())
    with mock_aws():
        world = SqsWorld.new({})
        with pytest.raises(HalfAlerted, match="InternalException"):
            replace(world.alerts, machines=refusing).send(*alerts("a"))
        assert world.alerted(1) == [("a/charge/3", "a", "charge", 3)]
        with pytest.raises(HalfAlerted, match="InternalException"):
            replace(world.alerts, machines=refusing).summarise(alerts("b", "c"))
        assert world.summaries() == ["2"]


def test_machines_are_alerted_though_the_topic_fails() -> None:
    """S7: it counts as failed, so both are told again."""
    events = FlakyEvents()
    with mock_aws():
        world = SqsWorld.new({})
        gone = replace(world.alerts.people, topic=f"{world.alerts.people.topic}-gone")
        with pytest.raises(Misconfigured, match="NotFound"):
            OperatorAlerts(gone, EventBus(events.client())).send(*alerts("a"))
    assert events.taken == ["a"]


def test_a_type_of_event_that_fails_keeps_no_other_one_back() -> None:
    """S7."""
    events = FlakyEvents(lambda order, _: "MalformedDetail" if order == "a" else "")
    put([*alerts("a"), *alerts("b", remaining_effects=("charge",))], events, "MalformedDetail")
    assert events.taken == ["b"]


def test_an_event_of_a_defect_names_agent_and_exception() -> None:
    """S20."""
    defect = AgentDefect("shipping", "ship", "KeyError", "fulfilment.py:53 ship", "KeyError: 'x'", 3, 1_000, 2_000)
    (entry,) = put([defect]).entries
    assert entry["DetailType"] == "stepward.agent.defect"
    detail = json.loads(entry["Detail"])
    assert (detail["agent"], detail["operation"], detail["error"]) == ("shipping", "ship", "KeyError: 'x'")
    assert (detail["orders"], detail["since"], detail["over"]) == (3, 1_000, False)
    assert "orderId" not in detail
