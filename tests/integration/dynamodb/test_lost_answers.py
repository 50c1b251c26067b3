"""A write that was applied and whose answer was lost: the SDK repeats it, and it fails on itself."""

from dataclasses import replace

import pytest

from stepward.domain.messages import Start
from stepward.domain.submission import Submission
from stepward.domain.task.decide import decide
from stepward.domain.task.record import Task
from tests.contract.worlds.store_worlds import NOW, PLAN, TIMING, DynamoWorld, order_of, submitted, task_in, task_of
from tests.integration.dynamodb.faults import LostAnswer, intercept


def claimed(task: Task, by: str = "scheduler-1") -> Task:
    return decide(task, PLAN, Start(task.order_id), now=NOW, by=by, timing=TIMING).task


def test_a_claim_whose_answer_was_lost_is_known_to_be_ours(aws: DynamoWorld) -> None:
    """Design rule 3: without it a Scheduler walks away from a lock that it holds."""
    task = submitted(aws.store, "ord-1")
    lost = LostAnswer(aws.client, "PutItem")
    intercept(aws.store, "PutItem", lost)

    assert aws.store.save(claimed(task), replaces=task)

    assert lost.requests == 2, "the SDK sends the write again by itself"
    assert task_in(aws.another_store()) == claimed(task)


def test_a_claim_that_somebody_else_won_meanwhile_is_not_ours(aws: DynamoWorld) -> None:
    """S10: even the very same record, written by another, is the other's."""
    task = submitted(aws.store, "ord-1")
    assert aws.another_store().save(claimed(task), replaces=task)

    assert not aws.store.save(claimed(task), replaces=task)


def test_a_claim_that_was_overwritten_before_it_was_recognised_is_decided_again(aws: DynamoWorld) -> None:
    """False makes the caller read again, and the record then shows all that happened."""
    task = submitted(aws.store, "ord-1")
    ours = claimed(task)
    theirs = replace(ours, revision=ours.revision + 1, fence=99)
    other = aws.another_store()
    lost = LostAnswer(aws.client, "PutItem", then=lambda: _must(other.save(theirs, replaces=ours)))
    intercept(aws.store, "PutItem", lost)

    assert not aws.store.save(ours, replaces=task)

    assert task_in(aws.store) == theirs


def test_a_submission_whose_answer_was_lost_is_known_to_be_ours(aws: DynamoWorld) -> None:
    """S8: it counts as accepted, once; with or without the request token, which AWS honours and moto does not."""
    lost = LostAnswer(aws.client, "TransactWriteItems")
    intercept(aws.store, "TransactWriteItems", lost)

    assert aws.store.submit(order_of("ord-1"), task_of("ord-1"), PLAN) is Submission.ACCEPTED

    assert lost.requests == 2
    assert aws.another_store().submit(order_of("ord-1"), task_of("ord-1"), PLAN) is Submission.DUPLICATE


@pytest.mark.parametrize("total", ["12.30", "99.99"])
def test_a_submission_that_another_won_is_not_ours(aws: DynamoWorld, total: str) -> None:
    aws.another_store().submit(order_of("ord-1"), task_of("ord-1"), PLAN)
    expected = Submission.DUPLICATE if total == "12.30" else Submission.CONFLICT

    assert aws.store.submit(order_of("ord-1", f'{{"total":"{total}"}}'), task_of("ord-1"), PLAN) is expected


def _must(done: bool) -> None:
    assert done
