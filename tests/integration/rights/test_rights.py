"""The calls that the functions make, against the rights that the template gives them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.infra.template import Template, as_list, target
from tests.integration.rights.recorded import NAMES, used

LAMBDAS_OWN = {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:GetQueueAttributes"}
"""What Lambda does with the queue of a function, in the function's name."""
NO_CALL = re.compile("kms:|xray:|s3:ListBucket")
"""The key of the alerts, traces, and what has S3 say that an object is missing."""
PLACES = {
    "OrdersTableName": "orders",
    "TasksTableName": "tasks",
    "LanesTableName": "lanes",
    "RejectsTableName": "rejects",
    "SharedRecordsTableName": "shared_records",
    "OrdersQueueUrl": "orders",
    "SchedulerQueueUrl": "scheduler",
    "ResponsesQueueUrl": "responses",
    "OrderEventsQueueUrl": "order-events.fifo",
    "LedgersQueueUrl": "ledgers.fifo",
    "AlertsTopicArn": "alerts",
    "LedgersBucketName": "ledgers",
    "RejectsBucketName": "rejects",
}
SHORT = {r".+-dead": "dead", r"t[0-9a-f]{8}-(.+)": r"\1", r"agent-.+": "agent", r"replies-.+": "replies"}
Rights = set[tuple[str, str]]


@pytest.mark.lab
@pytest.mark.parametrize("function", sorted(NAMES.values()))
@pytest.mark.usefixtures("every_test_of_the_functions")
def test_a_function_may_do_what_its_code_does_and_nothing_else(
    production: Template, lean: Template, function: str
) -> None:
    """S8, S22: what a right is for is seen in a test of the function, or the right goes."""
    done = {(action, _short(name)) for who, action, name in used if who == function}
    may = {
        right
        for template in (production, lean)
        for made in _functions(template, function)
        for right in _rights(template, made)
    }
    assert done - may == set(), "calls without a right"
    assert may - done == set(), "rights without a call"


def _functions(template: Template, handler: str) -> list[str]:
    found = template.properties("Lambda::Function").items()
    return [name for name, it in found if it["Handler"] == f"{handler}.handler"]


def _rights(template: Template, function: str) -> Iterator[tuple[str, str]]:
    for statement in template.statements(function):
        actions = set(as_list(statement["Action"]))
        if "sqs:ReceiveMessage" in actions:
            actions -= LAMBDAS_OWN
        for resource in as_list(statement["Resource"]):
            yield from ((each, _place(template, each, resource)) for each in actions if not NO_CALL.match(each))


def _place(template: Template, action: str, resource: object) -> str:
    if action in {"events:PutEvents", "secretsmanager:GetSecretValue"}:
        return ""
    logical = target(resource)
    if logical in {target(it["RedrivePolicy"]["deadLetterTargetArn"]) for it in template.source_queues().values()}:
        return "dead"
    queues = dict.fromkeys(template.customers().values(), "ledgers.fifo")
    known = {template.output(output): name for output, name in PLACES.items()} | queues
    if logical in template.of("SQS::Queue"):
        return known.get(logical, "agent")
    return known.get(logical, "replies" if action == "sqs:SendMessage" else logical)


def _short(name: str) -> str:
    found = [re.sub(pattern, short, name) for pattern, short in SHORT.items() if re.fullmatch(pattern, name)]
    return found[0] if found else name
