"""Alerts to people through an SNS topic.

The text is for a person. Programs read the message attributes: of a single alert `alertId`, `orderId`, `step`,
`trouble` (String) and `attempt` (Number), without empty values, which SNS refuses; of a summary `alerts` and `orders`
(Number); of both `stack` (String), the deployment. If a lane waits, `trouble` is `blocked`, `gap` or `idle`, and `step`
names its event; if a step waits for a deployment, `trouble` is `waits`. If an agent's code or a setting is at fault,
`trouble` is `defect` or `over`, and `step` names agent and operation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepward.adapters.alerts.step_texts import subject, summary, summary_subject, text
from stepward.adapters.sqs.errors import translated
from stepward.domain.deployment import Deployment
from stepward.domain.key import named
from stepward.domain.messages import AgentDefect, Alert, StepFailed, StepWaits

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sns.type_defs import MessageAttributeValueTypeDef


@dataclass(frozen=True, slots=True)
class SnsTopic:
    """Publishes alerts for people on one SNS topic."""

    client: SNSClient
    topic: str
    deployment: Deployment = field(default_factory=Deployment)

    def send(self, alert: Alert) -> None:
        """Publish one alert; raises Transient if it could not be sent, Misconfigured if the topic cannot be used."""
        self._publish(
            subject(alert), text(alert, self.deployment.workflow), attributes(alert, self.deployment.workflow)
        )

    def summarise(self, alerts: Sequence[Alert]) -> None:
        """Publish many in one message; raises as `send` does."""
        counts = {"alerts": _number(len(alerts)), "orders": _number(len({alert.order_id for alert in alerts} - {""}))}
        self._publish(summary_subject(alerts), summary(alerts, self.deployment.workflow), counts)

    def _publish(self, line: str, message: str, named: Mapping[str, MessageAttributeValueTypeDef]) -> None:
        line, message, named = self.deployment.subject(line), self.deployment.signed(message), {**named, **self._stack}
        with translated(self.topic):
            self.client.publish(TopicArn=self.topic, Subject=line, Message=message, MessageAttributes=named)

    @property
    def _stack(self) -> Mapping[str, MessageAttributeValueTypeDef]:
        stack = self.deployment.stack
        return {"stack": {"DataType": "String", "StringValue": stack}} if stack else {}


def attributes(alert: Alert, workflow: str = "") -> dict[str, MessageAttributeValueTypeDef]:
    """The message attributes, which programs read."""
    match alert:
        case StepFailed():
            about, attempt = {"step": alert.step}, alert.attempt
        case StepWaits():
            about, attempt = {"step": alert.step, "trouble": "waits"}, alert.attempt
        case AgentDefect():
            trouble, attempt = "over" if alert.over else "defect", 0
            about = {"step": f"{alert.agent}.{alert.operation}", "trouble": trouble}
        case _:
            about, attempt = {"step": f"event {alert.event}", "trouble": alert.trouble.value}, 0
    facts = {"alertId": alert.alert_id, **named(alert.order_id, workflow), **about}
    texts: dict[str, MessageAttributeValueTypeDef] = {
        name: {"DataType": "String", "StringValue": value} for name, value in facts.items() if value
    }
    return {**texts, "attempt": _number(attempt)}


def _number(value: int) -> MessageAttributeValueTypeDef:
    return {"DataType": "Number", "StringValue": str(value)}
