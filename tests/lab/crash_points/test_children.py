"""Whoever dies, and wherever: an order and its child end together."""

from __future__ import annotations

from typing import Any

import pytest

from stepward import UNDO, App, Step, minutes
from stepward.testing import Engine, crash_points
from tests.depth import some
from tests.unit.steps.invoices import app, close, invoicing, print_it, reopen

ORDER = {"orderId": "1", "items": ["a", "b"]}


LAST = Step(close, undo=reopen, complete_within=minutes(1), on_permanent=UNDO)
ENDINGS = [
    pytest.param(app(None, LAST), close, ("Undone", "Undone"), id="its parent is undone"),
    pytest.param(app(), None, ("Processed", "Processed"), id="it is done"),
    pytest.param(app(invoicing(on_permanent=UNDO), on_undone=UNDO), print_it, ("Undone", "Undone"), id="it is undone"),
]


@pytest.mark.parametrize(("shop", "refuses", "ends"), some(ENDINGS, 3))
def test_whoever_dies_and_whatever_is_lost_a_child_ends_with_its_parent(
    shop: App, refuses: Any, ends: tuple[str, str]
) -> None:
    """I1, I4, I6, I13: at every call of every part, also after the child's last write."""

    def before(engine: Engine) -> None:
        if refuses:
            engine.service(refuses).declines("no")

    def after(engine: Engine) -> None:
        assert (engine.order("1").state, engine.order("1#invoice").state) == ends

    tried = crash_points(shop, ORDER, before=before, after=after)
    assert tried.points > 100
