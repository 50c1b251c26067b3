"""What a task remembers of itself, and that it cannot outgrow its row."""

from stepward.domain.messages import Pause, Resubmit, Undo
from stepward.domain.task.record import HISTORY_LIMIT
from tests.factories import MINUTE, ORDER_ID, Life, sequence, undoable


def test_what_happened_is_remembered_up_to_a_limit() -> None:
    """A task can never outgrow its row: only the newest troubles are kept."""
    life = Life(sequence("reserve", threshold=100))
    life.start()
    for attempt in range(1, HISTORY_LIMIT + 10):
        life.look(at=life.now + 2 * MINUTE)
        life.retry("reserve", attempt)

    assert len(life.task.history) == HISTORY_LIMIT
    assert [entry.attempt for entry in life.task.history] == list(range(10, HISTORY_LIMIT + 10))


def test_a_smooth_run_leaves_no_history() -> None:
    """An ordinary record stays small."""
    life = Life(sequence("reserve", "ship"))
    life.start()
    life.done("reserve")
    life.done("ship")

    assert life.task.history == ()


def test_the_reason_of_an_error_is_kept_short() -> None:
    """A task can never outgrow its row: a reason is cut."""
    life = Life(sequence("reserve", "ship"))
    life.start()

    life.declined("reserve", "x" * 5_000)

    assert life.step("reserve").error == "x" * 200
    assert all(len(entry.note) <= 200 for entry in life.task.history)


def test_the_words_of_an_operator_are_kept_short() -> None:
    """A task can never outgrow its row: whatever name and reason come with a command."""
    life = Life(undoable())
    life.start()
    life.declined("reserve", "x" * 5_000)
    long = "y" * 5_000

    life.apply(Resubmit(ORDER_ID, "reserve", 1, long, long))
    life.apply(Pause(ORDER_ID, long, long))
    assert life.task.paused == "y" * 200
    life.apply(Undo(ORDER_ID, long, long))

    assert life.task.undoing == "y" * 200
    assert all(len(entry.note) <= 200 and len(entry.by) <= 200 for entry in life.task.history)


def test_a_command_without_a_reason_says_so() -> None:
    """What stands in the task also says that it is so."""
    life = Life(undoable())
    life.apply(Pause(ORDER_ID, "ada", ""))
    assert life.task.paused == "no reason given"

    life.apply(Undo(ORDER_ID, "ada", ""))

    assert life.task.undoing == "no reason given"
