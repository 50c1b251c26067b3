"""A message is delivered again only when it should be, and ends where an operator finds it."""

from __future__ import annotations

from stepward_cdk.settings.settings import Settings
from tests.infra.sample import AGENTS
from tests.infra.template import Template, as_list, joined, target

LONGEST_QUEUE_NAME = 80
FOURTEEN_DAYS_S = 14 * 24 * 3600


def test_a_message_stays_hidden_for_six_times_its_functions_timeout(template: Template, production: Template) -> None:
    """S10, S11: a shorter time would hand the message to a second function while the first still works."""
    for stack in (template, production):
        functions = stack.properties("Lambda::Function")
        queues = stack.properties("SQS::Queue")
        for mapping, queue, function in stack.sources():
            window = mapping.get("MaximumBatchingWindowInSeconds", 0)
            assert queues[queue]["VisibilityTimeout"] >= 6 * functions[function]["Timeout"] + window, queue


def test_only_the_messages_that_failed_are_delivered_again(template: Template) -> None:
    """S18: without this, one bad message would repeat, or hide, the other nine of its batch."""
    for mapping, queue, _ in template.sources():
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"], queue


def test_a_bad_message_ends_in_the_dead_letter_queue_of_its_own_queue(template: Template) -> None:
    """S22: and a throttled one, whose deliveries count too, does not end there at once."""
    queues = template.properties("SQS::Queue")
    dead = {queue: target(it["RedrivePolicy"]["deadLetterTargetArn"]) for queue, it in template.source_queues().items()}
    assert len(set(dead.values())) == len(dead)
    assert not set(dead.values()) & set(dead)
    for queue in dead:
        assert queues[queue]["RedrivePolicy"]["maxReceiveCount"] >= 5


def test_a_dead_letter_is_kept_longer_than_it_could_wait_before(template: Template) -> None:
    """S22: the clock starts when the message is first sent, not when it dies; in a FIFO queue it starts anew."""
    queues = template.properties("SQS::Queue")
    for queue in template.source_queues().values():
        dead = queues[target(queue["RedrivePolicy"]["deadLetterTargetArn"])]
        assert dead["MessageRetentionPeriod"] == FOURTEEN_DAYS_S
        assert queue.get("FifoQueue") or queue["MessageRetentionPeriod"] < FOURTEEN_DAYS_S


def test_every_queue_is_encrypted_by_sqs_itself(template: Template) -> None:
    """S22: a KMS key of AWS's would keep EventBridge and SNS from ever delivering."""
    for name, queue in template.properties("SQS::Queue").items():
        assert queue["SqsManagedSseEnabled"] is True, name
        assert "KmsMasterKeyId" not in queue, name


def test_every_queue_refuses_callers_without_tls(template: Template) -> None:
    """S22: encryption in transit is not left to the caller."""
    closed = set()
    for policy in template.properties("SQS::QueuePolicy").values():
        for statement in policy["PolicyDocument"]["Statement"]:
            if statement["Effect"] == "Deny" and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}:
                assert statement["Action"] == "sqs:*"
                assert statement["Principal"] in ("*", {"AWS": "*"})
                closed |= {target(queue) for queue in as_list(policy["Queues"])}
    assert closed == set(template.of("SQS::Queue"))


def test_no_queue_has_a_fixed_name_but_those_whose_addresses_are_derived(template: Template, wide: Template) -> None:
    """S23, S4: two stacks can stand side by side, and what a queue alone knows can stand beside its new queue."""
    asked = {template.requests_queue(agent) for agent in AGENTS} | set(template.priority_queues().values())
    assert {name for name, queue in template.properties("SQS::Queue").items() if "QueueName" in queue} == asked
    named = [queue["QueueName"] for queue in wide.properties("SQS::Queue").values() if "QueueName" in queue]
    assert "orders-of-a-shop-with-an-agen-48a5bf32-agent-agent-0" in named
    assert Settings(stack="s" * 60).queue_name("x") != Settings(stack="s" * 59).queue_name("x")
    assert len(Settings(stack="s" * 60).queue_name("agent-" + "a" * 30 + "-high")) <= LONGEST_QUEUE_NAME


def test_an_order_and_a_wish_about_it_outlive_hours_without_a_function(template: Template) -> None:
    """S22: nothing else knows of them yet, so they must not end in the dead-letter queue for lack of tries."""
    queues = template.properties("SQS::Queue")
    for _, name, function in template.sources():
        if function in {template.function("submission"), template.function("scheduler")}:
            queue = queues[name]
            assert queue["RedrivePolicy"]["maxReceiveCount"] * queue["VisibilityTimeout"] >= 4 * 3600, name


def test_a_request_is_retried_later_as_often_as_its_service_needs(template: Template) -> None:
    """S20: it waits without cost until complete-by, which ends it; a limit of receives would end it earlier."""
    queues = template.properties("SQS::Queue")
    for queue in [*(template.requests_queue(agent) for agent in AGENTS), *template.priority_queues().values()]:
        assert queues[queue]["RedrivePolicy"]["maxReceiveCount"] == 1000, queue


def test_people_and_tools_find_the_dead_letters_of_every_queue_by_name(template: Template) -> None:
    """S22: what is listed, shown and redriven is what really died there."""
    given = joined(template.body["Outputs"]["DeadLetterQueueUrls"]["Value"])
    agents = {*(f"agent-{name}" for name in AGENTS), "agent-courier-high", "agent-payments-high"}
    assert set(given) == {"orders", "scheduler", "responses", "ledgers", "order-events"} | agents
    queues = template.source_queues()
    assert {it["source"] for it in given.values()} == set(queues)
    for name, it in given.items():
        assert it["dead"] == target(queues[it["source"]]["RedrivePolicy"]["deadLetterTargetArn"]), name
    assert given["orders"]["source"] == template.output("OrdersQueueUrl")
    assert given["agent-refunds"]["source"] == template.requests_queue("refunds")
    assert given["agent-payments-high"]["source"] == template.priority_queues()["payments"]
