"""Seeded worlds whose orders have a child: I1 to I6, I8, I9, I11 and I13."""

from stepward import UNDO, Step, minutes
from stepward.testing import worlds
from tests.depth import depth
from tests.unit.steps.invoices import app, close, invoicing, reopen


def test_whatever_goes_wrong_an_order_and_its_child_end_together() -> None:
    last = Step(close, undo=reopen, complete_within=minutes(1), on_permanent=UNDO)
    shop = app(invoicing(on_permanent=UNDO), last, on_undone=UNDO, complete_within=minutes(40))
    tried = depth(300, 4)

    assert worlds(shop, {"items": ["a", "b"]}, seeds=tried, orders=6) == tried
