"""A controls table of the shape that the stack deploys, and the adapter on it."""

import uuid

from mypy_boto3_dynamodb import DynamoDBClient

from stepward.adapters.dynamodb.shared_records import DynamoControls
from stepward.adapters.dynamodb.tables import Access, ControlItem, bound
from stepward.local.access import REGION
from stepward.testing.aws.tables import create_table


def created(client: DynamoDBClient) -> str:
    """A new controls table; its name."""
    return create_table(client, "controls", f"t{uuid.uuid4().hex[:8]}-controls")


def on(table: str, endpoint: str | None = None) -> DynamoControls:
    """The adapter as one process has it."""
    return DynamoControls(bound(ControlItem, table, Access(REGION, endpoint)), lambda: uuid.uuid4().hex[:12])


def dynamo_controls(client: DynamoDBClient, endpoint: str | None = None) -> DynamoControls:
    """The adapter on a table of its own."""
    return on(created(client), endpoint)
