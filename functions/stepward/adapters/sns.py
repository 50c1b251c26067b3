"""Alerts to people through an SNS topic.

The text is for a person. Programs read the message attributes: `alertId`, `orderId`, `step` (String) and
`attempt` (Number); those of an empty value are left out, because SNS refuses them.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepward.adapters.messaging_errors import translated
from stepward.domain.messages import Alert

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sns.type_defs import MessageAttributeValueTypeDef

LONGEST_SUBJECT = 100
LONGEST_REASON = 2000


@dataclass(frozen=True, slots=True)
class SnsAlerts:
    """`ports.Alerts` on one SNS topic."""

    client: SNSClient
    topic: str

    def tell(self, alert: Alert) -> None:
        """Tell an operator; raises Transient if it could not be sent, Misconfigured if the topic cannot be used."""
        with translated(self.topic):
            self.client.publish(
                TopicArn=self.topic,
                Subject=subject(alert),
                Message=text(alert),
                MessageAttributes=attributes(alert),
            )


def subject(alert: Alert) -> str:
    """One line of ASCII, at most 100 characters."""
    line = f"Stepward: step {alert.step} failed, order {alert.order_id}"
    return _printable(line).encode("ascii", "replace").decode()[:LONGEST_SUBJECT]


def text(alert: Alert) -> str:
    """What failed, why, and what to type next."""
    order, step = shlex.quote(alert.order_id), shlex.quote(alert.step)
    reason = _printable(alert.reason)[:LONGEST_REASON]
    return (
        f"Step {alert.step} of order {alert.order_id} ended in Error at attempt {alert.attempt}.\n\n"
        f"Why: {reason}\n\n"
        "The order waits until you act. Look at it:\n"
        f"  stepward show {order}\n"
        "Fix the cause, then run the step again:\n"
        f'  stepward resubmit {order} {step} --why "..."\n'
    )


def attributes(alert: Alert) -> dict[str, MessageAttributeValueTypeDef]:
    """What programs read."""
    named = {"alertId": alert.alert_id, "orderId": alert.order_id, "step": alert.step}
    texts: dict[str, MessageAttributeValueTypeDef] = {
        name: {"DataType": "String", "StringValue": value} for name, value in named.items() if value
    }
    return {**texts, "attempt": {"DataType": "Number", "StringValue": str(alert.attempt)}}


def _printable(value: str) -> str:
    """Reasons come from remote services: keep what SNS and a mail program can show."""
    return "".join(sign if sign.isprintable() else " " for sign in value)
