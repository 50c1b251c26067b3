"""Alerts to machines as EventBridge events: source `stepward`, the detail a JSON object with `alertId` and `stack`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from stepward.adapters.sqs.delivery import Failure, Outgoing, deliver
from stepward.adapters.sqs.errors import translated
from stepward.domain.deployment import Deployment
from stepward.domain.errors import Transient
from stepward.domain.key import named
from stepward.domain.messages import AgentDefect, Alert, LaneWaits, StepWaits

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_events.type_defs import PutEventsResponseTypeDef

SOURCE = "stepward"
STEP_FAILED = "stepward.step.failed"
UNDO_FAILED = "stepward.undo.failed"
STEP_WAITS = "stepward.step.waits"
AGENT_DEFECT = "stepward.agent.defect"
LANE_WAITS = {
    "blocked": "stepward.lane.blocked",
    "gap": "stepward.lane.gap",
    "idle": "stepward.lane.idle",
}
_FINAL = frozenset({"AccessDeniedException", "NotAuthorizedForSourceException", "InvalidArgument", "MalformedDetail"})


@dataclass(frozen=True, slots=True)
class EventBus:
    """Puts one event for each alert on an event bus."""

    client: EventBridgeClient
    bus: str = "default"
    deployment: Deployment = field(default_factory=Deployment)

    def put(self, alerts: Sequence[Alert]) -> None:
        """Put all; raises Transient with the number of those not taken, Misconfigured if the bus cannot be used."""
        failed: Transient | None = None
        for kind in (STEP_FAILED, UNDO_FAILED, STEP_WAITS, AGENT_DEFECT, *LANE_WAITS.values()):
            details = [Outgoing(detail(alert, self.deployment)) for alert in alerts if detail_type(alert) == kind]
            try:
                deliver(details, partial(self._put, kind))
            except Transient as error:  # those of another type go on
                failed = failed or error
        if failed:
            raise failed

    def _put(self, kind: str, batch: Sequence[Outgoing]) -> Mapping[int, Failure]:
        with translated(f"event bus {self.bus}"):
            answer = self.client.put_events(
                Entries=[
                    {"Source": SOURCE, "DetailType": kind, "Detail": event.body, "EventBusName": self.bus}
                    for event in batch
                ]
            )
        return _failures(len(batch), answer)


def detail_type(alert: Alert) -> str:
    """The event's type: what became of a step, that an agent's code is at fault, or what holds up a lane."""
    if isinstance(alert, AgentDefect):
        return AGENT_DEFECT
    if isinstance(alert, LaneWaits):
        return LANE_WAITS[alert.trouble.value]
    if isinstance(alert, StepWaits):
        return STEP_WAITS
    return UNDO_FAILED if alert.remaining_effects else STEP_FAILED


def detail(alert: Alert, deployment: Deployment | None = None) -> str:
    """What rules match and targets read; `at` is epoch milliseconds, `stack` and `workflow` are the `deployment`'s."""
    deployment = deployment or Deployment()
    order = {name: value for name, value in named(alert.order_id, deployment.workflow).items() if value}
    facts = {"alertId": alert.alert_id, **order, "reason": alert.reason, "at": alert.at}
    return json.dumps(facts | _about(alert) | ({"stack": deployment.stack} if deployment.stack else {}))


def _about(alert: Alert) -> dict[str, object]:
    match alert:
        case LaneWaits():
            return {"event": alert.event, "trouble": alert.trouble.value}
        case StepWaits():
            return {"step": alert.step, "attempt": alert.attempt, **({"signal": True} if alert.signal else {})}
        case AgentDefect():
            known = {"agent": alert.agent, "operation": alert.operation, "error": alert.error}
            return {**known, "orders": alert.orders, "since": alert.since, "over": alert.over}
        case _:
            remaining = list(alert.remaining_effects)
            return {"step": alert.step, "attempt": alert.attempt, "remainingEffects": remaining}


def _failures(sent: int, answer: PutEventsResponseTypeDef) -> dict[int, Failure]:
    # The answer lists the entries by position. One that is missing there has failed: nobody promised to deliver it.
    codes = [entry.get("ErrorCode", "") for entry in answer.get("Entries", [])]
    codes += ["NotAnswered"] * (sent - len(codes))
    return {position: Failure(code, final=code in _FINAL) for position, code in enumerate(codes) if code}
