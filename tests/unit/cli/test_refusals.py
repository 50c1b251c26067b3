"""A command that the policy would refuse is refused before anything is sent."""

from dataclasses import replace

import pytest

from stepward.cli.deployment.options import Target
from stepward.cli.orders.refusals import refusal
from stepward.domain.messages import Cancel, Command, Pause, Resubmit, Resume, Undo
from stepward.domain.staleness import dated
from stepward.domain.workflow.plan import Exhausted
from tests.unit.cli.lives import (
    APPROVED,
    GIVEN,
    PLAN,
    SUBMITTED,
    Life,
    approving,
    early,
    failed,
    paused,
    recovered,
    shipping,
    stopped,
    undo_failed,
    undoing,
    undone,
)

HERE = Target(local=True)
NOW = SUBMITTED + 90_000
AGAIN = replace(GIVEN, signal_id="a-2")
UNDO = Undo("ord-1", "ada", "withdrawn")
PAUSE = Pause("ord-1", "ada", "asking")
RESUME = Resume("ord-1", "ada", "agreed")


def late() -> Life:
    """It ended in Error before its complete-by, after which it is to be undone."""
    return failed(plan=replace(PLAN, complete_within=80_000, on_timeout=Exhausted.UNDO))


@pytest.mark.parametrize(
    ("life", "command", "says"),
    [
        (undone(), UNDO, "the order is Undone already (withdrawn). To see how far it is"),
        (undone(), UNDO, "and what to type: stepward show ord-1 --local"),
        (undoing(), UNDO, "the order is Undoing already (withdrawn)"),
        (undo_failed(), UNDO, "the order is UndoFailed already (withdrawn)"),
        (shipping(), UNDO, "the order is past its point of no return, ship; it only goes forward"),
        (shipping(), Cancel("ord-1", "ada", "x"), "past its point of no return, ship; it only goes forward"),
        (paused(), PAUSE, "the order is paused (asking). To resume it: stepward resume ord-1 --why ... --local"),
        (recovered(), PAUSE, "the order is Processed; there is nothing left to pause"),
        (undone(), PAUSE, "the order is Undone; there is nothing left to pause"),
        (undoing(), RESUME, "nothing to resume: the order is not paused"),
        (paused().resume(900), dated(PAUSE, SUBMITTED), "alex has resumed the order since. To see what happened"),
        (failed(), Resubmit("ord-1", "charge", 2, "ada", "x"), "the step is Error at attempt 1; in Error: charge"),
        (
            late(),
            Resubmit("ord-1", "charge", 1, "ada", "x"),
            "its complete-by, and is about to be undone. To see how far",
        ),
        (failed(), Resubmit("ord-1", "reserve", 1, "ada", "x"), "the step is Processed at attempt 1; in Error: charge"),
        (approving().apply(GIVEN, 20), AGAIN, "'approval' came too late: the step is Processed. To see what happened"),
        (early(), AGAIN, "'approval' was given before, as a-1. To see the order: stepward show ord-1 --local"),
        (approving("submitters"), GIVEN, "is accepted from submitters only: send it to the orders queue"),
    ],
)
def test_what_cannot_work_is_refused_with_the_reason_and_what_to_do(life: Life, command: Command, says: str) -> None:
    """S7, S17: a double click or a late click does nothing and says so."""
    assert says in refusal(life.loaded, command, HERE, NOW)
    before = life.task.revision
    assert life.apply(command, 90_000).task.revision == before


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
        (stopped(), Resubmit("ord-1", "charge", 0, "ada", "x")),
        (undo_failed(), Resubmit("ord-1", "charge/undo", 1, "ada", "x")),
        (approving(), GIVEN),
        (Life(plan=APPROVED), replace(GIVEN, data={}, refused="fraud")),
    ],
)
def test_what_can_work_is_not_refused_and_the_order_agrees(life: Life, command: Command) -> None:
    assert refusal(life.loaded, command, HERE, NOW) == ""
    before = life.task.revision
    assert life.apply(command, 90_000).task.revision == before + 1


@pytest.mark.parametrize(
    ("step", "says"),
    [
        ("aproval", "'aproval' is not a step of this task; its signals: approval"),
        ("charge", "'charge' is a call, which takes no signal; its signals: approval"),
    ],
)
def test_a_signal_that_nobody_waits_for_is_refused_with_those_that_there_are(step: str, says: str) -> None:
    assert refusal(approving().loaded, replace(GIVEN, step=step), HERE, NOW) == says
