"""What a task remembers of itself, and that it cannot outgrow its row."""

from stepward.domain.task import HISTORY_LIMIT
from tests.factories import MINUTE, Life, sequence


def test_what_happened_is_remembered_up_to_a_limit() -> None:
    """A task can never outgrow its row: only the newest troubles are kept."""
    life = Life(sequence("reserve", threshold=100))
    life.start()
    for attempt in range(1, HISTORY_LIMIT + 10):
        life.look(at=life.now + 2 * MINUTE)
        life.retry("reserve", attempt)

    assert len(life.task.history) == HISTORY_LIMIT
    assert [fact.attempt for fact in life.task.history] == list(range(10, HISTORY_LIMIT + 10))


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
    assert all(len(fact.note) <= 200 for fact in life.task.history)
