"""A table of shared records of the shape that the stack deploys, and the adapter on it."""

import uuid

from mypy_boto3_dynamodb import DynamoDBClient

from stepward.adapters.dynamodb.shared_records import DynamoSharedRecords
from stepward.adapters.dynamodb.tables import Access, SharedRecordItem, bound
from stepward.local.access import REGION
from stepward.testing.aws.tables import create_table


def created(client: DynamoDBClient) -> str:
    """A new table of shared records; its name."""
    return create_table(client, "shared_records", f"t{uuid.uuid4().hex[:8]}-shared-records")


def on(table: str, endpoint: str | None = None) -> DynamoSharedRecords:
    """The adapter as one process has it."""
    return DynamoSharedRecords(bound(SharedRecordItem, table, Access(REGION, endpoint)), lambda: uuid.uuid4().hex[:12])


def dynamo_shared_records(client: DynamoDBClient, endpoint: str | None = None) -> DynamoSharedRecords:
    """The adapter on a table of its own."""
    return on(created(client), endpoint)
