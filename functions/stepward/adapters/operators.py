"""Alerts to both kinds of reader: people by a topic, machines by an event bus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stepward.adapters.events import EventBus
from stepward.adapters.sns import SnsTopic
from stepward.domain.messages import Alert


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
