"""S20, case 25: whose fault an exception is, told by the whole engine under virtual time."""

from collections.abc import Callable, Iterator

import pytest

from stepward.domain.coordination.blame import QUIET, SEVERAL
from stepward.domain.errors import Misconfigured, Transient
from stepward.domain.history import HistoryKind, TracedEntry
from stepward.domain.messages import AgentDefect, StepFailed
from stepward.domain.task.worst_case import worst_case
from stepward.domain.timing import Timing
from stepward.domain.workflow.agents import Call, Result
from stepward.testing import Engine, Order, Settings
from tests.factories import MINUTE, sequence
from tests.planned_app import PlannedApp, works

APP = PlannedApp(sequence("reserve", "ship"))
SHIP = APP.known["worker", "ship"]
OLD = "ord-old"


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(APP) as engine:
        yield engine


def bad(which: Callable[[str], bool], error: type[BaseException], text: str) -> Callable[[Call], Result]:
    """`ship` raises for these orders."""

    def ship(call: Call) -> Result:
        if which(str(call.order["orderId"])):
            raise error(text)
        return works(call)

    return ship


def submitted(engine: Engine, *names: str) -> list[Order]:
    return [engine.submit(None, {"orderId": name}) for name in names]


def defects(engine: Engine) -> list[AgentDefect]:
    return [alert for alert in engine.alerts if isinstance(alert, AgentDefect)]


def test_one_old_order_that_makes_the_code_fail_holds_up_nobody_and_ends_before_an_operator(engine: Engine) -> None:
    """Case 25: an order a minute beside it; within its own worst case its alert names the exception."""
    engine.service(SHIP).returns(bad(lambda name: name == OLD, KeyError, "weight"))
    (old,) = submitted(engine, OLD)
    for minute in range(worst_case(APP.frozen, Timing()) // MINUTE):
        (healthy,) = submitted(engine, f"ord-{minute}")
        engine.clock.move(60)
        assert (healthy.state, healthy.step(SHIP).attempt) == ("Processed", 1)

    step = old.step(SHIP)
    assert (old.state, step.failure_count, step.raised) == ("Error", 3, "KeyError: 'weight'")
    assert [alert.reason for alert in engine.alerts] == [step.error]
    assert step.error == "no answer within complete-by, 3 of 3 times; it raised KeyError: 'weight'"
    assert engine.parts.telemetry.count(HistoryKind.BREAKER_OPENED) == 0


def test_the_same_exception_in_several_orders_is_the_codes_and_blames_none(engine: Engine) -> None:
    """S20: uncounted however long it lasts, told at once and once; when it is mended, all go on, and that is told."""
    service = engine.service(SHIP).returns(bad(lambda _: True, KeyError, "weight"))
    orders = submitted(engine, *[f"ord-{number}" for number in range(SEVERAL)])
    engine.clock.move(30)
    (told,) = defects(engine)
    assert (told.reason, told.over) == ("ship fails with KeyError: 'weight' in 3 orders", False)

    engine.clock.move(2 * 3600)
    assert [order.step(SHIP).failure_count for order in orders] == [0] * SEVERAL
    assert {order.step(SHIP).process_state for order in orders} <= {"Pending", "Processing"}
    assert engine.alerts == [told]

    service.returns(works)
    engine.run()
    assert [order.state for order in orders] == ["Processed"] * SEVERAL
    assert [order.step(SHIP).raised for order in orders] == [None] * SEVERAL
    assert [alert.over for alert in defects(engine)] == [False, True]
    assert engine.clock.now >= defects(engine)[-1].since + QUIET


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("call", range(1, 7))
def test_a_defect_is_told_whoever_dies(engine: Engine, call: int, after: bool) -> None:
    """It is noted until the alert is out; one that went out before a death comes again, under the same id."""
    engine.service(SHIP).returns(bad(lambda _: True, KeyError, "weight"))
    submitted(engine, *[f"ord-{number}" for number in range(SEVERAL)])
    engine.kill("supervisor", call, after=after)

    engine.clock.move(180)  # whoever died holds its lease for 90 seconds

    assert len({alert.alert_id for alert in defects(engine)}) == 1
    assert len(defects(engine)) <= 2


def test_a_defect_that_comes_back_soon_is_told_once(engine: Engine) -> None:
    service = engine.service(SHIP)
    for hour in range(3):
        service.returns(bad(lambda _: True, KeyError, "weight"))
        submitted(engine, *[f"ord-{hour}-{number}" for number in range(SEVERAL)])
        engine.clock.move(60)
        service.returns(works)
        engine.clock.move(300)

    assert len(defects(engine)) == 1


def test_an_operation_that_exits_fails_like_any_other(engine: Engine) -> None:
    """S20: its process has other requests to serve, and people hear what it was."""
    engine.service(SHIP).returns(bad(lambda _: True, SystemExit, "no licence"))
    submitted(engine, *[f"ord-{number}" for number in range(SEVERAL)])

    engine.clock.move(5)

    assert [told.reason for told in defects(engine)] == ["ship fails with SystemExit: no licence in 3 orders"]


def test_a_missing_setting_never_counts_against_an_order(engine: Engine) -> None:
    """Case 7: from the first call on, and the alert names the setting."""
    service = engine.service(SHIP).returns(bad(lambda _: True, Misconfigured, "no address for 'shipping'; add it"))
    (order,) = submitted(engine, OLD)

    engine.clock.move(3600)

    (told,) = defects(engine)
    assert (told.error, told.is_setting) == ("Misconfigured: no address for 'shipping'; add it", True)
    assert (order.step(SHIP).failure_count, order.state) == (0, "Processing")
    service.returns(works)
    engine.run()
    assert order.state == "Processed"


def test_others_that_succeed_show_that_the_setting_is_there_and_still_it_blames_nobody(engine: Engine) -> None:
    """Two instances of an agent, of which one lacks it."""
    engine.service(SHIP).returns(bad(lambda name: name == OLD, Misconfigured, "no address"))
    (old,) = submitted(engine, OLD)

    for minute in range(20):
        submitted(engine, f"ord-{minute}")
        engine.clock.move(60)

    assert old.step(SHIP).failure_count == 0


def test_several_bad_orders_beside_healthy_ones_are_blamed_each(engine: Engine) -> None:
    """S20: others succeed between their failures, so neither the code nor the service is at fault."""
    engine.service(SHIP).returns(bad(lambda name: name.startswith(OLD), KeyError, "weight"))
    olds = submitted(engine, *[f"{OLD}-{number}" for number in range(SEVERAL - 1)])
    for second in range(0, 1200, 5):
        if second == 60:
            olds += submitted(engine, f"{OLD}-last")
        submitted(engine, f"ord-{second}")
        engine.clock.move(5)

    assert [order.state for order in olds] == ["Error"] * SEVERAL
    assert defects(engine) == []


@pytest.mark.parametrize(("keep", "raised"), [(True, "Transient: shipping/ship: HTTP 503 busy"), (False, "Transient")])
def test_what_an_operation_raised_is_on_the_order_while_it_is_in_trouble(keep: bool, raised: str) -> None:
    with Engine(APP, Settings(keep_error_texts=keep)) as engine:
        service = engine.service(SHIP).returns(bad(lambda _: True, Transient, "shipping/ship: HTTP 503 busy"))
        (order,) = submitted(engine, OLD)
        engine.clock.move(10)
        assert (order.state, order.step(SHIP).raised) == ("Processing", raised)

        engine.run()
        (alert,) = engine.alerts
        assert isinstance(alert, StepFailed)
        assert alert.reason.endswith(f"; it raised {raised}")
        told = [entry.note for _, entry in engine.parts.telemetry.history]
        assert keep or not any("503" in note for note in told)
        service.works()


def test_each_attempt_is_reported_once_and_one_that_recovers_never(engine: Engine) -> None:
    """A blip that a retry within the same delivery gets over costs nothing."""
    service = engine.service(SHIP).fails(2)
    (order,) = submitted(engine, "ord-blip")
    engine.run()
    assert (order.state, order.task.revision) == ("Processed", 4)

    service.fails(None)
    (order,) = submitted(engine, OLD)
    engine.clock.move(59)
    written = ["submitted", "reserve claimed", "ship claimed", "reported"]
    assert (order.step(SHIP).attempt, order.task.revision) == (1, len(written))


@pytest.mark.parametrize("keep", [True, False])
def test_the_traceback_is_in_the_log_by_order(keep: bool) -> None:
    """Without the message if that may not be kept: it may hold personal data."""
    engine = Engine(APP, Settings(keep_error_texts=keep))
    engine.service(SHIP).returns(bad(lambda _: True, KeyError, "weight"))
    submitted(engine, OLD)
    engine.clock.move(1)

    (trace,) = {
        entry.trace
        for order_id, entry in engine.parts.telemetry.history
        if order_id == OLD and isinstance(entry, TracedEntry)
    } - {""}
    assert "raise error(text)\n" in trace
    assert ("KeyError: 'weight'" in trace) == keep
