"""S17: what is refused for good beside a step past which the order only goes forward."""

from stepward.domain.task.record import ProcessState
from stepward.domain.workflow.plan import Exhausted, Plan
from tests.factories import Life, alerts, planned


def test_a_refusal_cannot_undo_past_the_point_of_no_return() -> None:
    """S7, S13: its policy would undo; beside that step it ends in Error, and an operator is told."""
    pay = planned("pay", "check", undo="refund", on_permanent=Exhausted.UNDO)
    life = Life(Plan("fork", 1, (planned("check"), pay, planned("tell", "check", point_of_no_return=True))))
    life.start()
    life.done("check")

    decision = life.declined("pay")

    assert [alert.step for alert in alerts(decision)] == ["pay"]
    assert life.state("pay") is ProcessState.ERROR
    assert not life.task.undoing
