"""The lanes and the ledgers' objects of one test in one of the three worlds."""

import uuid
from dataclasses import dataclass, field, replace
from typing import Any

import boto3
from mypy_boto3_dynamodb import DynamoDBClient
from mypy_boto3_s3 import S3Client

from stepward.adapters.dynamodb.indexes import shard_of
from stepward.adapters.dynamodb.lanes import DynamoLanes
from stepward.adapters.dynamodb.tables import Access
from stepward.adapters.s3_ledgers import S3Ledgers
from stepward.domain.convoy.event import OrderEvent, StoredEvent
from stepward.domain.convoy.lane import Alerted, Blocked, Lane, LaneRules
from stepward.local.access import REGION
from stepward.ports import Lanes
from stepward.testing.aws.tables import create_table
from stepward.testing.memory.lanes import MemoryLanes, MemoryLedgers
from stepward.wire.order_event import stored_event
from stepward.wire.strict_json import canonical
from stepward.wiring.lanes import lanes_in
from tests.contract.worlds import access as worlds
from tests.contract.worlds.store_worlds import NOW, SHARDS

RULES = LaneRules()
ORDER_ID = "ord-1"


def event(position: int = 1, order_id: str = ORDER_ID, **content: Any) -> OrderEvent:
    """An event as the wire reads it, with the sequence number of its position."""
    usual = {"op": "add", "amount": "1.00"} if position > 1 else {"op": "create", "currency": "EUR"}
    numbered = {"sequence": position} if position > 0 else {}
    return stored_event(canonical({"orderId": order_id, **usual, **numbered, **content}))


def stored(position: int, skipped: str = "", **content: Any) -> StoredEvent:
    return StoredEvent(position, event(position, **content), skipped)


def applied(last: int, **changes: Any) -> Lane:
    """A lane that has come so far, one event per change, all of them within it."""
    events = tuple(stored(position) for position in range(1, last + 1))
    lane = Lane(ORDER_ID, last, last=last, highest=last, created=True, recent=events, touched_at=NOW)
    return replace(lane, **changes)


def eventful() -> Lane:
    """A lane of which nothing is as usual."""
    return Lane(
        ORDER_ID,
        revision=7,
        sequenced=False,
        last=5,
        highest=9,
        end=9,
        created=True,
        deleted=4,
        blocked=Blocked(-2, "sequence: 'x' is no number", NOW + 1),
        gap_since=NOW + 2,
        attempts=3,
        alerted=Alerted.GAP,
        recent=(stored(4), stored(5, "asOf: something newer was applied before")),
        offsets={"zebra": 3, "ant": 1},
        unsequenced_seen=2,
        unsequenced=(-2,),
        as_of=NOW - 5,
        touched_at=NOW + 3,
        due=NOW + 4,
        done=("asked-1", "asked-2"),
    )


@dataclass(frozen=True)
class DynamoLaneWorld:
    """The adapter on a table of its own; `client` shows what it really wrote."""

    client: DynamoDBClient
    table: str
    endpoint: str | None
    lanes: DynamoLanes

    @staticmethod
    def new(client: DynamoDBClient, endpoint: str | None = None) -> "DynamoLaneWorld":
        table = create_table(client, "lanes", f"t{uuid.uuid4().hex[:8]}-lanes")
        return DynamoLaneWorld(client, table, endpoint, lanes_in(Access(REGION, endpoint), table, SHARDS))

    def another(self) -> DynamoLanes:
        """The same table as another process sees it."""
        return lanes_in(Access(REGION, self.endpoint), self.table, SHARDS)

    def raw(self, order_id: str = ORDER_ID) -> list[dict[str, Any]]:
        """Everything of an order's lane as it is stored, the lane itself last."""
        answer = self.client.query(
            TableName=self.table,
            KeyConditionExpression="OrderID = :id",
            ExpressionAttributeValues={":id": {"S": order_id}},
            ConsistentRead=True,
        )
        items: list[dict[str, Any]] = answer["Items"]
        return items

    def put(self, position: str, order_id: str = ORDER_ID, **attributes: Any) -> None:
        """Put a row past the adapter."""
        keys = {"OrderID": {"S": order_id}, "Position": {"S": position}}
        self.client.put_item(TableName=self.table, Item={**keys, **attributes})


def lanes_on_dynamodb(access: worlds.Access) -> DynamoLaneWorld:
    return DynamoLaneWorld.new(boto3.client("dynamodb", **access), access.get("endpoint_url"))


def lanes_on(access: worlds.Access | None) -> Lanes:
    """The twin in memory, or the adapter on DynamoDB."""
    return MemoryLanes(lambda name: shard_of(name, SHARDS)) if access is None else lanes_on_dynamodb(access).lanes


@dataclass(frozen=True)
class MemoryLedgerWorld:
    ledgers: MemoryLedgers = field(default_factory=MemoryLedgers)

    def put(self, key: str, content: bytes) -> None:
        self.ledgers.objects[key] = content

    def delete(self, key: str) -> None:
        del self.ledgers.objects[key]


@dataclass(frozen=True)
class S3LedgerWorld:
    client: S3Client
    bucket: str
    ledgers: S3Ledgers

    @staticmethod
    def new(client: S3Client) -> "S3LedgerWorld":
        bucket = f"ledgers-{uuid.uuid4().hex[:8]}"
        client.create_bucket(Bucket=bucket)
        return S3LedgerWorld(client, bucket, S3Ledgers(lambda: client, bucket))

    def put(self, key: str, content: bytes) -> None:
        self.client.put_object(Bucket=self.bucket, Key=key, Body=content)

    def delete(self, key: str) -> None:
        self.client.delete_object(Bucket=self.bucket, Key=key)


LedgerWorld = MemoryLedgerWorld | S3LedgerWorld


def ledger_world(access: worlds.Access | None) -> LedgerWorld:
    """The twin in memory, or the adapter on a bucket of its own."""
    return MemoryLedgerWorld() if access is None else S3LedgerWorld.new(boto3.client("s3", **access))
