"""O3: what the IAM policies of people allow, and how long they are."""

import json
import re

import pytest

from stepward.operator.rights.policies import Policy, document
from stepward.stack_outputs import Deployment
from tests.unit.cli_deployment.test_outputs import OUTPUTS

LONGEST = 6_144
"""Characters of a managed policy of IAM, blanks not counted."""
NAMES = ["orders", "scheduler", "responses", "order-events.fifo", *(f"agent-{number}" for number in range(20))]
STACK = "a-shop-in-production"


def url(name: str) -> str:
    return f"https://sqs.eu-central-1.amazonaws.com/123456789012/{STACK}-{name}-AbCdEfGh1234"


def allowed(policy: Policy) -> dict[str, set[str]]:
    """The actions on each resource, of a stack in China with twenty agents."""
    dead = {name: {"source": url(name), "dead": url(f"Dead{name}")} for name in NAMES}
    topic = {"AlertsTopicArn": "arn:aws-cn:sns:cn-north-1:123456789012:alerts", "RejectsBucketName": "bucket"}
    commands = {"SchedulerQueueUrl": url("scheduler"), "OrderEventsQueueUrl": url("order-events.fifo")}
    parts = Deployment.from_outputs(OUTPUTS | topic | commands | {"DeadLetterQueueUrls": json.dumps(dead)})
    found = document(policy, STACK, parts)
    assert len(re.sub(r"\s", "", json.dumps(found))) < LONGEST
    return {resource: set(each["Action"]) for each in found["Statement"] for resource in each["Resource"]}


@pytest.mark.parametrize(
    ("policy", "changing"),
    [
        (Policy.LOOK, set()),
        (Policy.OPERATE, {"sqs:SendMessage"}),
        (Policy.MEND, {"sqs:SendMessage", "dynamodb:PutItem"}),
    ],
)
def test_a_policy_changes_no_more_than_its_commands_do(policy: Policy, changing: set[str]) -> None:
    """O3: who looks changes nothing; who operates asks the Scheduler and the lanes; who mends writes no order."""
    found = allowed(policy)
    reads = r"dynamodb:(BatchGetItem|GetItem|Query|Scan)|\w+:(Describe|Get)\w+|sqs:(Change|Delete|Receive)\w+"
    assert {each for actions in found.values() for each in actions if not re.fullmatch(reads, each)} == changing
    sent = {resource for resource, actions in found.items() if "sqs:SendMessage" in actions}
    queue = f"arn:aws-cn:sqs:cn-north-1:123456789012:{STACK}-"
    commands = {f"{queue}{name}-AbCdEfGh1234" for name in ("scheduler", "order-events.fifo")}
    assert sent == {Policy.LOOK: set(), Policy.OPERATE: commands}.get(policy, sent | commands)
    written = [resource for resource, actions in found.items() if "dynamodb:PutItem" in actions]
    assert written == ["arn:aws-cn:dynamodb:cn-north-1:123456789012:table/shared_records"] * (policy is Policy.MEND)
    assert all("Dead" in resource for resource, actions in found.items() if "sqs:ReceiveMessage" in actions)
