"""A function may do what its part asks of it, and nothing else."""

from __future__ import annotations

import pytest

from stepward.domain.errors import Misconfigured
from stepward_cdk.settings.settings import Settings
from tests.infra.sample import AGENTS, SOURCES
from tests.infra.template import Template, as_list, target

WRITE, READ, READ_MANY = "dynamodb:PutItem", "dynamodb:GetItem", "dynamodb:BatchGetItem"
QUERY, WRITE_MANY = "dynamodb:Query", "dynamodb:BatchWriteItem"
SEND, PUBLISH, PUT_EVENTS = "sqs:SendMessage", "sns:Publish", "events:PutEvents"


def agent_queues(template: Template) -> set[str]:
    """The request queues of all agents, priority queues included."""
    return {q for _, q, function in template.sources() for a in AGENTS if function == template.function("agent", a)}


def agreed(template: Template) -> str:
    """The table of what the functions agree on."""
    return template.output("SharedRecordsTableName")


def test_only_the_named_topics_and_rules_put_orders_into_the_queue(template: Template, production: Template) -> None:
    """S8: AWS would let in nobody else's either, unless the policy did; a service alone is no source."""
    assert _let_in(template) == {}
    assert _let_in(production) == {
        "sns.amazonaws.com": [SOURCES[0]],
        "events.amazonaws.com": [SOURCES[1]],
    }
    assert production.output("OrdersQueueArn") == production.output("OrdersQueueUrl")


def _let_in(template: Template) -> dict[str, list[str]]:
    """The sources of each service that may send to the orders queue."""
    orders = template.output("OrdersQueueUrl")
    policies = [it for it in template.properties("SQS::QueuePolicy").values() if orders in map(target, it["Queues"])]
    allowed = [it for policy in policies for it in policy["PolicyDocument"]["Statement"] if it["Effect"] == "Allow"]
    assert all((it["Action"], list(it["Condition"])) == ("sqs:SendMessage", ["ArnEquals"]) for it in allowed)
    return {it["Principal"]["Service"]: as_list(it["Condition"]["ArnEquals"]["aws:SourceArn"]) for it in allowed}


@pytest.mark.parametrize(
    "arn",
    [
        "orders",
        "arn:aws:sns:eu-west-1:111122223333:*",
        "arn:aws:sns:eu-west-1:*:orders",
        "arn:aws:sns:eu-west-1:111122223333:orders.fifo",
        "arn:aws:events:eu-west-1:111122223333:event-bus/shop",
        "arn:aws:sqs:eu-west-1:111122223333:orders",
    ],
)
def test_what_is_no_source_of_orders_is_refused(arn: str) -> None:
    """S8, D2."""
    with pytest.raises(Misconfigured, match="order_sources"):
        Settings(order_sources=(arn,))


def test_submission_writes_orders_and_tasks_and_asks_agents(template: Template) -> None:
    """S8, S10: it claims first steps; it can neither count what waits for agents nor read a key."""
    tables = {template.output(name) for name in ("OrdersTableName", "TasksTableName", "RejectsTableName")}
    submission = template.function("submission")
    assert template.may(submission, WRITE) == tables
    assert template.may(submission, READ) == {template.output(name) for name in ("OrdersTableName", "TasksTableName")}
    own = {template.output("SchedulerQueueUrl"), template.output("OrdersQueueUrl")}
    assert template.may(submission, SEND) == agent_queues(template) | own
    assert template.may(submission, "sqs:GetQueueAttributes").isdisjoint(agent_queues(template))
    assert template.may(submission, PUBLISH) == set()


def test_the_scheduler_reads_orders_but_changes_only_tasks_and_calls_only_agents(template: Template) -> None:
    """S2, S4."""
    scheduler = template.function("scheduler")
    assert template.may(scheduler, READ_MANY) == {template.output("OrdersTableName"), template.output("TasksTableName")}
    tasks, rejects = template.output("TasksTableName"), template.output("RejectsTableName")
    assert template.may(scheduler, READ) == {tasks, agreed(template), template.output("OrdersTableName")}
    assert template.may(scheduler, WRITE) == {tasks, rejects, agreed(template)}
    own = {template.output("SchedulerQueueUrl"), template.output("ResponsesQueueUrl")}
    assert template.may(scheduler, SEND) == agent_queues(template) | own
    assert template.may(scheduler, PUBLISH) == {template.output("AlertsTopicArn")}


def test_the_scheduler_may_count_the_requests_of_its_agents(template: Template) -> None:
    """S21: before it claims a step that has a fallback."""
    assert template.may(template.function("scheduler"), "sqs:GetQueueAttributes") >= agent_queues(template)


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_answers_and_touches_no_task(template: Template, name: str) -> None:
    """S4, S6: it can neither read nor write the state store, whatever its code does; breakers are all it shares."""
    agent = template.function("agent", name)
    assert template.may(agent, READ) == {agreed(template)}
    assert template.may(agent, READ_MANY) == set()
    assert template.may(agent, WRITE) == {template.output("RejectsTableName"), agreed(template)}
    assert template.may(agent, SEND) == {template.output("ResponsesQueueUrl")}
    assert template.may(agent, PUBLISH) == template.may(agent, PUT_EVENTS) == set()


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_may_hide_its_own_requests_and_no_others(template: Template, name: str) -> None:
    """S20: a request to be retried later waits in the queue that it came from."""
    own = {template.requests_queue(name), template.priority_queues().get(name, template.requests_queue(name))}
    assert template.may(template.function("agent", name), "sqs:ChangeMessageVisibility") == own


def test_the_supervisor_recovers_tasks_and_calls_no_agent(template: Template) -> None:
    """S12, S14: it requests; Scheduler and agents act."""
    supervisor = template.function("supervisor")
    watched = {template.output("TasksTableName"), template.output("LanesTableName")}
    assert template.may(supervisor, QUERY) == watched
    assert template.may(supervisor, READ) == template.may(supervisor, WRITE) == watched | {agreed(template)}
    assert template.may(supervisor, "sqs:GetQueueAttributes") >= agent_queues(template)
    assert template.may(supervisor, SEND) == {template.output("SchedulerQueueUrl")}
    assert template.may(supervisor, PUBLISH) == {template.output("AlertsTopicArn")}


def test_whoever_publishes_alerts_may_use_their_key(template: Template) -> None:
    """S7: without the key a publish is refused, and nobody learns of the order in Error."""
    keys = set(template.of("KMS::Key"))
    for name in ("scheduler", "supervisor", "convoy"):
        for action in ("kms:Decrypt", "kms:GenerateDataKey*"):
            assert template.may(template.function(name), action) == keys


def test_events_for_machines_go_to_the_bus_that_the_deployment_names(template: Template, production: Template) -> None:
    """S7: by those who raise alerts; nobody else."""
    for stack, bus in ((template, "event-bus/default"), (production, "event-bus/orders")):
        for function in stack.of("Lambda::Function"):
            raises = function in {stack.function(name) for name in ("scheduler", "supervisor", "convoy")}
            assert stack.may(function, PUT_EVENTS) == ({bus} if raises else set()), function


def test_the_scheduler_may_post_to_the_named_reply_queues_only(template: Template, production: Template) -> None:
    """S19: whatever address an order names, and even if our own check lets it pass."""
    assert foreign_queues(template) == set()
    assert foreign_queues(production) == {
        f":sqs:eu-west-1:{account}:{prefix}-*"
        for account in ("111122223333", "444455556666")
        for prefix in ("replies", "shop")
    }


def test_only_the_scheduler_may_send_outside(production: Template) -> None:
    """S19."""
    queues = set(production.of("SQS::Queue"))
    for function in set(production.of("Lambda::Function")) - {production.function("scheduler")}:
        assert production.may(function, SEND) <= queues, function


def test_who_accepts_or_posts_checks_reply_queues_by_the_same_lists(template: Template, production: Template) -> None:
    """S19: without reply queues there are no lists, so that nothing is accepted by default."""
    for name in ("submission", "scheduler", "convoy"):
        given = production.environment(production.function(name))
        assert given["STEPWARD_REPLY_ACCOUNTS"] == "111122223333,444455556666"
        assert given["STEPWARD_REPLY_REGIONS"] == "eu-west-1"
        assert given["STEPWARD_REPLY_PREFIXES"] == "replies-,shop-"
        assert given["STEPWARD_OWN_PREFIX"] == "orders-prod-"
        assert not [it for it in template.environment(template.function(name)) if it.startswith("STEPWARD_REPLY")]


def foreign_queues(template: Template) -> set[str]:
    """What the Scheduler may send to beside the queues of the stack, without `arn:<partition>`."""
    statements = template.statements(template.function("scheduler"))
    resources = [it for item in statements if SEND in as_list(item["Action"]) for it in as_list(item["Resource"])]
    return {it["Fn::Join"][1][-1] for it in resources if "Fn::Join" in it}


def test_nothing_but_tracing_is_allowed_on_everything(template: Template, production: Template) -> None:
    """S22: the reason that cdk-nag is given for the one wildcard, which is there only with tracing."""
    for function in production.of("Lambda::Function"):
        assert allowed_on_everything(production, function) == {"xray:PutTelemetryRecords", "xray:PutTraceSegments"}
    for function in template.of("Lambda::Function"):
        assert allowed_on_everything(template, function) == set()


def allowed_on_everything(template: Template, function: str) -> set[str]:
    wide = [item for item in template.statements(function) if "*" in as_list(item["Resource"])]
    return {action for item in wide for action in as_list(item["Action"])}


def test_no_function_has_a_right_that_it_never_uses(template: Template) -> None:
    """S22: nobody writes to an index, or looks up an address; what CDK lets a consumer do is Lambda's."""
    consumed = {function: queue for _, queue, function in template.sources()}
    for function in template.of("Lambda::Function"):
        used = {
            resource: item for item in template.statements(function) for resource in map(str, as_list(item["Resource"]))
        }
        indexed = {
            action for resource, item in used.items() if "/index/" in resource for action in as_list(item["Action"])
        }
        assert indexed == ({QUERY} if function == template.function("supervisor") else set())
        assert "/index/*" not in str(used)
        others = template.may(function, "sqs:GetQueueUrl") - template.may(function, "sqs:ReceiveMessage")
        assert others == set(), consumed.get(function)


def test_an_agent_reads_its_own_secrets_and_nobody_elses(template: Template) -> None:
    """D4: by the names that people gave them, to which AWS adds six characters."""
    for function in template.of("Lambda::Function"):
        own = function == template.function("agent", "payments")
        named = {"bank/api-key-??????", "bank/fraud-??????"} if own else set()
        if function == template.function("scheduler"):
            named = set(template.of("SecretsManager::Secret"))  # the key of callback tokens
        assert template.may(function, "secretsmanager:GetSecretValue") == named
        assert template.environment(function).get("STEPWARD_SECRETS", "") == ("bank/api-key,bank/fraud" if own else "")
        assert template.environment(function).get("BANK") == ("sandbox" if own else None)
        assert template.properties("Lambda::Function")[function]["MemorySize"] == (1024 if own else 512)


def test_no_function_may_delete_or_overwrite_in_place(template: Template) -> None:
    """S16: what is recorded is replaced under a condition, or stays; only events that never change go in batches."""
    batches = {template.function("convoy"): {template.output("LanesTableName")}}
    for function in template.of("Lambda::Function"):
        for action in ("dynamodb:DeleteItem", "dynamodb:UpdateItem", "dynamodb:Scan"):
            assert template.may(function, action) == set()
        assert template.may(function, WRITE_MANY) == batches.get(function, set())


def test_the_convoy_submits_and_cancels_orders_and_changes_lanes_but_asks_no_agent(template: Template) -> None:
    """C3, C6: a create is a submission; a delete changes the task and leaves the steps to the Scheduler."""
    convoy = template.function("convoy")
    orders, tasks = template.output("OrdersTableName"), template.output("TasksTableName")
    lanes, rejects = template.output("LanesTableName"), template.output("RejectsTableName")
    assert template.may(convoy, READ) == {orders, tasks, lanes, agreed(template)}
    assert template.may(convoy, READ_MANY) == {orders, tasks}
    assert template.may(convoy, QUERY) == {lanes}
    assert template.may(convoy, WRITE) == {orders, tasks, lanes, rejects, agreed(template)}
    assert template.may(convoy, SEND) == {template.output("SchedulerQueueUrl")}
    assert template.may(convoy, PUBLISH) == {template.output("AlertsTopicArn")}
    assert template.may(convoy, "sqs:ChangeMessageVisibility") == {template.output("OrderEventsQueueUrl")}


def test_a_ledger_processor_sends_to_the_lanes_and_touches_no_order(production: Template) -> None:
    """C2, C3: what it splits is decided elsewhere; of its own it keeps how far it has come."""
    assert len(production.ledgers()) == 4
    sources = {function: queue for _, queue, function in production.sources()}
    for ledger in production.ledgers():
        assert production.may(ledger, READ) == {agreed(production)}
        assert production.may(ledger, WRITE) == {agreed(production), production.output("RejectsTableName")}
        assert production.may(ledger, READ_MANY) == production.may(ledger, QUERY) == set()
        assert production.may(ledger, SEND) == {production.output("OrderEventsQueueUrl")}
        assert production.may(ledger, PUBLISH) == production.may(ledger, PUT_EVENTS) == set()
        assert production.may(ledger, "sqs:ChangeMessageVisibility") == {sources[ledger]}


def test_only_ledger_processors_read_the_ledgers_bucket_and_nobody_writes_to_it(production: Template) -> None:
    """C2, S18: listing makes S3 say that an object is missing. Who keeps rejects puts their bodies, and reads none."""
    bucket, rejects = production.output("LedgersBucketName"), production.output("RejectsTableName")
    for function in production.of("Lambda::Function"):
        allowed = {bucket} if function in production.ledgers() else set()
        assert production.may(function, "s3:GetObject") == production.may(function, "s3:ListBucket") == allowed
        keeps = {production.output("RejectsBucketName")} if rejects in production.may(function, WRITE) else set()
        assert production.may(function, "s3:PutObject") == keeps
        actions = {action for item in production.statements(function) for action in as_list(item["Action"])}
        known = {"s3:GetObject", "s3:ListBucket", "s3:PutObject"}
        assert {it for it in actions if it.startswith("s3:")} <= known, function


def test_the_scheduler_puts_orders_only_where_one_may_be_a_step_of_another(
    template: Template, restored: Template
) -> None:
    """S8, W5: it submits children. The other deployment works on restored tables, so it names them."""
    assert template.output("OrdersTableName") not in template.may(template.function("scheduler"), WRITE)
    orders = f"table/{restored.output('OrdersTableName')}"
    assert orders in restored.may(restored.function("scheduler"), WRITE)
