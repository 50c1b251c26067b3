"""A cancellation that comes before its order is remembered, and met when the order comes."""

from collections.abc import Iterator

import pytest

from stepward.app.scheduler.audit_log import AuditLog
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Cancel, Pause, Undo
from stepward.domain.wish import LASTS, Wish
from stepward.domain.workflow.plan import Plan
from stepward.testing import Engine
from stepward.wire.messages import encode
from tests.factories import ORDER_ID, planned
from tests.planned_app import PlannedApp

APP = PlannedApp(Plan("shop", 1, (planned("reserve", undo="release"), planned("charge", "reserve", undo="refund"))))
CANCEL = Cancel(ORDER_ID, "the submitter", "no longer wanted")


@pytest.fixture
def engine() -> Iterator[Engine]:
    """A deployment in which the cancellation of an order that nobody has submitted has come, twice."""
    with Engine(APP) as engine:
        engine.double("orders")
        engine.order(ORDER_ID).cancel()
        engine.clock.move(0)
        yield engine


def heard(engine: Engine) -> list[tuple[str, int]]:
    return [(notice.status, notice.revision) for notice in engine.notices]


def test_an_order_that_was_cancelled_before_it_came_ends_undone_without_a_call(engine: Engine) -> None:
    """S19, case 9: its submitter hears what anyone hears who cancels before the first step."""
    order = engine.submit(None, {"orderId": ORDER_ID})
    engine.run()

    assert (order.state, engine.calls, engine.rejects, engine.dead_letters) == ("Undone", [], [], [])
    assert heard(engine) == [("received", 2), ("undone", 2)]
    assert order.task.due is None
    engine.verdict()


def test_the_same_order_again_is_a_duplicate(engine: Engine) -> None:
    for _ in range(2):
        order = engine.submit(None, {"orderId": ORDER_ID, "submittedAt": "2026-01-01T00:00:00Z"})
        engine.run()

    assert (order.state, engine.calls) == ("Undone", [])
    kinds = [kind for _, kind, _, _ in engine.parts.telemetry.told]
    assert HistoryKind.DUPLICATE in kinds


@pytest.mark.parametrize(("part", "calls"), [("submission", 5), ("scheduler", 5)])
def test_neither_order_nor_cancellation_is_lost_wherever_a_process_dies(part: str, calls: int) -> None:
    for call in range(1, calls):
        for after in (False, True):
            with Engine(APP) as engine:
                engine.order(ORDER_ID).cancel()
                engine.run()
                engine.kill(part, call, after=after)
                order = engine.submit(None, {"orderId": ORDER_ID})
                engine.run()
                assert (order.state, engine.calls) == ("Undone", [])
                statuses = [status for status, _ in heard(engine)]
                assert (statuses[0], statuses[-1]) == ("received", "undone")
                engine.verdict()


def test_a_wish_is_in_the_audit_log_once_even_if_it_comes_again_after_its_order(engine: Engine) -> None:
    """S22: it is listed as of when it first came."""
    came_at = engine.clock.now
    engine.post("scheduler", encode(CANCEL))
    engine.clock.move(1)
    engine.submit(None, {"orderId": ORDER_ID})
    engine.run()
    engine.post("scheduler", encode(CANCEL))
    engine.run()

    (entry,) = AuditLog(engine.parts.shared_records).of(ORDER_ID)
    assert (entry.command, entry.who, entry.why, entry.applied) == ("cancel", CANCEL.who, CANCEL.why, True)
    assert entry.at <= came_at


@pytest.mark.parametrize("command", [Undo(ORDER_ID, "ada", "x"), Pause(ORDER_ID, "ada", "x")])
def test_no_other_command_waits_for_an_order(engine: Engine, command: Undo | Pause) -> None:
    engine.post("scheduler", encode(command))
    engine.run(limit=engine.clock.now)

    assert [reject.reason for reject in engine.rejects] == [f"there is no task for {ORDER_ID!r}"]


def test_a_wish_that_nobody_needed_is_told_and_dropped(engine: Engine) -> None:
    """An order that comes after it is processed."""
    store = engine.parts.store
    assert store.wish(ORDER_ID) == Wish.of(CANCEL, engine.clock.now)
    for seconds, waits in ((LASTS / 1000 - 60, True), (120, False)):
        engine.clock.move(seconds)
        engine.parts.sweep("supervisor-1")
        assert bool(store.wish(ORDER_ID)) is waits

    unmet = [entry for _, entry in engine.parts.telemetry.history if entry.kind is HistoryKind.UNMET]
    assert [entry.note for entry in unmet] == ["no such order came in 30 days: no longer wanted"]
    order = engine.submit(None, {"orderId": ORDER_ID})
    engine.run()
    assert order.state == "Processed"


def test_the_cancellation_of_an_order_whose_task_was_deleted_is_a_reject() -> None:
    """It ended long ago: there is nothing to wait for."""
    with Engine(APP) as engine:
        engine.submit(None, {"orderId": ORDER_ID})
        engine.run()
        del engine.parts.store.tasks[ORDER_ID]

        engine.order(ORDER_ID).cancel()
        engine.run()

        assert [reject.reason for reject in engine.rejects] == [
            f"{ORDER_ID!r} has ended, and its task was deleted since"
        ]
