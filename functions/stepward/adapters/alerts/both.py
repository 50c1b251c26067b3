"""Alerts to both kinds of reader: people on a topic, machines on an event bus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepward.domain.messages import Alert

if TYPE_CHECKING:  # whoever makes them has imported them
    from stepward.adapters.alerts.event_bus import EventBus
    from stepward.adapters.alerts.sns import SnsTopic


@dataclass(frozen=True, slots=True)
class OperatorAlerts:
    """`ports.Alerts` on an SNS topic and an event bus. People come first; if the bus fails, both get it again."""

    people: SnsTopic
    machines: EventBus

    def send(self, alert: Alert) -> bool:
        """Send one alert; raises Transient, or Misconfigured if topic or bus cannot be used."""
        self.people.send(alert)
        self.machines.put([alert])
        return True

    def summarise(self, alerts: Sequence[Alert]) -> None:
        """Send people one message and machines one event per alert; raises as `send` does."""
        self.people.summarise(alerts)
        self.machines.put(alerts)


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
