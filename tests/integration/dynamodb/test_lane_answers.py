"""Writes of lanes that were applied and whose answer was lost, or that DynamoDB refuses."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from stepward.adapters.dynamodb.lane_records import EventText
from stepward.domain.convoy.event import StoredEvent
from stepward.domain.convoy.lane import Lane
from stepward.domain.errors import Rejected, Transient
from tests.contract.worlds.lane_worlds import ORDER_ID, DynamoLaneWorld, applied, stored
from tests.integration.dynamodb.faults import LostAnswer, Refusal, Unreachable, counted, intercept, rewrite

ABSENT = Lane(ORDER_ID)
WRITES = pytest.mark.parametrize(
    ("operation", "rows"), [("PutItem", ()), ("TransactWriteItems", (stored(7),))], ids=["put", "transaction"]
)


@WRITES
@pytest.mark.parametrize("before", [0, 1])
def test_a_change_whose_answer_was_lost_is_known_to_be_ours(
    aws_lanes: DynamoLaneWorld, operation: str, rows: Sequence[StoredEvent], before: int
) -> None:
    """Design rule 3: without it the same event would be tried again over what it has done."""
    replaces = applied(1) if before else ABSENT
    if before:
        aws_lanes.another().save(replaces, replaces=ABSENT)
    lost = LostAnswer(aws_lanes.client, operation)
    intercept(aws_lanes.lanes, operation, lost)

    assert aws_lanes.lanes.save(applied(before + 1), replaces=replaces, rows=rows)

    assert lost.requests == 2, "the SDK sends the write again by itself"
    assert aws_lanes.another().load(ORDER_ID) == applied(before + 1)


@WRITES
def test_the_very_same_change_of_another_is_the_others(
    aws_lanes: DynamoLaneWorld, operation: str, rows: Sequence[StoredEvent]
) -> None:
    """C3: two consumers of one order, and one of them has applied the event."""
    aws_lanes.lanes.save(applied(1), replaces=ABSENT)
    aws_lanes.another().save(applied(2), replaces=applied(1), rows=rows)
    requests = counted(aws_lanes.lanes)

    assert not aws_lanes.lanes.save(applied(2), replaces=applied(1), rows=rows)

    assert requests == {operation: 1, "GetItem": 1}


def test_a_change_that_was_overwritten_before_it_was_recognised_is_decided_again(aws_lanes: DynamoLaneWorld) -> None:
    """False makes the caller read again, and the lane then shows all that happened."""
    aws_lanes.lanes.save(applied(1), replaces=ABSENT)
    other = aws_lanes.another()

    def overwritten() -> None:
        assert other.save(applied(3), replaces=applied(2))

    intercept(aws_lanes.lanes, "PutItem", LostAnswer(aws_lanes.client, "PutItem", then=overwritten))

    assert not aws_lanes.lanes.save(applied(2), replaces=applied(1))

    assert other.load(ORDER_ID) == applied(3)


def test_a_transaction_that_meets_another_is_tried_again(moto_lanes: DynamoLaneWorld) -> None:
    conflict = Refusal("TransactionCanceledException", ["TransactionConflict", "None"], times=2)
    intercept(moto_lanes.lanes, "TransactWriteItems", conflict)

    assert moto_lanes.lanes.save(applied(1), replaces=ABSENT, rows=[stored(7)])

    assert conflict.requests == 3


@pytest.mark.parametrize(
    "reasons", [["TransactionConflict", "None"], ["None", "ThrottlingError"], ["ProvisionedThroughputExceeded", "None"]]
)
def test_a_transaction_that_does_not_get_through_is_transient(moto_lanes: DynamoLaneWorld, reasons: list[str]) -> None:
    intercept(moto_lanes.lanes, "TransactWriteItems", Refusal("TransactionCanceledException", reasons))

    with pytest.raises(Transient, match=ORDER_ID):
        moto_lanes.lanes.save(applied(1), replaces=ABSENT, rows=[stored(7)])

    assert moto_lanes.raw() == []


def test_a_transaction_whose_condition_failed_among_other_reasons_has_lost(moto_lanes: DynamoLaneWorld) -> None:
    moto_lanes.another().save(applied(1), replaces=ABSENT)
    mixed = Refusal("TransactionCanceledException", ["ConditionalCheckFailed", "TransactionConflict"])
    intercept(moto_lanes.lanes, "TransactWriteItems", mixed)

    assert not moto_lanes.lanes.save(applied(1), replaces=ABSENT, rows=[stored(7)])


@pytest.mark.parametrize(
    "fault", [Refusal("ThrottlingException"), Unreachable(), Refusal("TransactionConflictException")]
)
def test_what_is_throttled_or_out_of_reach_is_transient(moto_lanes: DynamoLaneWorld, fault: Any) -> None:
    for operation in ("GetItem", "PutItem", "Query", "BatchWriteItem"):
        intercept(moto_lanes.lanes, operation, fault)

    lanes = moto_lanes.lanes
    for call in (
        lambda: lanes.load(ORDER_ID),
        lambda: lanes.rows(ORDER_ID, 1, 5),
        lambda: lanes.save(applied(1), replaces=ABSENT),
        lambda: lanes.save(applied(2, recent=()), replaces=applied(1), older=applied(1).recent),
        lambda: list(lanes.due(0, 1)),
        lambda: list(lanes.needing_attention()),
    ):
        with pytest.raises(Transient):
            call()


def test_a_lane_that_dynamodb_can_never_take_is_refused(moto_lanes: DynamoLaneWorld) -> None:
    too_large = applied(1, done=("x" * 500_000,))

    with pytest.raises(Rejected, match=ORDER_ID):
        moto_lanes.lanes.save(too_large, replaces=ABSENT)


def test_more_rows_than_a_transaction_takes_are_refused_before_anything_is_written(moto_lanes: DynamoLaneWorld) -> None:
    requests = counted(moto_lanes.lanes)

    with pytest.raises(ValueError, match="the limit is 99"):
        moto_lanes.lanes.save(applied(1), replaces=ABSENT, rows=[stored(position) for position in range(2, 102)])

    assert not requests


def test_as_many_rows_as_a_transaction_takes_are_written(aws_lanes: DynamoLaneWorld) -> None:
    rows = [stored(position) for position in range(3, 102)]

    assert aws_lanes.lanes.save(applied(1, highest=101), replaces=ABSENT, rows=rows)

    assert list(aws_lanes.lanes.rows(ORDER_ID, 1, 200)) == rows


@pytest.mark.parametrize(
    ("fails", "rows"), [("PutItem", applied(3).recent), ("BatchWriteItem", ())], ids=["the lane", "its events"]
)
def test_events_are_stored_before_the_lane_that_holds_them_no_more(
    moto_lanes: DynamoLaneWorld, fails: str, rows: Sequence[StoredEvent]
) -> None:
    """A death in between leaves them twice, never nowhere; if they cannot be stored, the lane is not written."""
    moto_lanes.another().save(applied(3), replaces=ABSENT)
    intercept(moto_lanes.lanes, fails, Unreachable())

    with pytest.raises(Transient):
        moto_lanes.lanes.save(applied(4, recent=(stored(4),)), replaces=applied(3), older=applied(3).recent)

    assert list(moto_lanes.another().rows(ORDER_ID, 1, 10)) == list(rows)
    assert moto_lanes.another().load(ORDER_ID) == applied(3)


def test_what_a_batch_leaves_undone_is_sent_again(moto_lanes: DynamoLaneWorld) -> None:
    """Many events may leave at once: 25 per call, and DynamoDB may take only some."""
    held = applied(60).recent
    moto_lanes.another().save(applied(60), replaces=ABSENT)
    answers: list[int] = []

    def some_left(answer: dict[str, Any]) -> None:
        answers.append(len(answers))
        if len(answers) == 1:
            item = {name: {"S": value} for name, value in (("OrderID", ORDER_ID), ("Position", f"{1:010d}"))}
            text = EventText.of(held[0])
            put = {"PutRequest": {"Item": item | {"Body": {"S": text.body}, "Summary": {"S": text.summary}}}}
            answer["UnprocessedItems"] = {moto_lanes.table: [put]}

    rewrite(moto_lanes.lanes, "BatchWriteItem", some_left)

    assert moto_lanes.lanes.save(replace(applied(60), revision=61, recent=()), replaces=applied(60), older=held)

    assert len(answers) == 4
    assert list(moto_lanes.lanes.rows(ORDER_ID, 1, 100)) == list(held)


def test_a_batch_of_which_something_stays_undone_is_transient(moto_lanes: DynamoLaneWorld) -> None:
    moto_lanes.another().save(applied(3), replaces=ABSENT)
    item = {"OrderID": {"S": ORDER_ID}, "Position": {"S": f"{1:010d}"}, "Body": {"S": "{}"}}
    left = {moto_lanes.table: [{"PutRequest": {"Item": item}}]}
    rewrite(moto_lanes.lanes, "BatchWriteItem", lambda answer: answer.update(UnprocessedItems=left))

    with pytest.raises(Transient, match="older events"):
        moto_lanes.lanes.save(applied(4, recent=(stored(4),)), replaces=applied(3), older=applied(3).recent)

    assert moto_lanes.another().load(ORDER_ID) == applied(3)
