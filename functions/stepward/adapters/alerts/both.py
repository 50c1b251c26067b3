"""Alerts to both kinds of reader: people on a topic, machines on an event bus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepward.domain.errors import HalfAlerted, Misconfigured, Transient
from stepward.domain.messages import Alert

if TYPE_CHECKING:  # whoever makes them has imported them
    from stepward.adapters.alerts.event_bus import EventBus
    from stepward.adapters.alerts.sns import SnsTopic


@dataclass(frozen=True, slots=True)
class OperatorAlerts:
    """`ports.Alerts` on an SNS topic and an event bus; a failure of one keeps no alert from the other."""

    people: SnsTopic
    machines: EventBus

    def send(self, alert: Alert) -> bool:
        """Send one alert; raises Transient, HalfAlerted, or Misconfigured if the topic cannot be used."""
        self._both(lambda: self.people.send(alert), [alert])
        return True

    def summarise(self, alerts: Sequence[Alert]) -> None:
        """Send people one message and machines one event per alert; raises as `send` does."""
        self._both(lambda: self.people.summarise(alerts), alerts)

    def to_machines(self, alerts: Sequence[Alert]) -> None:
        """Send machines one event per alert; raises Transient, or Misconfigured if the bus cannot be used."""
        self.machines.put(alerts)

    def _both(self, to_people: Callable[[], None], alerts: Sequence[Alert]) -> None:
        try:
            to_people()
        except (Transient, Misconfigured):
            with suppress(Transient, Misconfigured):  # people have failed as well, so both get it again
                self.machines.put(alerts)
            raise
        try:
            self.machines.put(alerts)
        except (Transient, Misconfigured) as error:
            raise HalfAlerted(f"people have been alerted, machines have not: {error}") from error


@dataclass(frozen=True, slots=True)
class FirstNeeded:
    """`ports.Alerts` made for the first alert: their clients take time to make, and few runs alert anybody.

    `made` makes them, or returns those that it made before.
    """

    made: Callable[[], OperatorAlerts]

    def send(self, alert: Alert) -> bool:
        """Send one alert; see `OperatorAlerts`."""
        return self.made().send(alert)

    def summarise(self, alerts: Sequence[Alert]) -> None:
        """Send a summary; see `OperatorAlerts`."""
        self.made().summarise(alerts)

    def to_machines(self, alerts: Sequence[Alert]) -> None:
        """Send events only; see `OperatorAlerts`."""
        self.made().to_machines(alerts)
