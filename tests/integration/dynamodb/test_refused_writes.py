"""What DynamoDB's refusals mean: try again, give up, or look at the existing row."""

from dataclasses import replace
from typing import Any

import pytest

from stepward.adapters.dynamodb.writes import TRIES
from stepward.domain.errors import Rejected, Transient
from stepward.domain.submission import Submission
from tests.contract.worlds.store_worlds import NOW, PLAN, DynamoWorld, order_of, submitted, task_in, task_of
from tests.integration.dynamodb.faults import Refusal, Send, Unreachable, intercept, rewrite

CANCELLED = "TransactionCanceledException"
SDK_TRIES = 3
TOO_LARGE = "ItemCollectionSizeLimitExceeded"
THROTTLED = ["ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException"]
BUSY = [*THROTTLED, "TransactionConflictException"]
BROKEN = Refusal("InternalServerError", status=500)
OTHER_ORDER = '{"total":"99.99"}'


@pytest.mark.parametrize(
    ("reasons", "stands", "outcome"),
    [
        (["ConditionalCheckFailed", "None"], order_of("ord-1").body, Submission.DUPLICATE),
        (["ConditionalCheckFailed", "None"], OTHER_ORDER, Submission.CONFLICT),
        (["None", "ConditionalCheckFailed"], order_of("ord-1").body, Submission.DUPLICATE),
        (["ConditionalCheckFailed", "TransactionConflict"], order_of("ord-1").body, Submission.DUPLICATE),
        (["TransactionConflict", "ConditionalCheckFailed"], OTHER_ORDER, Submission.CONFLICT),
        (["ConditionalCheckFailed", "ThrottlingError"], order_of("ord-1").body, Submission.DUPLICATE),
    ],
)
def test_a_row_in_the_way_is_compared(moto: DynamoWorld, reasons: list[str], stands: str, outcome: Submission) -> None:
    """S8: one failed condition is enough to read the row; equal is a duplicate, else a conflict."""
    moto.another_store().submit(order_of("ord-1", stands), task_of("ord-1"), PLAN)
    intercept(moto.store, "TransactWriteItems", Refusal(CANCELLED, reasons))

    assert moto.store.submit(order_of("ord-1"), task_of("ord-1"), PLAN) is outcome


@pytest.mark.parametrize(
    ("reasons", "requests", "why"),
    [
        (["None", "ThrottlingError"], 1, "submit ord-1"),
        (["TransactionConflict", "ProvisionedThroughputExceeded"], 1, "submit ord-1"),
        (["ThrottlingError", "None"], 1, "submit ord-1"),
        (["SomethingNew", "None"], 1, "submit ord-1"),
        (["TransactionConflict", "None"], TRIES, "come again"),
    ],
)
def test_a_submission_that_does_not_get_through_is_transient_and_does_not_spin(
    moto: DynamoWorld, reasons: list[str], requests: int, why: str
) -> None:
    """Only one that always meets other transactions is tried again, a bounded number of times."""
    refusal = Refusal(CANCELLED, reasons)
    intercept(moto.store, "TransactWriteItems", refusal)

    with pytest.raises(Transient, match=why):
        moto.store.submit(order_of("ord-1"), task_of("ord-1"), PLAN)

    assert refusal.requests == requests
    assert moto.orders.find("ord-1") is None


@pytest.mark.parametrize(
    "reasons", [[first, "ValidationError"] for first in ("None", "TransactionConflict")] + [[TOO_LARGE, "None"]]
)
def test_a_submission_that_can_never_be_taken_is_rejected(moto: DynamoWorld, reasons: list[str]) -> None:
    intercept(moto.store, "TransactWriteItems", Refusal(CANCELLED, reasons))

    with pytest.raises(Rejected) as rejected:
        moto.store.submit(order_of("ord-1"), task_of("ord-1"), PLAN)

    assert all(code in str(rejected.value) for code in reasons)


@pytest.mark.parametrize("reasons", [["TransactionConflict", "None"], ["TransactionConflict", "TransactionConflict"]])
def test_a_submission_that_met_another_transaction_is_tried_again(moto: DynamoWorld, reasons: list[str]) -> None:
    refusal = Refusal(CANCELLED, reasons, times=TRIES - 1)
    intercept(moto.store, "TransactWriteItems", refusal)

    assert moto.store.submit(order_of("ord-1"), task_of("ord-1"), PLAN) is Submission.ACCEPTED

    assert refusal.requests == TRIES


@pytest.mark.parametrize(
    ("fault", "why"),
    [*((Refusal(code), code) for code in BUSY), (BROKEN, BROKEN.code), (Unreachable(), "ReadTimeoutError")],
    ids=[*BUSY, BROKEN.code, "out of reach"],
)
def test_a_table_that_is_busy_or_out_of_reach_is_transient(moto: DynamoWorld, fault: Send, why: str) -> None:
    """A plain write conflicts with a running transaction, too (TransactionConflictException)."""
    task = submitted(moto.store, "ord-1")
    for operation in ("PutItem", "GetItem", "BatchGetItem", "Query", "Scan", "TransactWriteItems"):
        intercept(moto.store, operation, fault)

    for attempt in (
        lambda: moto.store.save(replace(task, revision=2), replaces=task),
        lambda: moto.store.load("ord-1"),
        lambda: list(moto.store.due(0, NOW)),
        lambda: list(moto.store.every(None)),
        lambda: moto.orders.find("ord-1"),
        lambda: moto.store.submit(order_of("ord-2"), task_of("ord-2"), PLAN),
    ):
        with pytest.raises(Transient, match=why):
            attempt()


def test_a_plan_that_cannot_be_stored_or_read_now_is_transient(moto: DynamoWorld) -> None:
    submitted(moto.store, "ord-1")
    writer, reader = moto.another_store(), moto.another_store()
    intercept(writer, "PutItem", Refusal("ThrottlingException"))
    intercept(reader, "GetItem", Refusal("ThrottlingException"))

    with pytest.raises(Transient, match="store plan"):
        writer.submit(order_of("ord-2"), task_of("ord-2"), PLAN)
    with pytest.raises(Transient, match="read plan"):
        reader.load("ord-1")
    assert moto.raw("ord-2") is None


def test_throttling_is_tried_again_by_the_sdk_a_bounded_number_of_times(moto: DynamoWorld) -> None:
    task = submitted(moto.store, "ord-1")
    refusal = Refusal("ThrottlingException")
    intercept(moto.store, "PutItem", refusal)

    with pytest.raises(Transient):
        moto.store.save(replace(task, revision=2), replaces=task)

    assert refusal.requests == SDK_TRIES


def test_a_record_that_dynamodb_will_never_take_is_rejected(aws: DynamoWorld) -> None:
    """A task that passes 400 KB is refused by the table itself, and stays as it was."""
    task = submitted(aws.store, "ord-1")
    record = replace(task.steps["reserve"], result={"note": "x" * 410_000})
    too_large = replace(task, revision=2, steps={**task.steps, "reserve": record})

    with pytest.raises(Rejected, match="write task ord-1"):
        aws.store.save(too_large, replaces=task)

    assert task_in(aws.store) == task


def test_what_a_read_leaves_unprocessed_is_asked_for_again(moto: DynamoWorld) -> None:
    task = submitted(moto.store, "ord-1")
    answers: list[dict[str, Any]] = []

    def leave_the_order_out(parsed: dict[str, Any]) -> None:
        answers.append(parsed)
        if len(answers) == 1:
            leave_out(parsed, moto.tables.orders)

    rewrite(moto.store, "BatchGetItem", leave_the_order_out)

    loaded = moto.store.load("ord-1")

    assert loaded is not None
    assert (loaded.task, loaded.order) == (task, {"total": "12.30"})
    assert list(answers[1]["Responses"]) == [moto.tables.orders], "only what was left out is asked for again"


def test_of_many_tasks_those_that_are_left_out_are_asked_for_again(moto: DynamoWorld) -> None:
    """D1: however many calls it takes, as long as each brings some; a deployment counts all of them."""
    ids = [f"ord-{number}" for number in range(20)]
    for order_id in ids:
        submitted(moto.store, order_id)
    table = moto.tables.tasks

    def leave_all_but_one(parsed: Any) -> None:
        one, *others = parsed["Responses"][table]
        parsed["Responses"][table] = [one]
        keys = [{"OrderID": item["OrderID"]} for item in others]
        parsed["UnprocessedKeys"] = {table: {"Keys": keys}} if keys else {}

    rewrite(moto.store, "BatchGetItem", leave_all_but_one)

    found = list(moto.store.load_many(ids))
    assert sorted(it[0].order_id for it in found if isinstance(it, tuple)) == sorted(ids)


def test_a_read_that_stays_unprocessed_is_transient(moto: DynamoWorld) -> None:
    submitted(moto.store, "ord-1")
    rewrite(moto.store, "BatchGetItem", lambda parsed: leave_out(parsed, moto.tables.tasks))

    with pytest.raises(Transient, match="throttled"):
        moto.store.load("ord-1")


def test_a_task_without_its_order_is_not_submitted_over(aws: DynamoWorld) -> None:
    """S8: both or neither; half of a pair, left by a faulty restore, stays as it is."""
    submitted(aws.store, "ord-1")
    aws.client.delete_item(TableName=aws.tables.orders, Key={"OrderID": {"S": "ord-1"}})
    before = aws.raw("ord-1")

    with pytest.raises(Transient, match="its order is not"):
        aws.store.submit(order_of("ord-1"), task_of("ord-1"), PLAN)

    assert aws.orders.find("ord-1") is None
    assert aws.raw("ord-1") == before


def test_an_order_without_its_task_is_not_submitted_over(aws: DynamoWorld) -> None:
    submitted(aws.store, "ord-1")
    aws.client.delete_item(TableName=aws.tables.tasks, Key={"OrderID": {"S": "ord-1"}})

    assert aws.store.submit(order_of("ord-1"), task_of("ord-1"), PLAN) is Submission.DUPLICATE

    assert aws.raw("ord-1") is None


def leave_out(parsed: dict[str, Any], table: str) -> None:
    parsed["Responses"].pop(table)
    parsed["UnprocessedKeys"] = {table: {"Keys": [{"OrderID": {"S": "ord-1"}}], "ConsistentRead": True}}
