"""The function that finds what is overdue."""

from __future__ import annotations

from collections.abc import Mapping

from stepward.adapters.telemetry import PowertoolsTelemetry
from stepward.app.breakers import Breakers
from stepward.app.lane_patrol import LanePatrol
from stepward.app.leasing import Leases
from stepward.app.supervision import Supervise
from stepward.app.watching import Watch
from stepward.config import Config
from stepward.wiring.clock import now
from stepward.wiring.lanes import lanes_of, telling_of
from stepward.wiring.parts import Parts
from stepward.wiring.tasks import store_of, transition_of


def supervisor(env: Mapping[str, str]) -> tuple[Supervise, PowertoolsTelemetry]:
    """Sweeps the due indexes; and the telemetry to flush after it."""
    parts = Parts(Config(env))
    queues = parts.queues(scheduler=parts.config.scheduler_queue, agents=parts.config.agent_queues)
    transition = transition_of(parts, "supervisor", store_of(parts), queues)
    watch = Watch(Breakers(parts.controls()), parts.config.agent_queues, parts.telemetry)
    patrol = LanePatrol(telling_of(parts, lanes_of(parts)), parts.config.timing.skew_margin, now)
    return Supervise(
        transition, _leases(parts, transition.instance), watch, parts.config.shards, patrol
    ), parts.telemetry


def _leases(parts: Parts, holder: str) -> Leases:
    length, skew_margin = parts.config.lease_length, parts.config.timing.skew_margin
    return Leases(parts.controls(), parts.telemetry, holder, length, skew_margin, now)
