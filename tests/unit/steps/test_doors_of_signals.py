"""The two doors by which a signal comes, the submitters' and the operators', and what the history says of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from stepward import Default, Remind, Signal, Timer, days, hours
from stepward.domain.errors import Rejected
from stepward.domain.history import HistoryKind
from stepward.domain.steps.signal import UNGIVEN
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


@pytest.mark.parametrize(
    ("wait", "answer", "says"),
    [
        (approval(), {"data": {"by": "ann"}, "id": "a-1"}, [("operator", "a-1"), ("operator", "a-1")]),
        (approval(), {"refused": "fraud"}, [("operator", "fraud"), ("operator", "fraud")]),
        (
            approval(on_timeout=[Remind(days(1)), Default({"by": "the clock"})]),
            None,
            [
                ("supervisor-0", f"{UNGIVEN} 'approval' yet"),
                ("supervisor-0", f"{UNGIVEN} 'approval'; its default answer counts"),
            ],
        ),
    ],
    ids=["early", "refused early", "never"],
)
def test_the_history_says_what_ended_a_wait(
    begin: Begin, wait: Signal, answer: Mapping[str, Any] | None, says: list[tuple[str, str]]
) -> None:
    """W2: an auditor sees who it was; an early signal is there when it comes, and when it counts."""
    engine, order = begin(Timer("cooling-off", hours(1)), wait)
    if answer is not None:
        order.signal("approval", **answer, by="operators")
    engine.clock.move(4 * 86_400)
    history = [entry for _, entry in engine.parts.telemetry.history]
    told = [entry for entry in history if entry.kind in {HistoryKind.SIGNALLED, HistoryKind.REMINDED}]
    assert [(entry.by, entry.note) for entry in told] == says
