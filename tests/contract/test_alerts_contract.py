"""What every implementation of the alerts promises, to people and to machines."""

from dataclasses import replace

import pytest

from stepward.domain.convoy.lane import Alerted
from stepward.domain.messages import LaneWaits, StepFailed
from tests.contract.worlds.queue_worlds import QueueWorld

ALERT = StepFailed("ord-1", "charge", 3, "card declined", 1_000_000)


def test_an_alert_arrives_with_its_id_and_the_names_of_its_order_and_step(queue_world: QueueWorld) -> None:
    """S7."""
    assert queue_world.alerts.send(ALERT)
    assert queue_world.alerted(1) == [("ord-1/charge/3", "ord-1", "charge", 3)]


def test_an_alert_sent_twice_carries_the_same_id(queue_world: QueueWorld) -> None:
    """S7: people can recognise the second one."""
    for at in (1_000_000, 2_000_000):
        queue_world.alerts.send(StepFailed("ord-1", "charge", 3, "card declined", at))
    assert [alert[0] for alert in queue_world.alerted(2)] == ["ord-1/charge/3"] * 2


@pytest.mark.parametrize(
    ("remaining_effects", "kind"), [((), "stepward.step.failed"), (("charge", "reserve"), "stepward.undo.failed")]
)
def test_machines_get_the_same_alert(hearing_world: QueueWorld, remaining_effects: tuple[str, ...], kind: str) -> None:
    """S7: as an event with everything that the text says."""
    hearing_world.alerts.send(replace(ALERT, remaining_effects=remaining_effects))
    alert = {"alertId": "ord-1/charge/3", "orderId": "ord-1", "step": "charge", "attempt": 3}
    detail = {"reason": "card declined", "at": 1_000_000, "remainingEffects": list(remaining_effects)}
    assert hearing_world.heard(1) == [(kind, alert | detail)]


def test_the_events_of_an_alert_sent_twice_carry_the_same_id(hearing_world: QueueWorld) -> None:
    """S7."""
    for at in (1_000_000, 2_000_000):
        hearing_world.alerts.send(StepFailed("ord-1", "charge", 3, "card declined", at))
    assert [event["alertId"] for _, event in hearing_world.heard(2)] == ["ord-1/charge/3"] * 2


def test_a_summary_is_one_message_for_people_and_one_event_for_each_alert(hearing_world: QueueWorld) -> None:
    """S7: more alerts than one call can take."""
    failed = [StepFailed(f"ord-{number}", "charge", 3, "card declined", 1_000_000) for number in range(23)]

    hearing_world.alerts.summarise(failed)

    assert hearing_world.summaries() == ["23"]
    assert {event["orderId"] for _, event in hearing_world.heard(23)} == {alert.order_id for alert in failed}


def test_a_summary_arrives_with_its_counts(queue_world: QueueWorld) -> None:
    """S7."""
    queue_world.alerts.summarise([ALERT, StepFailed("ord-2", "ship", 1, "no stock", 1_000_000)])
    assert queue_world.summaries() == ["2"]


@pytest.mark.parametrize("trouble", ["blocked", "gap", "idle"])
def test_a_lane_that_waits_has_a_type_of_its_own_for_machines(hearing_world: QueueWorld, trouble: str) -> None:
    """C6: people and machines learn which event it is, and what holds the lane up."""
    hearing_world.alerts.send(LaneWaits("ord-1", "5", Alerted(trouble), "op: no create", 1_000_000))
    alert_id = f"ord-1/event 5/{trouble}/1000000"
    assert hearing_world.alerted(1) == [(alert_id, "ord-1", "event 5", 0)]
    detail = {"alertId": alert_id, "orderId": "ord-1", "event": "5", "trouble": trouble, "at": 1_000_000}
    assert hearing_world.heard(1) == [(f"stepward.lane.{trouble}", detail | {"reason": "op: no create"})]
