"""Alerts of a function; their clients, and the code of their texts, are loaded with the first alert."""

from __future__ import annotations

from functools import cache

from stepward.adapters.alerts.both import FirstNeeded, OperatorAlerts
from stepward.wiring.parts import Parts


def alerts(parts: Parts) -> FirstNeeded:
    """Alerts to people and to programs."""
    topic, bus = parts.config.alerts_topic, parts.config.event_bus

    @cache
    def both() -> OperatorAlerts:
        # Few runs send any, and these two take a twentieth of a start-up.
        from stepward.adapters.alerts.event_bus import EventBus  # noqa: PLC0415
        from stepward.adapters.alerts.sns import SnsTopic  # noqa: PLC0415

        deployment = parts.config.deployment
        return OperatorAlerts(
            SnsTopic(parts.client("sns"), topic, deployment), EventBus(parts.client("events"), bus, deployment)
        )

    return FirstNeeded(both)
