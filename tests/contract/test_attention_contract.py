"""What every state store promises of the tasks that wait for an operator."""

from dataclasses import replace

from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.task.record import ProcessState, StepRecord, Task
from tests.contract.worlds.store_worlds import NOW, StoreWorld, changed, submitted


def in_error(task: Task, at: int) -> Task:
    """The task a step of which failed at `at`."""
    record = replace(task.steps["reserve"], process_state=ProcessState.ERROR, error="declined", ended_at=at)
    steps, history = {**task.steps, "reserve": record}, (HistoryEntry(at, HistoryKind.FAILED, "reserve", 1),)
    return changed(task, steps=steps, history=history, due=None)


def test_what_needs_an_operator_is_listed_oldest_first(stores: StoreWorld) -> None:
    """S7: tasks in Error, with an undo that failed, or paused, from all shards and no others, without a scan."""
    older, newer, stuck, paused, _ = (submitted(stores.store, f"ord-{name}") for name in "abcde")
    stores.store.save(in_error(newer, NOW + 30), replaces=newer)
    stores.store.save(in_error(older, NOW + 10), replaces=older)
    halted = changed(paused, paused="counting", history=(HistoryEntry(NOW + 20, HistoryKind.PAUSED),))
    stores.store.save(halted, replaces=paused)
    undo = StepRecord(stuck.order_id, "reserve/undo", ProcessState.ERROR, attempt=1, ended_at=NOW + 40)
    undoing = {**stuck.steps, "reserve/undo": undo}
    history = (HistoryEntry(NOW + 40, HistoryKind.FAILED, "reserve/undo", 1),)
    stores.store.save(changed(stuck, steps=undoing, undoing="sold", history=history), replaces=stuck)

    assert list(stores.store.needing_attention()) == ["ord-a", "ord-d", "ord-b", "ord-c"]


def test_what_an_operator_has_dealt_with_leaves_the_list(stores: StoreWorld) -> None:
    """S7: in the write that changes it."""
    task = submitted(stores.store, "ord-1")
    failed = in_error(task, NOW + 10)
    stores.store.save(failed, replaces=task)
    assert list(stores.store.needing_attention()) == ["ord-1"]

    stores.store.save(changed(failed, steps=task.steps), replaces=failed)

    assert list(stores.store.needing_attention()) == []
