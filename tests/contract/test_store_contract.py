"""What every state store promises, in memory, on moto and on the local cloud alike."""

from dataclasses import MISSING, fields, replace
from decimal import Decimal

import pytest

from stepward.adapters.dynamodb.indexes import PAGE, shard_of
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.submission import Submission
from stepward.domain.task.record import Early, NewerPlan, Parent, ProcessState, StepRecord, Task, TimeLimit
from tests.contract.worlds.store_worlds import (
    NOW,
    PLAN,
    SHARDS,
    StoreWorld,
    changed,
    ids_in,
    order_of,
    submitted,
    task_in,
    task_of,
)

RESULT = {
    "amount": Decimal("12.30"),
    "count": 7,
    "huge": 10**37,
    "tiny": Decimal("0.00000000000000000001"),
    "note": "Grüße, 雪 \U0001f600",
    "nested": {"list": [1, Decimal("-2.5"), "x", True, None, {}]},
    "empty": {},
}
FULL_STEP = StepRecord(
    order_id="ord-full",
    name="reserve",
    process_state=ProcessState.ERROR,
    locked_by="scheduler-0a1b2c",
    complete_by=NOW + 60_000,
    failure_count=2,
    attempt=3,
    token="0123456789ab",
    fence=4,
    started_at=NOW + 1,
    ended_at=NOW + 2,
    result=RESULT,
    error="refused: Größe „XL“",
    alert_by=NOW + 3,
    raised="KeyError: 'x'",
    early=Early("fraud-881", {"by": "ann"}, "in doubt", "the submitter"),
    not_before=NOW + 4,
    policy=1,
    rounds=2,
    lacks="agent worker does not know operation reserve; deploy it",
    untried=3,
)
FULL_TASK = Task(
    order_id="ord-full",
    plan_id=PLAN.plan_id,
    created_at=NOW,
    steps={"reserve": FULL_STEP, "charge": StepRecord("ord-full", "charge"), "ship": StepRecord("ord-full", "ship")},
    due=NOW + 3,
    revision=2,
    fence=4,
    fence_base=1,
    history=(
        HistoryEntry(
            NOW, HistoryKind.RECOVERED, "reserve", 2, "supervisor-1", "no answer by complete-by", 5_001, ("newer",)
        ),
        HistoryEntry(NOW + 2, HistoryKind.FAILED, "reserve", 3, "scheduler-1", 'said "no" ✗'),
    ),
    undoing="sold twice ✗",
    paused="stock is being counted",
    reply_to="https://sqs.us-east-1.amazonaws.com/111122223333/replies-shop",
    correlation_id="checkout-1",
    complete_by=NOW + 86_400_000,
    time_limit=TimeLimit.PASSED,
    parent=Parent("ord-parent", "parts", NOW + 5),
)


def test_an_accepted_order_is_there_with_its_task_and_plan(stores: StoreWorld) -> None:
    """S8, S9: order and record are written together; the record starts Pending, unlocked and without failures."""
    order, task = order_of("ord-1", '{"items":[{"qty":2,"unitPrice":"12.30"}],"rate":0.5}'), task_of("ord-1")

    assert stores.store.submit(order, task, PLAN) is Submission.ACCEPTED

    loaded = stores.store.load("ord-1")
    assert loaded is not None
    assert (loaded.task, loaded.plan) == (task, PLAN)
    assert loaded.order == {"items": [{"qty": 2, "unitPrice": "12.30"}], "rate": Decimal("0.5")}
    assert stores.orders.find("ord-1") == order
    assert {step.locked_by for step in loaded.task.steps.values()} == {None}


def test_a_task_is_loaded_without_its_order_where_that_is_not_needed(stores: StoreWorld) -> None:
    task = submitted(stores.store, "ord-1")

    loaded = stores.store.load("ord-1", with_order=False)

    assert loaded is not None
    assert (loaded.task, loaded.plan, loaded.order) == (task, PLAN, {})
    assert stores.store.load("ord-2", with_order=False) is None


def test_what_was_never_submitted_is_not_there(stores: StoreWorld) -> None:
    assert stores.store.load("ord-1") is None
    assert stores.orders.find("ord-1") is None


def test_the_same_order_again_is_a_duplicate_and_changes_nothing(stores: StoreWorld) -> None:
    """S8: the task of the first submission stays as far as it has come."""
    first = submitted(stores.store, "ord-1")
    further = changed(first, fence=1)
    assert stores.store.save(further, replaces=first)

    assert stores.store.submit(order_of("ord-1"), task_of("ord-1", NOW + 5), PLAN) is Submission.DUPLICATE

    assert task_in(stores.store, "ord-1") == further


def test_other_content_under_the_same_id_is_a_conflict_and_changes_nothing(stores: StoreWorld) -> None:
    first = submitted(stores.store, "ord-1")

    other = order_of("ord-1", '{"total":"99.99"}')
    assert stores.store.submit(other, task_of("ord-1", NOW + 5), PLAN) is Submission.CONFLICT

    assert stores.orders.find("ord-1") == order_of("ord-1")
    assert task_in(stores.store, "ord-1") == first


def test_a_save_wins_on_the_revision_that_was_read(stores: StoreWorld) -> None:
    """S10: a claim is one exclusive, atomic write."""
    read = submitted(stores.store, "ord-1")
    winner, loser = changed(read, fence=1), changed(read, fence=9)

    assert stores.store.save(winner, replaces=read)
    assert not stores.store.save(loser, replaces=read)

    assert task_in(stores.store, "ord-1") == winner


def test_a_save_from_an_earlier_life_of_the_order_loses(stores: StoreWorld) -> None:
    """A restored or deleted order may be submitted again; its revisions begin anew."""
    task = submitted(stores.store, "ord-1")
    earlier = replace(task, created_at=task.created_at - 1)

    assert not stores.store.save(changed(earlier, fence=1), replaces=earlier)

    assert task_in(stores.store, "ord-1") == task


def test_a_save_on_a_missing_task_fails_and_creates_nothing(stores: StoreWorld) -> None:
    """Design rule 7: updates never create."""
    ghost = task_of("ord-ghost")

    assert not stores.store.save(changed(ghost), replaces=ghost)

    assert stores.store.load("ord-ghost") is None
    assert list(stores.store.every(None)) == []


def test_a_task_whose_plan_only_newer_code_knows_comes_without_it_and_can_be_written(stores: StoreWorld) -> None:
    """D1: so an attempt is spared whose reply comes to older code."""
    read = submitted(stores.store, "ord-1")
    stores.forget_plan()
    for task in (read, changed(read, fence=1)):
        with pytest.raises(NewerPlan, match=f"ord-1: plan {PLAN.plan_id}") as newer:
            stores.store.load("ord-1", with_order=False)

        assert (newer.value.task, newer.value.since) == (task, read.due)
        assert stores.store.save(changed(task, fence=task.fence + 1), replaces=newer.value.task)


def test_the_sample_sets_every_field() -> None:
    """A field added to the records must be added to the round trip below."""
    for sample in (FULL_STEP, FULL_TASK, FULL_TASK.history[0]):
        defaults = {f.name: f.default for f in fields(sample) if f.default is not MISSING}
        unset = [name for name, usual in defaults.items() if getattr(sample, name) == usual]
        assert unset == (["size", "items", "ended"] if sample is FULL_STEP else [])  # see the test of large results


def test_every_field_of_a_task_comes_back_as_it_was_saved(stores: StoreWorld) -> None:
    task = submitted(stores.store, "ord-full")

    assert stores.store.save(FULL_TASK, replaces=task)

    assert task_in(stores.store, "ord-full") == FULL_TASK
    assert next(stores.store.every(None)) == FULL_TASK


def test_a_large_result_is_in_a_row_of_its_own(stores: StoreWorld) -> None:
    """Case 23: whoever loads the task gets its size, and reads it only if it is needed."""
    task = submitted(stores.store, "ord-1")
    ends = replace(task.steps["reserve"], process_state=ProcessState.PROCESSED, attempt=2)
    done = replace(ends, result=RESULT, size=7_908, items=3, ended="7")

    assert stores.store.save(changed(task, steps={**task.steps, "reserve": done}), replaces=task)

    found = task_in(stores.store, "ord-1")
    assert found.steps["reserve"] == replace(done, result=None)
    assert stores.store.save(changed(found, fence=2), replaces=found)
    assert stores.store.result(task_in(stores.store, "ord-1").steps["reserve"]) == RESULT
    assert [type(each) for each in stores.store.every(None)] == [Task]


def test_a_field_that_was_set_can_be_unset_again(stores: StoreWorld) -> None:
    """Design rule 8: null is absence, in the record that replaces one that had it."""
    task = submitted(stores.store, "ord-full")
    stores.store.save(FULL_TASK, replaces=task)
    steps = {name: StepRecord("ord-full", name) for name in FULL_TASK.steps}
    bare = Task("ord-full", PLAN.plan_id, NOW, steps, due=None, revision=3)

    assert stores.store.save(bare, replaces=FULL_TASK)

    assert task_in(stores.store, "ord-full") == bare


def test_due_tasks_are_listed_by_shard_and_oldest_first(stores: StoreWorld) -> None:
    """S12: what is listed is what waits, up to the time asked for and no later."""
    a, b, c, d = ids_in(0, 4)
    (other,) = ids_in(1, 1)
    for age, order_id in enumerate([c, a, b, d]):
        submitted(stores.store, order_id, NOW + age)
    submitted(stores.store, other, NOW)
    due_of_b = task_in(stores.store, b).due
    assert due_of_b is not None

    assert list(stores.store.due(0, due_of_b)) == [c, a, b]
    assert list(stores.store.due(1, due_of_b)) == [other]


def test_a_task_that_waits_for_nothing_leaves_the_list(stores: StoreWorld) -> None:
    (order_id,) = ids_in(0, 1)
    task = submitted(stores.store, order_id)
    assert list(stores.store.due(0, NOW + 10**6)) == [order_id]

    stores.store.save(changed(task, due=None), replaces=task)

    assert list(stores.store.due(0, NOW + 10**6)) == []


def test_a_due_time_that_moves_is_listed_once_where_it_moved_to(stores: StoreWorld) -> None:
    (order_id,) = ids_in(0, 1)
    task = submitted(stores.store, order_id)
    later = changed(task, due=NOW + 10**6)
    stores.store.save(later, replaces=task)

    assert list(stores.store.due(0, NOW + 10**6 - 1)) == []
    assert list(stores.store.due(0, NOW + 10**6)) == [order_id]


def test_lists_longer_than_a_page_are_complete(stores: StoreWorld) -> None:
    """S12: an empty or full page is not the end."""
    many = ids_in(0, PAGE + 5)
    for age, order_id in enumerate(many):
        submitted(stores.store, order_id, NOW + age)

    assert list(stores.store.due(0, NOW + 10**6)) == many
    assert sorted(task.order_id for task in stores.store.every(None) if isinstance(task, Task)) == sorted(many)


def test_tasks_are_found_by_their_state(stores: StoreWorld) -> None:
    pending = submitted(stores.store, "ord-pending")
    failed = submitted(stores.store, "ord-failed")
    record = replace(failed.steps["reserve"], process_state=ProcessState.ERROR, error="declined")
    in_error = changed(failed, steps={**failed.steps, "reserve": record})
    stores.store.save(in_error, replaces=failed)

    assert list(stores.store.every(ProcessState.PENDING)) == [pending]
    assert list(stores.store.every(ProcessState.ERROR)) == [in_error]
    assert list(stores.store.every(ProcessState.PROCESSED)) == []


def test_a_compensation_comes_back_with_the_steps_and_in_their_order(stores: StoreWorld) -> None:
    """S17: what an undo needs is stored durably."""
    task = submitted(stores.store, "ord-1")
    undo = StepRecord("ord-1", "reserve/undo", ProcessState.PROCESSING, "scheduler-1", NOW + 5, attempt=1, token="t1")
    undoing = changed(task, steps={**task.steps, "reserve/undo": undo}, undoing="sold twice")

    assert stores.store.save(undoing, replaces=task)

    found = task_in(stores.store, "ord-1")
    assert (found, list(found.steps)) == (undoing, [*task.steps, "reserve/undo"])


def test_every_order_falls_into_one_of_the_shards(stores: StoreWorld) -> None:
    names = [f"ord-{number}" for number in range(20)]
    for name in names:
        submitted(stores.store, name)

    listed = {shard: set(stores.store.due(shard, NOW + 10**6)) for shard in range(SHARDS)}

    assert listed == {shard: {name for name in names if shard_of(name, SHARDS) == shard} for shard in range(SHARDS)}
