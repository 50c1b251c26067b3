"""The alerts of lanes: in time, and once per trouble."""

from stepward.app.convoy.alerting import alert_of
from stepward.domain.convoy.lane import Alerted, LaneRules
from stepward.domain.messages import Alert
from stepward.testing.memory.queues import MemoryAlerts
from tests.factories import HOUR, MINUTE, of_lanes
from tests.lab.convoy.gate import Fault
from tests.lab.convoy.world import ConvoyWorld, entry, order
from tests.unit.convoy.lanes import arrive, poisoned, with_gap


def check_after(world: ConvoyWorld, milliseconds: int) -> int:
    """The Supervisor sweeps the lanes after this time; how many alerts were sent by then."""
    world.clock.now += milliseconds
    world.lane_sweep()
    return len(world.alerts.told)


def test_a_gap_is_told_once_and_not_before_its_time() -> None:
    """C5, I9."""
    world, events = with_gap(3)

    before = check_after(world, world.rules.gap_within - 1)
    check_after(world, 1)
    world.run(events[2])
    check_after(world, HOUR)

    assert before == 0
    assert [(alert.event, alert.trouble, alert.reason) for alert in of_lanes(world.alerts.told)] == [
        ("2", Alerted.GAP, "event 2 has not come, and 3 has")
    ]
    assert list(world.lanes.needing_attention()) == ["A"]


def test_another_gap_is_another_trouble() -> None:
    world, events = ConvoyWorld(), order("A", 5)
    world.run(events[0], events[2], events[4])
    check_after(world, world.rules.gap_within)
    world.run(events[1])
    check_after(world, world.rules.gap_within)

    assert [alert.event for alert in of_lanes(world.alerts.told)] == ["2", "4"]


def test_an_order_whose_end_never_comes_is_alerted_of_if_the_deployment_wants_that() -> None:
    """C5: convoy_end_never_comes; another event begins the time anew."""
    world = ConvoyWorld(rules=LaneRules(idle_after=24 * HOUR))
    world.run(*order("A", 2))
    world.run(*order("B", 2, end=True))
    for _ in range(3):
        check_after(world, 24 * HOUR)
    alerted = [(alert.order_id, alert.trouble) for alert in of_lanes(world.alerts.told)]
    world.run(entry("A", 3, "add"))

    assert alerted == [("A", Alerted.IDLE)]
    assert (world.applied(), world.lane().alerted) == ([1, 2, 3], Alerted.NOTHING)


def test_nobody_is_alerted_of_an_idle_order_unless_that_is_asked_for() -> None:
    world = ConvoyWorld()
    world.run(*order("A", 2))
    assert world.lane().due is None


def test_a_summary_is_noted_for_the_trouble_that_was_in_it_only() -> None:
    """C6: the lane is blocked by another event when the alert of the first one is noted."""
    world = ConvoyWorld()
    world.alerts = Deaf()
    poisoned(2, 3, world=world)
    first = alert_of(world.lane(), Alerted.BLOCKED)
    world.skip("A", 2)
    world.clock.now += 1
    world.run()

    world.alerting().confirm(first, world.clock())
    unknown = world.lane().alerted
    world.alerting().confirm(alert_of(world.lane(), Alerted.BLOCKED), world.clock())

    assert (unknown, world.lane().alerted) == (Alerted.NOTHING, Alerted.BLOCKED)


class Deaf(MemoryAlerts):
    """Holds every alert back for a summary."""

    def send(self, alert: Alert) -> bool:
        """See the port."""
        self.events.append(alert)
        return False


def test_an_alert_that_could_not_be_sent_is_sent_by_the_supervisor() -> None:
    """I9: the lane stays in the index until an operator is alerted."""
    world, events = ConvoyWorld(), order("A", 2)
    events[1]["op"] = "remove"
    arrive(world, *events)
    world.gate.arm(Fault.FAILS, at="Alerts.send")
    world.work(world.events.receive())
    before = len(world.alerts.told)

    assert (before, check_after(world, world.rules.alert_within)) == (0, 1)
    assert world.lane().alerted is Alerted.BLOCKED


def test_an_alert_is_sent_once_however_often_the_event_comes() -> None:
    """C6: the operator is alerted once per trouble."""
    world = poisoned(2)
    poisoned(2, world=world)

    assert check_after(world, 60 * MINUTE) == 1
    assert (world.lane().alerted, world.lane().due) == (Alerted.BLOCKED, None)
