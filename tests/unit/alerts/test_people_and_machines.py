"""S7: people and machines are alerted apart, and no alert waits for another one that fails."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from stepward.domain.errors import HalfAlerted, Misconfigured, StepwardError, Transient
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Alert
from stepward.testing.memory.queues import MemoryAlerts
from tests.factories import MINUTE
from tests.unit.engine.test_alerting import fail_for_good, overdue, running, sweep, unsent


@dataclass(frozen=True, slots=True)
class Deaf(MemoryAlerts):
    """People get every alert; the event bus fails until it is mended, and takes none that is `refused` even then."""

    refused: frozenset[str] = frozenset()
    broken: list[StepwardError] = field(default_factory=lambda: [Misconfigured("no such bus")])

    def send(self, alert: Alert) -> bool:
        if alert.order_id in self.refused:
            raise Transient(f"{alert.order_id} is refused")
        self.told.append(alert)
        self._half([alert])
        return True

    def summarise(self, alerts: Sequence[Alert]) -> None:
        self.summaries.append(tuple(alerts))
        self._half(alerts)

    def to_machines(self, alerts: Sequence[Alert]) -> None:
        for error in self.broken:
            raise error
        self.events.extend(alerts)

    def _half(self, alerts: Sequence[Alert]) -> None:
        try:
            self.to_machines(alerts)
        except StepwardError as error:
            raise HalfAlerted("machines have not been alerted") from error

    @property
    def hearers(self) -> list[str]:
        """Whose alerts reached people, repetitions included."""
        return [alert.order_id for alert in [*self.told, *(each for summary in self.summaries for each in summary)]]


def test_people_hear_once_of_what_machines_cannot_be_told_and_machines_hear_later() -> None:
    """S7, case 16: 40 are due and the event bus does not exist; it is an error of the run until it does."""
    world = overdue(40)
    world.alerts = alerts = Deaf()
    for _ in range(3):
        with pytest.raises(Misconfigured, match="no such bus"):
            sweep(world, after=2 * MINUTE)
    assert (len(alerts.hearers), len(set(alerts.hearers)), alerts.events, unsent(world)) == (40, 40, [], 40)
    alerts.broken.clear()

    for _ in range(2):
        sweep(world, after=2 * MINUTE)

    assert (len(alerts.hearers), len(alerts.events), unsent(world)) == (40, 40, 0)
    assert len({alert.alert_id for alert in alerts.events}) == 40
    assert list(world.shared_records.read("alerts").body) == ["times"]  # type: ignore[union-attr]


@pytest.mark.parametrize("refused", range(3))
def test_an_alert_that_cannot_be_sent_keeps_none_behind_it(refused: int) -> None:
    """S7: whichever it is."""
    world = overdue(3)
    world.alerts = alerts = Deaf(refused=frozenset({f"ord-{refused}"}), broken=[])

    sweep(world)

    assert (len(alerts.hearers), unsent(world), world.telemetry.count(HistoryKind.POSTPONED)) == (2, 1, 1)


def test_a_scheduler_whose_alert_reached_people_only_leaves_the_rest_to_the_supervisor() -> None:
    """S7: the reply that ended the step is done, so its submitter is notified, and people hear of it once."""
    world = running(1)
    world.alerts = alerts = Deaf()
    fail_for_good(world)
    alerts.broken.clear()

    sweep(world, after=2 * MINUTE)

    assert (alerts.hearers, len(alerts.events), unsent(world)) == (["ord-0"], 1, 0)
