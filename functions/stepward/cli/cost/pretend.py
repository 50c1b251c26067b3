"""DynamoDB and SQS in memory, for the real adapters: nobody else writes, so each condition holds and no call fails."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pynamodb.connection import Connection

from stepward.adapters.dynamodb.tables import Access
from stepward.cli.cost.billing import KEYS, Item
from stepward.cli.cost.meter import Meter
from stepward.testing.sqs.queue import MemoryQueue

REGION = "us-east-1"


class Tables(Connection):
    """The tables, as pynamodb reaches them; the meter hears of each call."""

    def __init__(self, meter: Meter) -> None:
        super().__init__(region=REGION)
        self.meter = meter
        self.rows: defaultdict[str, dict[str, Item]] = defaultdict(dict)

    def access(self) -> Access:
        """What binds models to these tables."""
        made = Access(REGION)
        object.__setattr__(made, "connection", self)
        return made

    def dispatch(self, operation_name: str, operation_kwargs: dict[str, Any]) -> dict[str, Any]:
        """Answer a call as DynamoDB does, as far as the adapters need it."""
        known: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "PutItem": self._put,
            "TransactWriteItems": self._put_together,
            "GetItem": self._get,
            "BatchGetItem": self._get_many,
            "Query": self._due,
        }
        answer = known[operation_name](operation_kwargs)
        self.meter.called(operation_name, operation_kwargs, answer)
        return answer

    def _put(self, request: Mapping[str, Any]) -> dict[str, Any]:
        self.rows[request["TableName"]][_key(request["Item"])] = request["Item"]
        return {}

    def _put_together(self, request: Mapping[str, Any]) -> dict[str, Any]:
        for each in request["TransactItems"]:
            self._put(each["Put"])
        return {}

    def _get(self, request: Mapping[str, Any]) -> dict[str, Any]:
        found = self.rows[request["TableName"]].get(_key(request["Key"]))
        return {"Item": found} if found else {}

    def _get_many(self, request: Mapping[str, Any]) -> dict[str, Any]:
        found = {
            table: [row for key in wanted["Keys"] if (row := self.rows[table].get(_key(key)))]
            for table, wanted in request["RequestItems"].items()
        }
        return {"Responses": found}

    def _due(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The keys that the due index lists for a shard up to a time."""
        shard, until = (each["N"] for each in request["ExpressionAttributeValues"].values())
        listed = [row for row in self.rows[request["TableName"]].values() if row.get("Shard", {}).get("N") == shard]
        due = [{"OrderID": row["OrderID"]} for row in listed if int(row["Due"]["N"]) <= int(until)]
        return {"Items": due, "Count": len(due), "ScannedCount": len(due)}


def _key(item: Item) -> str:
    return next(str(item[name]["S"]) for name in KEYS if name in item)


@dataclass(frozen=True, slots=True)
class Queues:
    """The queues, as a client of SQS reaches them, each by its name; the meter hears of each call."""

    meter: Meter
    queues: Mapping[str, MemoryQueue]

    def send_message_batch(self, *, QueueUrl: str, Entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:  # noqa: N803
        """Take all messages."""
        for entry in Entries:
            self.queues[QueueUrl].send(entry["MessageBody"], delay=entry.get("DelaySeconds"))
        answer = {"Successful": [{"Id": entry["Id"]} for entry in Entries]}
        self.meter.called("SendMessageBatch", {"QueueUrl": QueueUrl, "Entries": Entries}, answer)
        return answer

    def get_queue_attributes(self, **request: Any) -> dict[str, Any]:
        """Say that no message waits."""
        answer = {"Attributes": {"ApproximateNumberOfMessages": "0"}}
        self.meter.called("GetQueueAttributes", request, answer)
        return answer
