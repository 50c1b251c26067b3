"""What is written stays, and can be found."""

from __future__ import annotations

from tests.infra.template import Template


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
    """S8, S9: orders and tasks by order, rejects by day."""
    expected = {
        "OrdersTableName": [("OrderID", "HASH", "S")],
        "TasksTableName": [("OrderID", "HASH", "S")],
        "RejectsTableName": [("Day", "HASH", "S"), ("Key", "RANGE", "S")],
    }
    for output, keys in expected.items():
        table = template.properties("DynamoDB::Table")[template.output(output)]
        kinds = {item["AttributeName"]: item["AttributeType"] for item in table["AttributeDefinitions"]}
        found = [(key["AttributeName"], key["KeyType"], kinds[key["AttributeName"]]) for key in table["KeySchema"]]
        assert found == keys, output


def test_the_due_index_lists_tasks_by_shard_and_due_time_and_carries_keys_only(template: Template) -> None:
    """S12: the Supervisor's cost follows what is overdue, not what there is."""
    table = template.properties("DynamoDB::Table")[template.output("TasksTableName")]
    (index,) = table["GlobalSecondaryIndexes"]
    kinds = {item["AttributeName"]: item["AttributeType"] for item in table["AttributeDefinitions"]}
    assert index["IndexName"] == "due"
    assert [(key["AttributeName"], key["KeyType"]) for key in index["KeySchema"]] == [
        ("Shard", "HASH"),
        ("Due", "RANGE"),
    ]
    assert (kinds["Shard"], kinds["Due"]) == ("N", "N")
    assert index["Projection"] == {"ProjectionType": "KEYS_ONLY"}


def test_in_production_no_data_goes_when_the_stack_goes(production: Template) -> None:
    """S23: tables, queues, logs and the alerts' key outlive the stack, and tables refuse to be deleted."""
    for kind in ("DynamoDB::Table", "SQS::Queue", "KMS::Key", "Logs::LogGroup"):
        for name, resource in production.of(kind).items():
            assert resource["DeletionPolicy"] == "Retain", name
            assert resource["UpdateReplacePolicy"] == "Retain", name
    for name, table in production.properties("DynamoDB::Table").items():
        assert table["DeletionProtectionEnabled"] is True, name


def test_in_development_nothing_is_left_behind(template: Template) -> None:
    """S23: a stack for an afternoon costs nothing the day after."""
    for kind in ("DynamoDB::Table", "SQS::Queue", "KMS::Key", "Logs::LogGroup"):
        for name, resource in template.of(kind).items():
            assert resource["DeletionPolicy"] == "Delete", name
    for name, table in template.properties("DynamoDB::Table").items():
        assert not table["DeletionProtectionEnabled"], name
