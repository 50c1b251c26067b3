"""A stack's outputs, as the command line reads them."""

import json
from types import SimpleNamespace

import pytest

from stepward.cli.deployment.aws import Account
from stepward.domain.errors import Misconfigured
from stepward.stack_outputs import DeadLetters, Deployment

OUTPUTS = {
    "OrdersQueueUrl": "http://q/orders",
    "SchedulerQueueUrl": "http://q/scheduler",
    "ResponsesQueueUrl": "http://q/responses",
    "LedgersQueueUrl": "http://q/ledgers.fifo",
    "CustomerLedgerQueueUrls": '{"acme": "http://q/ledgers-acme.fifo"}',
    "OrderEventsQueueUrl": "http://q/order-events.fifo",
    "AgentQueueUrls": '{"payments": "http://q/payments"}',
    "OrdersTableName": "orders",
    "TasksTableName": "tasks",
    "RejectsTableName": "rejects",
    "SharedRecordsTableName": "shared_records",
    "LanesTableName": "lanes",
    "Workflows": '{"names": ["shop"], "perCustomer": ["shop"]}',
    "LedgersBucketName": "ledgers",
    "AlertsTopicArn": "arn:aws:sns:us-east-1:000000000000:alerts",
    "SupervisorFunctionName": "supervisor",
    "AgentFunctionNames": '{"payments": "agent-payments"}',
    "Shards": "4",
}


def test_dead_letter_queues_are_known_by_the_names_of_their_queues() -> None:
    urls = json.dumps({"orders": {"source": "https://a", "dead": "https://b"}})

    found = Deployment.from_outputs(OUTPUTS | {"DeadLetterQueueUrls": urls})

    assert found.dead_letters == {"orders": DeadLetters("https://a", "https://b")}
    assert found.shared_records_table == "shared_records"


def test_a_stack_that_names_no_dead_letter_queues_can_still_be_used() -> None:
    assert Deployment.from_outputs(OUTPUTS).dead_letters == {}


@pytest.mark.parametrize("urls", ['{"orders": {"source": "https://a"}}', '{"orders": "https://a"}', "[]"])
def test_dead_letter_queues_that_are_malformed_are_named(urls: str) -> None:
    with pytest.raises(Misconfigured, match="DeadLetterQueueUrls"):
        Deployment.from_outputs(OUTPUTS | {"DeadLetterQueueUrls": urls})


@pytest.mark.parametrize(("endpoint", "hinted"), [(None, True), ("http://127.0.0.1:1", False)])
def test_nobody_is_told_to_add_the_local_that_was_given(
    endpoint: str | None, hinted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L5: a hint never suggests what was typed."""
    monkeypatch.setattr("stepward.cli.deployment.aws.running_cloud", lambda: SimpleNamespace(server="there"))

    says = Account("here", "us-east-1", endpoint)._refusal("nope", "ValidationError")
    assert says.startswith("there is no stack nope in here; deploy it")
    assert ("add --local" in says) == hinted


def test_outputs_describe_a_deployment() -> None:
    deployment = Deployment.from_outputs(OUTPUTS)

    assert deployment.agent_queue_urls == {"payments": "http://q/payments"}
    assert deployment.customer_ledger_queue_urls == {"acme": "http://q/ledgers-acme.fifo"}
    assert deployment.agent_functions == {"payments": "agent-payments"}
    assert deployment.shards == 4


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_missing_output_is_named(name: str) -> None:
    with pytest.raises(Misconfigured, match=f"no output {name};"):
        Deployment.from_outputs({key: value for key, value in OUTPUTS.items() if key != name})


@pytest.mark.parametrize(("name", "value"), [("AgentQueueUrls", "x"), ("AgentQueueUrls", "[]"), ("Shards", "four")])
def test_an_output_of_the_wrong_kind_is_named(name: str, value: str) -> None:
    with pytest.raises(Misconfigured, match=f"output {name}"):
        Deployment.from_outputs(OUTPUTS | {name: value})
