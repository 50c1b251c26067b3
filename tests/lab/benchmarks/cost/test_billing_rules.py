"""What AWS bills, by the examples of its own documentation."""

from typing import Any

import pytest

from tests.lab.benchmarks.cost.billing import Bill, requests_of, units_of_indexes, units_of_query, units_of_reads

KB = 1024


def item(size: int, **more: Any) -> dict[str, Any]:
    """An item of that many bytes."""
    return {"OrderID": {"S": "a"}, "B": {"S": "x" * (size - 9)}, **more}


def put(table: str, row: dict[str, Any]) -> dict[str, Any]:
    return {"TableName": table, "Item": row}


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


def test_what_is_not_there_is_billed_as_a_small_item() -> None:
    assert units_of_reads([], asked=1, consistent=True) == 1
    assert units_of_query([]) == 0.5


def test_a_transaction_is_billed_twice_and_its_index_once() -> None:
    listed = {"Shard": {"N": "1"}, "Due": {"N": "5"}}
    bill = Bill()
    bill.add("TransactWriteItems", {"TransactItems": [{"Put": put("tasks", item(500, **listed))}]}, {})

    assert bill.totals["write units"] == 2 + 1


def test_a_put_is_billed_by_the_larger_of_the_old_item_and_the_new_one() -> None:
    bill = Bill()
    bill.add("PutItem", put("tasks", item(3 * KB)), {})
    bill.add("PutItem", put("tasks", item(500)), {})
    bill.add("PutItem", put("tasks", item(500)), {})

    assert bill.totals["write units"] == 3 + 3 + 1


def test_a_put_that_loses_its_condition_is_billed_and_changes_nothing() -> None:
    bill = Bill()
    bill.add("PutItem", put("tasks", item(500)), {})
    bill.add("PutItem", put("tasks", item(3 * KB)), {"Error": {"Code": "ConditionalCheckFailedException"}})
    bill.add("PutItem", put("tasks", item(500)), {})

    assert bill.totals["write units"] == 1 + 3 + 1


def test_an_index_entry_costs_a_unit_to_come_one_to_go_and_both_to_move() -> None:
    absent, early, late = (
        item(99),
        item(99, Shard={"N": "1"}, Due={"N": "5"}),
        item(99, Shard={"N": "1"}, Due={"N": "6"}),
    )

    moves = [units_of_indexes(*pair) for pair in ((absent, early), (early, early), (early, late), (late, absent))]
    assert moves == [1, 0, 2, 1]


@pytest.mark.parametrize(("size", "requests"), [(0, 1), (1, 1), (64 * KB, 1), (64 * KB + 1, 2), (256 * KB, 4)])
def test_a_call_to_a_queue_is_billed_by_chunks_of_64_kilobytes(size: int, requests: int) -> None:
    assert requests_of(size) == requests


def test_a_batch_to_a_queue_is_one_call() -> None:
    bill = Bill()
    entries = [{"Id": str(n), "MessageBody": "x" * 10 * KB, "MessageGroupId": "a"} for n in range(10)]
    bill.add("SendMessageBatch", {"Entries": entries}, {})

    assert (bill.totals["sqs requests"], bill.totals["fair requests"]) == (2, 2)


def test_rows_that_are_written_in_one_call_are_billed_one_by_one() -> None:
    bill = Bill()
    rows = [{"PutRequest": {"Item": item(1500, Turn={"S": str(position)})}} for position in range(3)]
    bill.add("BatchWriteItem", {"RequestItems": {"lanes": rows}}, {})

    assert bill.totals["write units"] == 3 * 2


def test_a_batch_to_a_fifo_queue_has_a_price_of_its_own() -> None:
    bill = Bill()
    entries = [{"Id": str(n), "MessageBody": "x" * 10 * KB, "MessageGroupId": "a"} for n in range(10)]
    bill.add("SendMessageBatch", {"QueueUrl": "https://sqs/1/order-events.fifo", "Entries": entries}, {})

    assert (bill.totals["fifo requests"], bill.totals["sqs requests"], bill.totals["fair requests"]) == (2, 0, 0)


def test_a_call_that_nobody_priced_is_an_error() -> None:
    with pytest.raises(ValueError, match="Scan is not billed yet"):
        Bill().add("Scan", {}, {})
