"""The two doors by which a signal comes: the submitters' and the operators'."""

from __future__ import annotations

import pytest

from stepward.domain.errors import Rejected
from tests.unit.steps.test_waiting import Begin, approval, begin, charged

__all__ = ["begin"]


@pytest.mark.parametrize(
    ("accepts", "other", "told"),
    [("operators", "submitters", "Rejected (name: "), ("submitters", "operators", "Refused (")],
)
def test_the_door_decides_who_may(begin: Begin, accepts: str, other: str, told: str) -> None:
    """W2: a sender cannot say who it is; either is told, where it looks."""
    engine, order = begin(approval(by=accepts), charged())
    order.signal("approval", {"by": "mallory"}, by=other)
    engine.clock.move(60)
    assert f"{told}signal 'approval' is accepted from {accepts} only)" in order.timeline
    assert len(engine.rejects) == (other == "submitters")
    assert order.state == "Processing"
    order.signal("approval", {"by": "ann"}, by=accepts)
    engine.run()
    assert order.result("charge") == {"charged": "ann"}


def test_what_an_operator_gives_is_checked_first_as_by_the_command(begin: Begin) -> None:
    """W2: the Scheduler does not know the class of the data."""
    engine, order = begin(approval(), charged())
    with pytest.raises(Rejected, match=r"data\.by: Expected `str`, got `int`"):
        order.signal("approval", {"by": 7}, by="operators")
    with pytest.raises(ValueError, match="operators, submitters"):
        order.signal("approval", {"by": "ann"}, by="ann")
    engine.clock.move(60)
    assert order.state == "Processing"
