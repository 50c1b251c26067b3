"""Ledgers and order events come in order, each customer and each order beside the others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from stepward_cdk.settings.convoy import MAX_CUSTOMERS
from stepward_cdk.settings.settings import CUSTOMER_QUEUES, MAX_REQUEST_QUEUES
from tests.infra.template import Template, as_list, joined, target

DAY_S = 24 * 3600
MOST_RESOURCES = 500  # of one stack


def convoy_queues(template: Template) -> Mapping[str, Mapping[str, Any]]:
    """The queues of ledgers and of order events, by logical id."""
    own = {template.output("LedgersQueueUrl"), template.output("OrderEventsQueueUrl"), *template.customers().values()}
    return {name: queue for name, queue in template.properties("SQS::Queue").items() if name in own}


def test_ledgers_and_order_events_keep_their_order_from_end_to_end(production: Template) -> None:
    """C1, C4: a FIFO queue may only have a FIFO queue for its dead letters, and synthesis would not say so."""
    queues = production.properties("SQS::Queue")
    fifo = {name for name, queue in queues.items() if queue.get("FifoQueue")}
    dead = {target(it["RedrivePolicy"]["deadLetterTargetArn"]) for it in convoy_queues(production).values()}
    assert len(convoy_queues(production)) == 5
    assert fifo == set(convoy_queues(production)) | dead


def test_each_order_has_the_throughput_and_the_deduplication_of_a_group(production: Template) -> None:
    """C8: SQS gives the high throughput only if both are of the group; senders say what is the same."""
    for name, queue in convoy_queues(production).items():
        assert queue["FifoThroughputLimit"] == "perMessageGroupId", name
        assert queue["DeduplicationScope"] == "messageGroup", name
        assert "ContentBasedDeduplication" not in queue, name


def test_what_waits_in_order_outlasts_an_outage(production: Template) -> None:
    """C3, C6: attempts count in the lane; an event in the dead-letter queue would be a gap."""
    for name, queue in convoy_queues(production).items():
        assert queue["MessageRetentionPeriod"] == 14 * DAY_S, name
        assert queue["RedrivePolicy"]["maxReceiveCount"] == 1000, name


def test_an_order_whose_function_died_waits_for_minutes_only(template: Template, production: Template) -> None:
    """C4: a group waits until what was in flight is visible again."""
    for stack, lanes, ledgers in ((template, 120, 360), (production, 180, 1800)):
        queues = stack.properties("SQS::Queue")
        assert queues[stack.output("OrderEventsQueueUrl")]["VisibilityTimeout"] == lanes
        assert queues[stack.output("LedgersQueueUrl")]["VisibilityTimeout"] == ledgers


def test_the_convoy_takes_as_many_events_as_a_fifo_queue_gives_and_reports_each(template: Template) -> None:
    """C4: one function for all orders, whose groups are worked on side by side."""
    mapping = template.mapping(template.output("OrderEventsQueueUrl"))
    assert target(mapping["FunctionName"]) == template.function("convoy")
    assert (mapping["BatchSize"], mapping["ScalingConfig"]["MaximumConcurrency"]) == (10, 50)
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert "MaximumBatchingWindowInSeconds" not in mapping


def test_a_ledger_has_its_function_to_itself(template: Template, production: Template) -> None:
    """C2, C8: it takes what time there is, and its customer's next one waits anyway."""
    for stack, at_once, timeout in ((template, 10, 60), (production, 6, 300)):
        mapping = stack.mapping(stack.output("LedgersQueueUrl"))
        assert target(mapping["FunctionName"]) == stack.function("ledger")
        assert (mapping["BatchSize"], mapping["ScalingConfig"]["MaximumConcurrency"]) == (1, at_once)
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert stack.properties("Lambda::Function")[stack.function("ledger")]["Timeout"] == timeout


def test_a_customer_with_a_queue_of_its_own_has_a_function_that_takes_no_other(production: Template) -> None:
    """C7: by configuration alone, whatever the case or the punctuation by which two ids differ."""
    customers = production.customers()
    assert set(customers) == {"acme", "Acme", "a-c_me"}
    assert len({*customers.values(), production.output("LedgersQueueUrl")}) == 4
    for customer, queue in customers.items():
        function = production.function("ledger", customer)
        assert [served for _, source, served in production.sources() if source == queue] == [function]
        assert production.environment(function)["STEPWARD_LEDGER_CUSTOMER"] == customer
        assert production.mapping(queue)["BatchSize"] == 1


def test_a_deployment_without_such_customers_outputs_none(template: Template) -> None:
    """C7: and its one ledger processor takes everybody's."""
    assert template.customers() == {}
    assert template.ledgers() == {template.function("ledger")}
    assert "STEPWARD_LEDGER_CUSTOMER" not in template.environment(template.function("ledger"))


def test_the_dead_letters_of_a_customers_own_queue_are_found_by_name(production: Template) -> None:
    """C7, S22."""
    given = joined(production.body["Outputs"]["DeadLetterQueueUrls"]["Value"])
    for customer, queue in production.customers().items():
        assert given[f"ledgers-{customer}"]["source"] == queue
    assert given["ledgers"]["source"] == production.output("LedgersQueueUrl")
    assert given["order-events"]["source"] == production.output("OrderEventsQueueUrl")


def test_convoy_and_supervisor_have_the_same_rules_for_lanes(production: Template) -> None:
    """C5, C6: one changes the lanes, the other checks them."""
    for name in ("convoy", "supervisor"):
        given = production.environment(production.function(name))
        rules = {key: given[f"STEPWARD_{key}"] for key in ("SEQUENCES", "GAP_MS", "IDLE_MS", "EVENT_ATTEMPTS")}
        assert rules == {"SEQUENCES": "optional", "GAP_MS": "120000", "IDLE_MS": "86400000", "EVENT_ATTEMPTS": "7"}
        assert target(given["STEPWARD_LANES_TABLE"]) == production.output("LanesTableName")
        assert given["STEPWARD_FINISHED_DAYS"] == "90"


def test_all_send_to_the_one_queue_of_the_lanes(production: Template) -> None:
    """C3: the convoy returns messages to the queue that it takes from."""
    for function in (production.function("convoy"), *production.ledgers()):
        given = production.environment(function)
        assert target(given["STEPWARD_LANES_QUEUE"]) == production.output("OrderEventsQueueUrl")


def test_the_largest_deployment_fits_into_one_stack(template: Template, production: Template, wide: Template) -> None:
    """C7, S4: with as many agents as are allowed, or customers in the place of some of them."""
    assert len(wide.derived("scheduler", "AGENTS")) == MAX_REQUEST_QUEUES
    most = len(wide.body["Resources"])
    assert most <= MOST_RESOURCES
    # A mail subscription is what only development has, once for each topic.
    customers = len(production.body["Resources"]) - (len(template.body["Resources"]) - 2)
    of_agents = most - len(template.body["Resources"]) + 2
    each_customer, each_agent = customers / len(production.customers()), of_agents / (MAX_REQUEST_QUEUES - 7)
    assert each_customer <= CUSTOMER_QUEUES * each_agent
    assert CUSTOMER_QUEUES * MAX_CUSTOMERS < MAX_REQUEST_QUEUES


@pytest.mark.parametrize(
    ("stack", "bucket", "days"),
    [
        ("template", "LedgersBucketName", 30),
        ("production", "LedgersBucketName", 90),
        ("production", "RejectsBucketName", 60),
    ],
)
def test_ledgers_expire_and_half_uploads_after_a_day(
    request: pytest.FixtureRequest, stack: str, bucket: str, days: int
) -> None:
    """C2, S18: their entries are in the lanes by then, and nobody can list the rejects any more."""
    deployed: Template = request.getfixturevalue(stack)
    (rule,) = deployed.properties("S3::Bucket")[deployed.output(bucket)]["LifecycleConfiguration"]["Rules"]
    uploads = {"AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}}
    assert rule == {"Status": "Enabled", "ExpirationInDays": days} | uploads


@pytest.mark.parametrize("output", ["LedgersBucketName", "RejectsBucketName"])
def test_a_bucket_is_private_encrypted_and_asks_for_tls(template: Template, output: str) -> None:
    """C2, S18: ledgers and rejects are customers' orders."""
    assert len(template.of("S3::Bucket")) == 2
    name = template.output(output)
    bucket = template.properties("S3::Bucket")[name]
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["OwnershipControls"] == {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}
    (encryption,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert encryption == {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    (policy,) = [it for it in template.properties("S3::BucketPolicy").values() if target(it["Bucket"]) == name]
    (deny,) = policy["PolicyDocument"]["Statement"]
    assert (deny["Effect"], deny["Action"]) == ("Deny", "s3:*")
    assert deny["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert {target(resource) for resource in as_list(deny["Resource"])} == {name}


def test_no_stack_empties_the_ledgers_bucket(template: Template, production: Template) -> None:
    """C2, S23: that takes a function of CDK's with the right to delete, which would stand ready in production, too."""
    for stack in (template, production):
        assert not [it for it in stack.body["Resources"].values() if it["Type"].startswith("Custom::")]
        assert "BucketName" not in json.dumps(stack.properties("S3::Bucket"))
