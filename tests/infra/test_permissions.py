"""A function may do what its part asks of it, and nothing else."""

from __future__ import annotations

import pytest

from tests.infra.template import Template, as_list

AGENTS = ("inventory", "payments", "refunds", "shipping")
WRITE, READ, READ_MANY = "dynamodb:PutItem", "dynamodb:GetItem", "dynamodb:BatchGetItem"
SEND, PUBLISH = "sqs:SendMessage", "sns:Publish"


def agent_queues(template: Template) -> set[str]:
    """The request queues of all agents."""
    return {q for _, q, function in template.sources() for a in AGENTS if function == template.function("agent", a)}


def test_submission_writes_orders_and_tasks_and_tells_only_the_scheduler(template: Template) -> None:
    """S8."""
    tables = {template.output(name) for name in ("OrdersTableName", "TasksTableName", "RejectsTableName")}
    submission = template.function("submission")
    assert template.may(submission, WRITE) == tables
    assert template.may(submission, READ) == {template.output("OrdersTableName")}
    assert template.may(submission, SEND) == {template.output("SchedulerQueueUrl")}
    assert template.may(submission, PUBLISH) == set()


def test_the_scheduler_reads_orders_but_changes_only_tasks_and_calls_only_agents(template: Template) -> None:
    """S2, S4."""
    scheduler = template.function("scheduler")
    assert template.may(scheduler, READ_MANY) == {template.output("OrdersTableName"), template.output("TasksTableName")}
    assert template.may(scheduler, READ) == {template.output("TasksTableName")}
    assert template.may(scheduler, WRITE) == {template.output("TasksTableName"), template.output("RejectsTableName")}
    assert template.may(scheduler, SEND) == agent_queues(template)
    assert template.may(scheduler, PUBLISH) == {template.output("AlertsTopicArn")}


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_answers_and_touches_no_record(template: Template, name: str) -> None:
    """S4, S6: it can neither read nor write the state store, whatever its code does."""
    agent = template.function("agent", name)
    assert template.may(agent, READ) == template.may(agent, READ_MANY) == set()
    assert template.may(agent, WRITE) == {template.output("RejectsTableName")}
    assert template.may(agent, SEND) == {template.output("ResponsesQueueUrl")}
    assert template.may(agent, PUBLISH) == set()


def test_the_supervisor_recovers_tasks_and_calls_no_agent(template: Template) -> None:
    """S12, S14: it requests; Scheduler and agents act."""
    supervisor = template.function("supervisor")
    assert template.may(supervisor, "dynamodb:Query") == {template.output("TasksTableName")}
    assert template.may(supervisor, READ) == {template.output("TasksTableName")}
    assert template.may(supervisor, "sqs:GetQueueAttributes") >= agent_queues(template)
    assert template.may(supervisor, WRITE) == {template.output("TasksTableName")}
    assert template.may(supervisor, SEND) == {template.output("SchedulerQueueUrl")}
    assert template.may(supervisor, PUBLISH) == {template.output("AlertsTopicArn")}


def test_whoever_publishes_alerts_may_use_their_key(template: Template) -> None:
    """S7: without the key a publish is refused, and nobody hears of the order in Error."""
    keys = set(template.of("KMS::Key"))
    for name in ("scheduler", "supervisor"):
        for action in ("kms:Decrypt", "kms:GenerateDataKey*"):
            assert template.may(template.function(name), action) == keys


def test_nothing_but_tracing_is_allowed_on_everything(template: Template) -> None:
    """S22: the reason that cdk-nag is given for the one wildcard."""
    for function in template.of("Lambda::Function"):
        wide = [item for item in template.statements(function) if "*" in as_list(item["Resource"])]
        actions = {action for item in wide for action in as_list(item["Action"])}
        assert actions == {"xray:PutTelemetryRecords", "xray:PutTraceSegments"}, function


def test_no_function_may_delete_or_overwrite_in_place(template: Template) -> None:
    """S16: what is recorded is replaced under a condition, or stays."""
    for function in template.of("Lambda::Function"):
        for action in ("dynamodb:DeleteItem", "dynamodb:UpdateItem", "dynamodb:BatchWriteItem", "dynamodb:Scan"):
            assert template.may(function, action) == set()
