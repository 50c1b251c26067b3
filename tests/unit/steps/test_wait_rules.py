"""Waits in the pure policy: what a message that a queue delivers too soon does."""

from stepward.domain.messages import Retry
from stepward.domain.workflow.plan import Plan, PlannedStep, StepKind
from tests.unit.cli.lives import Life

TIMER = Plan("shop", 1, (PlannedStep("cooling", "", "", (), 300_000, 1, kind=StepKind.TIMER),))


def test_a_delayed_message_that_comes_early_ends_no_timer() -> None:
    """W3: it is sent again for the time that is left."""
    life = Life(plan=TIMER).start(0)
    before = life.task
    assert life.apply(Retry("ord-1", "cooling", 1), 299_999).task == before
    assert life.apply(Retry("ord-1", "cooling", 1), 300_000).task.process_state == "Processed"
