"""The SNS topics and EventBridge rules that may put orders into the orders queue."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from stepward_cdk.settings.checks import matches

_ARN = re.compile(
    r"arn:aws[a-z-]*:(sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}"
    r"|events:[a-z0-9-]+:[0-9]{12}:rule/([A-Za-z0-9._-]+/)?[A-Za-z0-9._-]{1,64})"
)


def by_service(sources: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """The sources by the service that sends in their name; raises Misconfigured for what is no source.

    A wildcard is none: it would let any topic of any account put orders into the queue.
    """
    for arn in sources:
        matches("order_sources", arn, _ARN, "the ARN of a standard SNS topic, or of an EventBridge rule")
    found = {service: [arn for arn in sources if arn.split(":")[2] == service] for service in ("sns", "events")}
    return {f"{service}.amazonaws.com": arns for service, arns in found.items() if arns}
