"""Shared records whose write was applied and its answer lost, that DynamoDB refuses, or that is corrupt."""

from typing import Any

import pytest

from stepward.adapters.dynamodb.shared_records import DynamoSharedRecords
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.errors import Corrupt, Transient
from tests.contract.worlds import shared_record_tables
from tests.contract.worlds.store_worlds import DynamoWorld
from tests.integration.dynamodb.faults import LostAnswer, Refusal, Unreachable, intercept

NAME = "breaker/payments"
FIRST, SECOND = SharedRecord(NAME, 1, {"mode": "closed"}), SharedRecord(NAME, 2, {"mode": "open"})


def two_views(aws: DynamoWorld) -> tuple[str, DynamoSharedRecords, DynamoSharedRecords]:
    table = shared_record_tables.created(aws.client)
    endpoint = aws.access.endpoint
    return table, shared_record_tables.on(table, endpoint), shared_record_tables.on(table, endpoint)


@pytest.mark.parametrize("before", [None, FIRST])
def test_a_write_whose_answer_was_lost_is_known_to_be_ours(aws: DynamoWorld, before: SharedRecord | None) -> None:
    """Design rule 3: without it a probe would wait for itself."""
    _, ours, other = two_views(aws)
    shared_record = FIRST if before is None else SECOND
    if before is not None:
        other.write(before, replaces=None)
    lost = LostAnswer(aws.client, "PutItem")
    intercept(ours, "PutItem", lost)

    assert ours.write(shared_record, replaces=before)

    assert lost.requests == 2, "the SDK sends the write again by itself"
    assert other.read(NAME) == shared_record


def test_the_very_same_record_written_by_another_is_the_others(aws: DynamoWorld) -> None:
    _, ours, other = two_views(aws)
    other.write(FIRST, replaces=None)

    assert not ours.write(FIRST, replaces=None)


@pytest.mark.parametrize("operation", ["PutItem", "GetItem"])
def test_what_is_throttled_or_out_of_reach_is_transient(moto: DynamoWorld, operation: str) -> None:
    for fault in (Refusal("ThrottlingException"), Unreachable()):
        _, ours, _ = two_views(moto)
        intercept(ours, operation, fault)
        with pytest.raises(Transient, match=NAME):
            ours.write(FIRST, replaces=None) if operation == "PutItem" else ours.read(NAME)


GARBAGE: list[dict[str, Any]] = [
    *({"Body": body} for body in ({"S": "not JSON"}, {"S": "[]"}, {"N": "1"}, None)),
    *({"Revision": revision} for revision in ({"N": "1.5"}, {"S": "1"}, None)),
]


@pytest.mark.parametrize("garbage", GARBAGE)
def test_what_cannot_be_understood_is_corrupt(moto: DynamoWorld, garbage: dict[str, Any]) -> None:
    table, ours, _ = two_views(moto)
    item = {"Name": {"S": NAME}, "Revision": {"N": "1"}, "WriteId": {"S": "w"}, "Body": {"S": "{}"}} | garbage
    moto.client.put_item(TableName=table, Item={key: value for key, value in item.items() if value})

    with pytest.raises(Corrupt, match=NAME):
        ours.read(NAME)
