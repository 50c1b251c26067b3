"""What every implementation of the alerts promises."""

from stepward.domain.messages import Alert
from tests.contract.queue_worlds import QueueWorld


def test_an_alert_arrives_with_the_names_of_its_order_step_and_fact(queue_world: QueueWorld) -> None:
    """S7: an operator is told."""
    alert = Alert("ord-1", "charge", 3, "card declined", 1_000_000)
    queue_world.alerts.tell(alert)
    assert queue_world.told(1) == [("ord-1/charge/3", "ord-1", "charge", 3)]


def test_an_alert_told_twice_carries_the_same_id(queue_world: QueueWorld) -> None:
    """S7: a second telling of one fact can be recognised."""
    for at in (1_000_000, 2_000_000):
        queue_world.alerts.tell(Alert("ord-1", "charge", 3, "card declined", at))
    assert [told[0] for told in queue_world.told(2)] == ["ord-1/charge/3"] * 2
