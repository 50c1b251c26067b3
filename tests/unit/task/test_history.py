"""What a task remembers of itself, and that it cannot outgrow its row."""

from stepward.domain.messages import Pause, Resubmit, Undo
from stepward.domain.task.record import HISTORY_LIMIT
from tests.factories import MINUTE, ORDER_ID, Life, sequence, started, undoable


def test_what_happened_is_remembered_up_to_a_limit() -> None:
    """A task can never outgrow its row: only the newest troubles are stored."""
    life = started(sequence("reserve", threshold=100))
    for attempt in range(1, HISTORY_LIMIT + 10):
        life.check(at=life.now + 2 * MINUTE)
        life.retry("reserve", attempt)

    assert len(life.task.history) == HISTORY_LIMIT
    assert [entry.attempt for entry in life.task.history] == list(range(10, HISTORY_LIMIT + 10))


def test_a_smooth_run_leaves_no_history() -> None:
    """An ordinary record stays small."""
    assert started(sequence("reserve", "ship"), "reserve", "ship").task.history == ()


def test_reasons_and_names_are_cut() -> None:
    """A task can never outgrow its row: whatever an agent answers, and an operator types."""
    life = started(undoable())
    life.declined("reserve", "x" * 5_000)
    assert life.step("reserve").error == "x" * 200
    long = "y" * 5_000

    life.apply(Resubmit(ORDER_ID, "reserve", 1, long, long))
    life.apply(Pause(ORDER_ID, long, long))
    assert life.task.paused == "y" * 200
    life.apply(Undo(ORDER_ID, long, long))

    assert life.task.undoing == "y" * 200
    assert all(len(entry.note) <= 200 and len(entry.by) <= 200 for entry in life.task.history)


def test_a_command_without_a_reason_says_so() -> None:
    """The text in the task also says that it is paused, or undone."""
    life = Life(undoable())
    assert life.apply(Pause(ORDER_ID, "ada", "")).task.paused == "no reason given"
    assert life.apply(Undo(ORDER_ID, "ada", "")).task.undoing == "no reason given"
