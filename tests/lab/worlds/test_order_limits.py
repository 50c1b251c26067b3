"""S24: worlds and crash points of orders whose complete-by passes; I1, I3, I5, I6 and I9 are asked in each."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from stepward.domain.history import HistoryKind
from stepward.domain.workflow.plan import Exhausted, Plan
from stepward.testing import Engine, crash_points, worlds
from tests.depth import depth
from tests.factories import ALERTS, MINUTE, ORDER_ID, SECOND, diamond, falls_back, planned, sequence, waits
from tests.planned_app import PlannedApp

WORLDS = depth(100, 6)
SHORT: dict[str, Any] = {"complete_within": 30 * SECOND, "threshold": 2}
LINE = sequence("reserve", "charge", "ship", **SHORT)
UNDOABLE = sequence("reserve", "charge", "ship", **SHORT, undo="back")
FINAL = replace(UNDOABLE, steps=tuple(replace(s, point_of_no_return=s.name == "charge") for s in UNDOABLE.steps))
DIAMOND = diamond(**SHORT, undo=True)
ELSEWHERE = falls_back("other", undo="give_back"), waits(2 * MINUTE), ALERTS
PATIENT = Plan("patient", 1, (planned("pick", **SHORT, undo="unpick", exhausted=ELSEWHERE), planned("pay", "pick")))
OWN = {"completeBy": "2027-01-15T08:12:00Z"}
"""Worlds begin at eight: some orders come after it, and some meet it on their way."""


def limited(plan: Plan, seconds: int, on_timeout: Exhausted = Exhausted.UNDO) -> Plan:
    return replace(plan, complete_within=seconds * SECOND, on_timeout=on_timeout)


@pytest.mark.parametrize(
    ("plan", "order"),
    [
        (limited(UNDOABLE, 45), {}),
        (limited(LINE, 20, Exhausted.ALERT), {}),
        (limited(FINAL, 60), {}),
        (limited(PATIENT, 300, Exhausted.ALERT), {}),
        (limited(DIAMOND, 600), OWN),
        (DIAMOND, OWN),
    ],
    ids=["undo", "alert", "past no return", "waits and fallbacks", "both", "the order's own"],
)
def test_no_world_with_a_limit_breaks_an_invariant(plan: Plan, order: dict[str, Any]) -> None:
    worlds(PlannedApp(plan), order, seeds=WORLDS)


def test_of_the_last_reply_and_the_supervisor_one_wins_whoever_dies() -> None:
    """The last step answers some seconds after its order's complete-by, when the Supervisor may have been there."""
    app, ends = PlannedApp(limited(sequence("ship", complete_within=2 * MINUTE, undo="recall"), 90)), Counter[str]()

    def slow(engine: Engine) -> None:
        engine.service(app.known["worker", "ship"]).takes(110)

    def one_won(engine: Engine) -> None:
        order = engine.order(ORDER_ID)
        timed_out = [entry for entry in order.task.history if entry.kind is HistoryKind.TIMED_OUT]
        assert (order.state, len(timed_out)) in {("Processed", 0), ("Undone", 1)}
        ends[order.state] += 1

    found = crash_points(app, {"orderId": ORDER_ID}, before=slow, after=one_won)

    assert found.survived == found.points
    assert ends["Processed"] > 0 < ends["Undone"]
