"""What is written stays, and can be found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.infra.template import Template

ACTIONS = ("dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:PutItem", "dynamodb:BatchWriteItem")


def test_every_table_can_be_restored_to_any_second(template: Template, production: Template) -> None:
    """S23: point-in-time recovery everywhere."""
    for stack in (template, production):
        for name, table in stack.properties("DynamoDB::Table").items():
            assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}, name


def test_every_table_is_encrypted_and_paid_by_use(template: Template) -> None:
    """S12: what nobody uses costs nothing."""
    for name, table in template.properties("DynamoDB::Table").items():
        assert table["SSESpecification"] == {"SSEEnabled": True}, name
        assert table["BillingMode"] == "PAY_PER_REQUEST", name


def test_no_table_has_a_fixed_name(template: Template) -> None:
    """S23: a table restored, or replaced, stands beside the old one."""
    assert not [name for name, table in template.properties("DynamoDB::Table").items() if "TableName" in table]


def test_the_tables_have_the_keys_that_the_adapters_write(template: Template) -> None:
    """S8, S9, C5: orders and tasks by order, lanes by order and position, rejects by day, shared records by name."""
    expected = {
        "OrdersTableName": [("OrderID", "HASH", "S")],
        "TasksTableName": [("OrderID", "HASH", "S")],
        "RejectsTableName": [("Day", "HASH", "S"), ("Key", "RANGE", "S")],
        "SharedRecordsTableName": [("Name", "HASH", "S")],
        "LanesTableName": [("OrderID", "HASH", "S"), ("Position", "RANGE", "S")],
    }
    for output, keys in expected.items():
        table = template.properties("DynamoDB::Table")[template.output(output)]
        kinds = {item["AttributeName"]: item["AttributeType"] for item in table["AttributeDefinitions"]}
        found = [(key["AttributeName"], key["KeyType"], kinds[key["AttributeName"]]) for key in table["KeySchema"]]
        assert found == keys, output


def test_an_index_lists_the_orders_of_each_customer_only_if_the_deployment_wants_it(
    production: Template, template: Template
) -> None:
    """O1: it costs a write unit for each order."""
    for stack, names in ((production, ["customer"]), (template, [])):
        (orders,) = [each for name, each in stack.properties("DynamoDB::Table").items() if "Orders" in name]
        indexes = orders.get("GlobalSecondaryIndexes", [])
        assert [index["IndexName"] for index in indexes] == names
        assert all(index["Projection"] == {"ProjectionType": "KEYS_ONLY"} for index in indexes)
        functions = stack.properties("Lambda::Function").values()
        told = [each for each in functions if "STEPWARD_CUSTOMER_INDEX" in each["Environment"]["Variables"]]
        assert len(told) == 2 * len(names)
    assert production.output("CustomerIndexSince") == "2026-11-29"


@pytest.mark.parametrize("of", ["TasksTableName", "LanesTableName"])
@pytest.mark.parametrize(("name", "keys"), [("due", ("Shard", "Due")), ("attention", ("Attention", "Since"))])
def test_what_waits_for_the_supervisor_or_a_person_is_listed_by_an_index_of_keys(
    template: Template, replicated: Template, name: str, keys: tuple[str, str], of: str
) -> None:
    """S7, S12, C6: the cost of looking follows what waits, not what there is."""
    for stack, kind in ((template, "DynamoDB::Table"), (replicated, "DynamoDB::GlobalTable")):
        table = stack.properties(kind)[stack.output(of)]
        index = {it["IndexName"]: it for it in table["GlobalSecondaryIndexes"]}[name]
        kinds = {item["AttributeName"]: item["AttributeType"] for item in table["AttributeDefinitions"]}
        found = [(it["AttributeName"], it["KeyType"], kinds[it["AttributeName"]]) for it in index["KeySchema"]]
        assert found == [(keys[0], "HASH", "N"), (keys[1], "RANGE", "N")]
        assert index["Projection"] == {"ProjectionType": "KEYS_ONLY"}


def test_only_tasks_may_expire(template: Template, replicated: Template) -> None:
    """S12: by an attribute that only a finished task has; orders, lanes and rejects stay."""
    for stack in (template, replicated):
        for name, table in all_tables(stack).items():
            expires = {"AttributeName": "ExpiresAt", "Enabled": True}
            expected = expires if name == stack.output("TasksTableName") else None
            assert table.get("TimeToLiveSpecification") == expected, name


@pytest.mark.parametrize(("stack", "policy"), [("template", "Delete"), ("production", "Retain")])
def test_data_goes_with_a_development_stack_and_outlives_one_in_production(
    request: pytest.FixtureRequest, stack: str, policy: str
) -> None:
    """S23: tables, queues, logs, ledgers and the alerts' key; tables in production refuse to be deleted."""
    deployed: Template = request.getfixturevalue(stack)
    for kind in ("DynamoDB::Table", "SQS::Queue", "KMS::Key", "Logs::LogGroup", "S3::Bucket"):
        for name, resource in deployed.of(kind).items():
            if "QueueName" in resource.get("Properties", {}):  # requests to agents, which the Supervisor asks for anew
                assert resource["DeletionPolicy"] == "Delete", name
                continue
            assert resource["DeletionPolicy"] == policy, name
            if policy == "Retain":
                assert resource["UpdateReplacePolicy"] == "Retain", name
    for name, table in deployed.properties("DynamoDB::Table").items():
        assert table["DeletionProtectionEnabled"] is (policy == "Retain"), name


def test_replicas_are_made_only_where_a_deployment_names_regions(template: Template, replicated: Template) -> None:
    """S23: what is recorded has replicas; leases and breakers belong to one region."""
    assert "AWS::DynamoDB::GlobalTable" not in {it["Type"] for it in template.body["Resources"].values()}
    names = ("OrdersTableName", "TasksTableName", "LanesTableName", "RejectsTableName")
    recorded = {replicated.output(name) for name in names}
    tables = replicated.properties("DynamoDB::GlobalTable")
    assert set(tables) == recorded
    for name, table in tables.items():
        regions = {replica["Region"] for replica in table["Replicas"]}
        assert regions == {"eu-central-1", "eu-west-1", "us-east-1"}, name
    assert set(replicated.of("DynamoDB::Table")) == {replicated.output("SharedRecordsTableName")}


def test_every_replica_can_be_restored_and_refuses_to_be_deleted(replicated: Template) -> None:
    """S23: a mistake is replicated within a second; only point-in-time recovery takes it back."""
    for name, table in replicated.of("DynamoDB::GlobalTable").items():
        assert (table["DeletionPolicy"], table["UpdateReplacePolicy"]) == ("Retain", "Retain"), name
        properties = table["Properties"]
        assert (properties["BillingMode"], properties["SSESpecification"]["SSEEnabled"]) == ("PAY_PER_REQUEST", True)
        for replica in properties["Replicas"]:
            assert replica["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}, name
            assert replica["DeletionProtectionEnabled"] is True, name


def test_functions_may_do_with_global_tables_what_they_may_with_any(production: Template, replicated: Template) -> None:
    """S23: a stack with replicas grants no more and no less."""
    for action in ACTIONS:
        for name in ("submission", "scheduler", "supervisor", "convoy"):
            usual = production.may(production.function(name), action)
            assert replicated.may(replicated.function(name), action) == usual, (name, action)


def test_a_deployment_can_work_on_restored_tables_and_keeps_its_own(restored: Template, production: Template) -> None:
    """S23: every function that works on the table has its name and rights; the way back is to deploy without."""
    assert set(restored.of("DynamoDB::Table")) == set(production.of("DynamoDB::Table"))
    names = {f"STEPWARD_{name.upper()}_TABLE": f"{name}-again" for name in ("orders", "tasks", "lanes")}
    for function in restored.of("Lambda::Function"):
        given = restored.environment(function)
        assert {name: given[name] for name in names if name in given}.items() <= names.items(), function
    assert restored.output("OrdersTableName") == "orders-again"
    assert restored.output("TasksTableName") == "tasks-again"
    assert restored.output("LanesTableName") == "lanes-again"
    assert restored.output("RejectsTableName") in restored.of("DynamoDB::Table")


def test_functions_may_do_with_restored_tables_what_they_may_with_own(restored: Template, production: Template) -> None:
    """S23: on the table and its due index, and on the stack's own no more; only there are orders steps of others."""
    submits = {("scheduler", "dynamodb:PutItem"): {"table/orders-again"}}
    names = ("orders", "tasks", "lanes")
    again = {production.output(f"{name.title()}TableName"): f"table/{name}-again" for name in names}
    for action in ACTIONS:
        for name in ("submission", "scheduler", "supervisor", "convoy"):
            usual = {again.get(table, table) for table in production.may(production.function(name), action)}
            usual |= submits.get((name, action), set())
            found = restored.may(restored.function(name), action)
            assert {table.removesuffix("/index/due") for table in found} == usual, (name, action)
    swept = {f"table/{name}-again/index/due" for name in ("tasks", "lanes")}
    assert restored.may(restored.function("supervisor"), "dynamodb:Query") == swept


def all_tables(template: Template) -> Mapping[str, Mapping[str, Any]]:
    """The properties of every table, replicated or not, by logical id."""
    kinds = {"AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable"}
    return {name: it["Properties"] for name, it in template.body["Resources"].items() if it["Type"] in kinds}
