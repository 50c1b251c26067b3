"""The same tests on the real handlers."""

from stepward.testing.aws.engine import AwsEngine, aws_engine
from tests.unit.testing.shop import ALL, charge, fulfilment, reserve, run

__all__ = ["aws_engine"]


def test_an_order_is_processed_and_its_submitter_told(aws_engine: AwsEngine) -> None:
    order = run(aws_engine)

    assert (order.state, aws_engine.effects) == ("Processed", ALL)
    assert [notice["status"] for notice in aws_engine.notices][-1] == "completed"


def test_a_declined_card_is_undone(aws_engine: AwsEngine) -> None:
    aws_engine.service(charge).declines("card expired")
    order = run(aws_engine)

    assert (order.state, aws_engine.effects) == ("Undone", ["reserve", "reserve/undo"])


def test_a_death_after_the_effect_is_recovered(aws_engine: AwsEngine) -> None:
    aws_engine.service(reserve).dies_after_effect()
    order = run(aws_engine)

    assert (order.state, aws_engine.effects) == ("Processed", ALL)
    assert "the function behind agent-warehouse dies" in order.timeline


def test_an_operator_is_told_of_an_order_that_cannot_go_on(aws_engine: AwsEngine) -> None:
    aws_engine.service(reserve).declines("out of stock")
    order = run(aws_engine)

    assert order.state == "Error"
    assert any("out of stock" in alert for alert in aws_engine.alerts)


def test_a_message_that_is_not_valid_is_kept(aws_engine: AwsEngine) -> None:
    aws_engine.submit(fulfilment, {"orderId": "ord-1", "priority": "urgent"})

    aws_engine.run()

    assert aws_engine.rejects[0].field == "priority"
