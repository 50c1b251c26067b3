"""What the real handlers on moto show differently from the engine in memory."""

import pytest

from stepward.testing.aws.engine import AwsEngine
from tests.unit.steps import invoices, parcels
from tests.unit.testing.shop import ALL, reserve, run


def test_an_order_is_processed_and_its_submitter_notified(aws_engine: AwsEngine) -> None:
    order = run(aws_engine)

    assert (order.state, aws_engine.effects) == ("Processed", ALL)
    assert [notice["status"] for notice in aws_engine.notices][-1] == "completed"


def test_a_death_after_the_effect_is_recovered(aws_engine: AwsEngine) -> None:
    aws_engine.service(reserve).dies_after_effect()
    order = run(aws_engine)

    assert (order.state, aws_engine.effects) == ("Processed", ALL)
    assert "the function behind agent-warehouse dies" in order.timeline


def test_an_operator_is_alerted_to_an_order_that_cannot_go_on(aws_engine: AwsEngine) -> None:
    aws_engine.service(reserve).declines("out of stock")
    order = run(aws_engine)

    assert order.state == "Error"
    assert any("out of stock" in alert for alert in aws_engine.alerts)


def test_a_child_is_submitted_and_undone_by_the_scheduler() -> None:
    """W5, I13: the real handlers, with the tables of the real adapters."""
    with AwsEngine(invoices.app()) as engine:
        parent = engine.submit(None, {"orderId": "1", "items": ["a", "b"]})
        engine.run()
        assert (parent.state, parent.result("invoice")) == ("Processed", {"pages": 2})
        parent.undo()
        engine.run()
        assert engine.order("1#invoice").state == parent.state == "Undone"
        assert engine.order("1#invoice").task.due is None


@pytest.mark.parametrize(("count", "key"), [(3, "1"), (11, "1#parcels.1")])
def test_each_item_is_done_and_undone_by_the_real_handlers(count: int, key: str) -> None:
    """W5, I13: what is stored of items, and of their children, is read again."""
    with AwsEngine(parcels.app(parcels.PACK, parcels.SHIP)) as engine:
        order = engine.submit(None, {"orderId": "1", "parcels": parcels.parcels(count)})
        engine.run()
        assert (order.state, len(engine.effects)) == ("Processed", 2 * count + 2)
        order.undo()
        engine.run()
        assert order.state == engine.order(key).state == "Undone"
        assert len(engine.effects) == 2 * (2 * count + 2)
