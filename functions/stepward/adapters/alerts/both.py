"""Alerts to both kinds of reader: people by a topic, machines by an event bus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepward.domain.messages import Alert

if TYPE_CHECKING:  # whoever makes them has loaded them
    from stepward.adapters.alerts.event_bus import EventBus
    from stepward.adapters.alerts.sns import SnsTopic


@dataclass(frozen=True, slots=True)
class OperatorAlerts:
    """`ports.Alerts` on an SNS topic and an event bus. People come first; if the bus fails, both are told again."""

    people: SnsTopic
    machines: EventBus

    def tell(self, alert: Alert) -> bool:
        """Tell one fact; raises Transient, or Misconfigured if topic or bus cannot be used."""
        self.people.tell(alert)
        self.machines.put([alert])
        return True

    def summarise(self, alerts: Sequence[Alert]) -> None:
        """Tell people in one message and machines fact by fact; raises as `tell` does."""
        self.people.summarise(alerts)
        self.machines.put(alerts)


@dataclass(frozen=True, slots=True)
class FirstNeeded:
    """`ports.Alerts` that are made when the first one is told: their clients take time to make, and few runs tell any.

    `made` makes them, or brings those that it has made.
    """

    made: Callable[[], OperatorAlerts]

    def tell(self, alert: Alert) -> bool:
        """As the others tell it."""
        return self.made().tell(alert)

    def summarise(self, alerts: Sequence[Alert]) -> None:
        """As the others do."""
        self.made().summarise(alerts)
