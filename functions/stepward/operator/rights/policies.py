"""The IAM policies of people: who looks, who operates, and who mends; each has what those before it have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any

from stepward.stack_outputs import Deployment


class Policy(StrEnum):
    """Whose policy it is, the narrowest first."""

    LOOK = "look"
    OPERATE = "operate"
    MEND = "mend"

    @property
    def included(self) -> list[Policy]:
        """The policies up to this one."""
        return list(Policy)[: list(Policy).index(self) + 1]


@dataclass(frozen=True, slots=True)
class Right:
    """What one policy adds to those before it: these actions of a service, on these parts of a stack."""

    policy: Policy
    service: str
    actions: tuple[str, ...]
    on: str


RIGHTS = (
    Right(Policy.LOOK, "cloudformation", ("DescribeStacks",), "stack"),
    Right(Policy.LOOK, "cloudwatch", ("DescribeAlarms",), "alarms"),
    Right(Policy.LOOK, "dynamodb", ("BatchGetItem", "GetItem", "Query"), "tables"),
    Right(Policy.LOOK, "sqs", ("GetQueueAttributes",), "queues"),
    Right(Policy.LOOK, "sqs", ("GetQueueAttributes",), "dead-letter queues"),
    Right(Policy.LOOK, "s3", ("GetObject",), "bodies of rejects"),
    Right(Policy.OPERATE, "sqs", ("SendMessage",), "queues of commands"),
    Right(Policy.MEND, "dynamodb", ("Scan",), "tables"),
    Right(Policy.MEND, "dynamodb", ("PutItem",), "shared records"),
    Right(Policy.MEND, "sqs", ("SendMessage",), "queues"),
    Right(Policy.MEND, "sqs", ("ChangeMessageVisibility", "DeleteMessage", "ReceiveMessage"), "dead-letter queues"),
)


def narrowest(action: str) -> tuple[Policy, str] | None:
    """The first policy with this action, and the action as IAM names it; None if no policy has it."""
    return next(((each.policy, f"{each.service}:{action}") for each in RIGHTS if action in each.actions), None)


def document(policy: Policy, stack: str, parts: Deployment) -> Mapping[str, Any]:
    """The policy for this stack, as IAM takes it: one statement for all that may have the same done to it."""
    named = _named(stack, parts)
    actions: dict[str, set[str]] = {}
    for right in RIGHTS:
        for resource in named[right.on] if right.policy in policy.included else ():
            actions.setdefault(resource, set()).update(f"{right.service}:{each}" for each in right.actions)
    alike = sorted((sorted(allowed), resource) for resource, allowed in actions.items())
    return {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": allowed, "Resource": [resource for _, resource in together]}
            for allowed, together in groupby(alike, lambda each: each[0])
        ],
    }


def _named(stack: str, parts: Deployment) -> Mapping[str, list[str]]:
    """The ARNs of the parts."""
    _, partition, _, region, account, *_ = parts.alerts_topic_arn.split(":")
    here = f"{region}:{account}"

    def queues(urls: Iterator[str]) -> list[str]:
        return [f"arn:{partition}:sqs:{here}:{url.rpartition('/')[2]}" for url in urls if url]

    def table(name: str) -> str:
        return f"arn:{partition}:dynamodb:{here}:table/{name}"

    tables = [parts.orders_table, parts.tasks_table, parts.rejects_table, parts.shared_records_table, parts.lanes_table]
    dead = parts.dead_letters.values()
    commands = (parts.scheduler_queue_url, parts.order_events_queue_url)
    return {
        "stack": [f"arn:{partition}:cloudformation:{here}:stack/{stack}/*"],
        "alarms": ["*"],
        "tables": [each for name in tables for each in (table(name), f"{table(name)}/index/*")],
        "shared records": [table(parts.shared_records_table)],
        "queues": queues(each.source for each in dead),
        "dead-letter queues": queues(each.dead for each in dead),
        "queues of commands": queues(iter(commands)),
        "bodies of rejects": [f"arn:{partition}:s3:::{parts.rejects_bucket}/*"] if parts.rejects_bucket else [],
    }
