"""What is asked in vain is refused before anything is sent."""

import pytest

from stepward.cli.refusals import refusal
from stepward.cli.where import Where
from stepward.domain.messages import Cancel, Command, Pause, Resubmit, Resume, Undo
from tests.unit.cli.lives import Life, failed, paused, recovered, shipping, undo_failed, undoing, undone

HERE = Where(local=True)
UNDO = Undo("ord-1", "ada", "withdrawn")
PAUSE = Pause("ord-1", "ada", "asking")
RESUME = Resume("ord-1", "ada", "agreed")


@pytest.mark.parametrize(
    ("life", "command", "says"),
    [
        (undone(), UNDO, "is undone already: withdrawn. See how: stepward show ord-1 --local"),
        (undoing(), UNDO, "its undo has begun already: withdrawn"),
        (undo_failed(), UNDO, "its undo has begun already, and has failed"),
        (shipping(), UNDO, "cannot be undone: ship has begun, its point of no return"),
        (shipping(), Cancel("ord-1", "ada", "x"), "cannot be cancelled: ship has begun"),
        (paused(), PAUSE, "is paused already: asking. To go on: stepward resume ord-1 --why ... --local"),
        (recovered(), PAUSE, "is Processed; there is nothing left to pause"),
        (undone(), PAUSE, "is Undone; there is nothing left to pause"),
        (undoing(), RESUME, "is not paused; there is nothing to resume"),
        (failed(), Resubmit("ord-1", "charge", 2, "ada", "x"), "charge is Error at attempt 1"),
        (failed(), Resubmit("ord-1", "reserve", 1, "ada", "x"), "reserve is Processed at attempt 1"),
    ],
)
def test_what_cannot_work_is_refused_with_the_reason(life: Life, command: Command, says: str) -> None:
    """S7, S17: a double click or a late click does nothing and says so."""
    assert says in refusal(life.loaded, command, HERE)


@pytest.mark.parametrize(
    ("life", "command"),
    [
        (Life(), UNDO),
        (failed(), UNDO),
        (recovered(), UNDO),
        (paused(), UNDO),
        (paused(), RESUME),
        (undoing(), PAUSE),
        (failed(), PAUSE),
        (failed(), Resubmit("ord-1", "charge", 1, "ada", "x")),
        (undo_failed(), Resubmit("ord-1", "charge/undo", 1, "ada", "x")),
    ],
)
def test_what_can_work_is_not_refused_and_the_order_agrees(life: Life, command: Command) -> None:
    assert refusal(life.loaded, command, HERE) == ""
    before = life.task.revision
    assert life.apply(command, 90_000).task.revision == before + 1


@pytest.mark.parametrize("life", [undone(), undoing(), undo_failed(), shipping()])
def test_what_is_refused_here_is_refused_by_the_order_too(life: Life) -> None:
    before = life.task.revision

    assert refusal(life.loaded, UNDO, HERE)
    assert life.apply(UNDO, 90_000).task.revision == before
