"""What AWS bills, by the examples of its own documentation."""

from collections.abc import Mapping
from typing import Any

import pytest

from stepward.cli.cost.billing import Bill, requests_of, units_of_indexes, units_of_query, units_of_reads

KB = 1024
LISTED = {"Shard": {"N": "1"}, "Due": {"N": "5"}}
LOST = {"Error": {"Code": "ConditionalCheckFailedException"}}


def item(size: int, **more: Any) -> dict[str, Any]:
    """An item of that many bytes."""
    return {"OrderID": {"S": "a"}, "B": {"S": "x" * (size - 9)}, **more}


def put(row: dict[str, Any]) -> dict[str, Any]:
    return {"TableName": "tasks", "Item": row}


def billed(operation: str, *calls: Mapping[str, Any], answers: Mapping[int, Mapping[str, Any]] | None = None) -> Any:
    """The totals of these calls of one operation; `answers` are those that are not empty, by the number of the call."""
    bill = Bill()
    for number, request in enumerate(calls):
        bill.add(operation, request, (answers or {}).get(number, {}))
    return bill.totals


@pytest.mark.parametrize(("size", "units"), [(3.5, 1), (4, 1), (4.1, 2), (8, 2)])
def test_a_consistent_read_is_billed_by_whole_four_kilobytes(size: float, units: int) -> None:
    rows = [item(int(size * KB))]
    assert units_of_reads(rows, asked=1, consistent=True) == units
    assert units_of_reads(rows, asked=1, consistent=False) == units / 2


def test_each_item_of_a_batch_is_rounded_by_itself_and_those_of_a_query_together() -> None:
    """The documentation's example: 1.5 KB and 6.5 KB are 12 KB in a batch, and 8 KB in a query."""
    rows = [item(int(1.5 * KB)), item(int(6.5 * KB))]
    assert units_of_reads(rows, asked=2, consistent=True) == 3
    assert units_of_query(rows, consistent=True) == 2


def test_a_missing_item_is_billed_as_a_small_one() -> None:
    assert units_of_reads([], asked=1, consistent=True) == 1
    assert units_of_query([]) == 0.5


def test_a_transaction_is_billed_twice_and_its_index_once() -> None:
    totals = billed("TransactWriteItems", {"TransactItems": [{"Put": put(item(500, **LISTED))}]})
    assert totals["write units"] == 2 + 1


def test_a_put_is_billed_by_the_larger_of_the_old_item_and_the_new_one() -> None:
    assert billed("PutItem", put(item(3 * KB)), put(item(500)), put(item(500)))["write units"] == 3 + 3 + 1


def test_a_put_that_loses_its_condition_is_billed_and_changes_nothing() -> None:
    totals = billed("PutItem", put(item(500)), put(item(3 * KB)), put(item(500)), answers={1: LOST})
    assert totals["write units"] == 1 + 3 + 1


def test_an_index_entry_costs_a_unit_to_come_one_to_go_and_both_to_move() -> None:
    absent, early, late = item(99), item(99, **LISTED), item(99, **LISTED | {"Due": {"N": "6"}})
    moves = [units_of_indexes(*pair) for pair in ((absent, early), (early, early), (early, late), (late, absent))]
    assert moves == [1, 0, 2, 1]


@pytest.mark.parametrize(("size", "requests"), [(0, 1), (1, 1), (64 * KB, 1), (64 * KB + 1, 2), (256 * KB, 4)])
def test_a_call_to_a_queue_is_billed_by_chunks_of_64_kilobytes(size: int, requests: int) -> None:
    assert requests_of(size) == requests


@pytest.mark.parametrize(
    ("queue", "sqs", "fair", "fifo"),
    [
        pytest.param({}, 2, 2, 0, id="a batch is one call"),
        pytest.param({"QueueUrl": "https://sqs/1/order-events.fifo"}, 0, 0, 2, id="a FIFO queue has its own price"),
    ],
)
def test_a_batch_to_a_queue_is_billed_by_its_size(queue: dict[str, str], sqs: int, fair: int, fifo: int) -> None:
    entries = [{"Id": str(n), "MessageBody": "x" * 10 * KB, "MessageGroupId": "a"} for n in range(10)]
    totals = billed("SendMessageBatch", {**queue, "Entries": entries})
    assert (totals["sqs requests"], totals["fair requests"], totals["fifo requests"]) == (sqs, fair, fifo)


def test_rows_that_are_written_in_one_call_are_billed_one_by_one() -> None:
    rows = [{"PutRequest": {"Item": item(1500, Turn={"S": str(number)})}} for number in range(3)]
    assert billed("BatchWriteItem", {"RequestItems": {"lanes": rows}})["write units"] == 3 * 2


def test_a_call_without_a_price_is_an_error() -> None:
    with pytest.raises(ValueError, match="Scan is not billed yet"):
        Bill().add("Scan", {}, {})
