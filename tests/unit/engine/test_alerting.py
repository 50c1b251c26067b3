"""S7: operators are alerted to every Error, once; in an outage by one message that says how many there are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from stepward.app.alerting import Throttled
from stepward.app.supervisor.supervise import TIME_PER_ALERT, TIME_TO_FINISH
from stepward.domain.coordination.alert_limit import MOST_SINGLES, SPAN
from stepward.domain.errors import Misconfigured, StepwardError, Transient
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Alert, Outcome, Start, StepFailed
from stepward.domain.submission import Order
from stepward.domain.task.record import new_task
from stepward.testing.memory.queues import MemoryAlerts
from stepward.wire.messages import decode_request, encode
from tests.factories import MINUTE, answer, order_text, sequence
from tests.unit.engine.troubled import TroubledRecords
from tests.unit.engine.world import World

PLENTY = 10 * MINUTE


class Died(BaseException):
    """The process is gone."""


@dataclass(frozen=True, slots=True)
class Fragile(MemoryAlerts):
    """Does something after a summary was sent, or fails instead."""

    after: Callable[[], None] = field(default=lambda: None)
    instead: StepwardError | None = None

    def summarise(self, alerts: Sequence[Alert]) -> None:
        if self.instead:
            raise self.instead
        MemoryAlerts.summarise(self, alerts)
        self.after()


def fragile(world: World, **how: Any) -> MemoryAlerts:
    """Make the alerts fragile; those from before, which record the same."""
    before = world.alerts
    world.alerts = Fragile(before.told, before.summaries, before.events, **how)
    return before


def running(count: int) -> World:
    """Orders whose only step is claimed for its only attempt."""
    world = World(plan=sequence("charge", threshold=1))
    world.queues = replace(world.queues, backlog=count + 1)
    for number in range(count):
        submit_and_start(world, f"ord-{number}")
    return world


def submit_and_start(world: World, order_id: str) -> None:
    task = new_task(order_id, world.plan, world.clock.now, world.timing)
    world.store.submit(Order(order_id, order_text(order_id), order_id), task, world.plan)
    world.transition().apply(order_id, Start(order_id))


def overdue(count: int) -> World:
    """The same, past complete-by: the next sweep ends each in Error."""
    world = running(count)
    world.clock.now += 2 * MINUTE
    return world


def sweep(world: World, after: int = 0) -> None:
    world.clock.now += after
    world.supervise().sweep(lambda: PLENTY)


def unsent(world: World) -> int:
    """How many alerts are still to be sent."""
    return sum(task.steps["charge"].alert_by is not None for task in world.store.tasks.values())


def fail_for_good(world: World) -> None:
    """The agents refuse every order, and the Scheduler gets their replies."""
    for text in list(world.drain(world.queues.agents["worker"])):
        from_agent = answer(decode_request(text), Outcome.PERMANENT, error="card declined")
        world.schedule().handle(encode(from_agent))


def test_four_thousand_failures_are_ten_alerts_and_one_summary() -> None:
    """S7: in one sweep; each is noted as sent, so none is sent again."""
    world = overdue(4_000)

    sweep(world)

    assert len(world.alerts.told) == MOST_SINGLES
    assert [len(summary) for summary in world.alerts.summaries] == [4_000 - MOST_SINGLES]
    assert len({alert.alert_id for alert in world.alerts.events}) == len(world.alerts.events) == 4_000
    assert (unsent(world), world.telemetry.count(HistoryKind.ALERTED)) == (0, 4_000)
    assert all(task.due is None for task in world.store.tasks.values())


def test_a_summary_is_not_repeated() -> None:
    """S7: once per Error."""
    world = overdue(30)
    for _ in range(4):
        sweep(world, after=2 * MINUTE)

    assert (len(world.alerts.told), len(world.alerts.summaries)) == (MOST_SINGLES, 1)


def test_the_supervisor_sends_what_the_scheduler_held_back_in_one_message() -> None:
    """S7: the agents refuse 30 orders within a moment."""
    world = running(30)
    fail_for_good(world)
    assert (len(world.alerts.told), unsent(world)) == (MOST_SINGLES, 20)

    sweep(world, after=2 * MINUTE)

    assert [len(summary) for summary in world.alerts.summaries] == [20]
    assert (len(world.alerts.told), unsent(world)) == (MOST_SINGLES, 0)


def test_few_alerts_are_sent_one_by_one() -> None:
    """S7."""
    world = overdue(MOST_SINGLES)

    sweep(world)

    assert (len(world.alerts.told), world.alerts.summaries) == (MOST_SINGLES, [])


def test_once_the_outage_is_over_alerts_come_singly_again() -> None:
    """S7."""
    world = overdue(30)
    sweep(world)
    world.clock.now += SPAN
    submit_and_start(world, "ord-late")

    sweep(world, after=2 * MINUTE)

    assert world.alerts.told[-1].order_id == "ord-late"


def test_a_supervisor_that_dies_after_the_summary_only_repeats_it() -> None:
    """S22: what it had noted is not sent again."""
    world = overdue(30)

    def dies() -> None:
        raise Died

    alerts = fragile(world, after=dies)
    with pytest.raises(Died):
        sweep(world)
    world.alerts = alerts
    assert unsent(world) == 20

    sweep(world, after=2 * MINUTE)

    first, second = alerts.summaries
    assert {alert.alert_id for alert in first} == {alert.alert_id for alert in second}
    assert (len(alerts.told), unsent(world)) == (MOST_SINGLES, 0)


def test_a_summary_that_cannot_be_sent_stays_due() -> None:
    """S7: the figures of the sweep are reported all the same."""
    world = overdue(30)
    alerts = fragile(world, instead=Transient("throttled"))
    sweep(world)
    assert (unsent(world), len(world.telemetry.sweeps)) == (20, 1)
    assert world.telemetry.count(HistoryKind.POSTPONED) == 1
    world.alerts = alerts

    sweep(world, after=2 * MINUTE)

    assert ([len(summary) for summary in alerts.summaries], unsent(world)) == ([20], 0)


def test_a_topic_that_cannot_be_used_is_an_error() -> None:
    """S7: after the sweep is done and its figures are reported."""
    world = overdue(30)
    fragile(world, instead=Misconfigured("no such topic"))

    with pytest.raises(Misconfigured):
        sweep(world)

    assert world.telemetry.sweeps[0].overdue == 30


def test_nothing_is_let_out_uncounted() -> None:
    """S7: if the count cannot be stored, the next sweep sends all in a summary."""
    world = running(30)
    world.shared_records = TroubledRecords(unread=Transient("throttled"))
    fail_for_good(world)
    assert world.alerts.told == []

    sweep(world, after=2 * MINUTE)

    assert (world.alerts.told, [len(summary) for summary in world.alerts.summaries]) == ([], [30])
    assert unsent(world) == 0


def test_two_instances_share_one_count() -> None:
    """S7: the limit is that of the deployment, not of each instance."""
    world = running(0)
    alert = StepFailed("ord-1", "charge", 1, "no", world.clock.now)
    both = [Throttled(world.alerts, world.shared_records, world.clock) for _ in range(2)]

    sent = [instance.send(alert) for _ in range(MOST_SINGLES) for instance in both]

    assert sum(sent) == MOST_SINGLES


def test_a_run_leaves_time_to_note_what_it_sends() -> None:
    """S12: the more alerts have come together, the sooner the run ends; the rest stays due."""
    world = overdue(30)

    figures = world.supervise().sweep(lambda: TIME_TO_FINISH + 5 * TIME_PER_ALERT)

    assert (figures.listed, figures.complete) == (6, False)
    assert len(world.alerts.told) == 6


def test_an_alert_that_was_resubmitted_meanwhile_is_not_noted() -> None:
    """S7: the operator was faster than the note; the new attempt stays as it is."""
    world = overdue(30)

    def resubmitted() -> None:
        for name, task in world.store.tasks.items():
            again = {"charge": replace(task.steps["charge"], attempt=2, alert_by=None)}
            world.store.tasks[name] = replace(task, steps=again, revision=task.revision + 1)

    fragile(world, after=resubmitted)
    sweep(world)

    assert world.telemetry.count(HistoryKind.ALERTED) == MOST_SINGLES
