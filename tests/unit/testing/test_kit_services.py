"""Each misbehaviour of a service has its effect, and no other."""

from collections.abc import Callable

import pytest

from stepward import App, Call, Step, Workflow, minutes
from stepward.domain.history import HistoryKind
from stepward.domain.messages import StepFailed
from stepward.testing import Engine, Service
from stepward.testing.harness import Harness
from tests.unit.testing.shop import ALL, ORDER, bank, charge, fulfilment, refund, reserve, run, ship


@bank.operation
def find_charge(_: Call) -> None:
    raise AssertionError("the service is asked, and not the application's own check")


def test_a_declined_card_is_undone(either: Harness) -> None:
    either.service(charge).declines("card expired")
    order = run(either)

    assert (order.state, either.effects) == ("Undone", ["reserve", "reserve/undo"])
    assert order.task.undoing == "charge: card expired"


def test_without_misbehaviour_each_operation_runs_once_and_no_time_passes(engine: Engine) -> None:
    order = run(engine)

    assert (order.state, engine.effects, engine.calls) == ("Processed", ALL, ALL)
    assert order.result(ship) == {"parcel": "19.99"}
    assert engine.clock.seconds == 0
    assert [notice.status for notice in engine.notices][-1] == "completed"


@pytest.mark.parametrize(
    ("misbehave", "charges"),
    [
        (lambda service: service.fails(times=2), 3),
        (lambda service: service.hangs(), 2),
        (lambda service: service.dies_before_effect(), 2),
        (lambda service: service.dies_after_effect(), 2),
        (lambda service: service.loses_answer(), 2),
        (lambda service: service.fails().hangs().loses_answer(), 4),
    ],
)
def test_a_transient_failure_is_retried_and_has_its_effect_once(
    engine: Engine, misbehave: Callable[[Service], Service], charges: int
) -> None:
    misbehave(engine.service(charge))
    order = run(engine)

    assert (order.state, engine.effects) == ("Processed", ALL)
    assert engine.calls == ["reserve", *["charge"] * charges, "ship"]


def test_a_slow_service_takes_its_time(engine: Engine) -> None:
    engine.service(reserve).takes(seconds=20)
    order = run(engine)

    assert order.state == "Processed"
    assert engine.clock.seconds == 20


def test_services_that_are_slow_side_by_side_do_not_wait_for_each_other(engine: Engine) -> None:
    engine.service(reserve).takes(seconds=50)
    first, second = (engine.submit(fulfilment, {"orderId": order_id}) for order_id in ("ord-1", "ord-2"))

    engine.run()

    assert (first.state, second.state) == ("Processed", "Processed")
    assert engine.clock.seconds == 50
    assert engine.calls.count("reserve") == 2


def test_a_service_that_hangs_is_given_up_at_complete_by(engine: Engine) -> None:
    engine.service(charge).hangs()
    order = engine.submit(fulfilment, ORDER)

    engine.run(until=lambda: order.effects == ["reserve", "charge"])

    assert engine.clock.seconds >= 60
    assert order.step(charge).attempt == 2


def test_a_service_that_always_hangs_ends_in_an_error_with_an_alert(engine: Engine) -> None:
    engine.service(ship).hangs(times=None)
    order = run(engine)

    assert order.state == "Error"
    assert [alert.step for alert in engine.alerts if isinstance(alert, StepFailed)] == ["ship"]
    assert order.step(ship).failure_count == 3


def test_a_service_that_is_down_is_spared_by_its_breaker(engine: Engine) -> None:
    engine.service(ship).fails(times=None)
    order, *_ = [engine.submit(fulfilment, {**ORDER, "orderId": f"ord-{number}"}) for number in range(5)]

    engine.clock.move(3600)

    assert order.state == "Processing"
    assert engine.parts.telemetry.count(HistoryKind.BREAKER_OPENED) > 0
    engine.service(ship).works()
    engine.run()
    assert order.state == "Processed"


def test_a_replaced_operation_answers_once_per_key(engine: Engine) -> None:
    answers = iter(["1.00", "2.00"])
    engine.service(charge).returns(lambda _: {"charged": next(answers)}).loses_answer()
    order = run(engine)

    assert order.result(charge) == {"charged": "1.00"}
    assert len(engine.service(charge).calls) == 2


def test_a_fixed_answer_is_the_result_of_the_step(engine: Engine) -> None:
    engine.service(charge).returns({"charged": "5.00"})
    order = run(engine)

    assert order.result(ship) == {"parcel": "5.00"}


def test_a_service_that_works_again_forgets_its_misbehaviour(engine: Engine) -> None:
    engine.service(charge).fails(5).takes(10)
    engine.service(charge).works()
    order = run(engine)

    assert (order.state, engine.clock.seconds) == ("Processed", 0)


def test_an_undo_that_is_declined_waits_for_an_operator(engine: Engine) -> None:
    engine.service(ship).declines("no such street", times=1)
    engine.service(refund).declines("ask the bank", times=1)
    order = engine.submit(fulfilment, ORDER)
    engine.run()
    assert order.state == "Error"

    order.undo("the customer gave up")
    engine.run()
    assert order.state == "UndoFailed"

    order.resubmit("charge/undo")
    engine.run()
    assert (order.state, engine.effects[-2:]) == ("Undone", ["charge/undo", "reserve/undo"])


def test_a_check_finds_the_effect_that_stands() -> None:
    """W7: of a service that honours no keys, whose answer is lost, and whose refund is declined."""
    checked = Workflow("checked", 1, [Step(charge, undo=refund, check=find_charge, complete_within=minutes(1))])
    with Engine(App("shop", workflows=[checked])) as engine:
        engine.service(find_charge).finds()
        engine.service(charge).loses_answer()
        engine.service(refund).loses_answer()
        order = engine.submit(checked, ORDER)
        engine.run()
        assert (engine.calls, order.result(charge)) == (["charge", "charge?"], {"charged": "19.99"})

        order.undo("the customer gave up")
        engine.run()
        assert (order.state, engine.calls[2:]) == ("Undone", ["charge?", "charge/undo", "charge?"])
        engine.verdict()


@pytest.mark.parametrize("trouble", [Service.dies_before_effect, Service.dies_after_effect])
def test_stand_ins_answer_for_every_service_and_a_check_finds_what_stands(
    trouble: Callable[[Service], object],
) -> None:
    checked = Workflow("checked", 1, [Step(charge, undo=refund, check=find_charge, complete_within=minutes(1))])
    with Engine(App("shop", workflows=[checked])) as engine:
        engine.stand_in()
        trouble(engine.service(charge))
        order = engine.submit(checked, ORDER)
        engine.run()
        engine.verdict()

        assert (order.state, engine.effects, order.result(charge)) == (
            "Processed",
            ["charge"],
            {"reference": "charge-1"},
        )


def test_an_operation_of_another_application_has_no_service(engine: Engine) -> None:
    stranger = fulfilment.agents[0].operation(lambda _: {})

    with pytest.raises(ValueError, match="no operation"):
        engine.service(stranger)


def test_a_name_in_place_of_what_it_names_is_refused_with_what_to_pass(engine: Engine) -> None:
    with pytest.raises(TypeError, match=r"service\('charge'\): pass the operation itself, not its name"):
        engine.service("charge")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"submit\('fulfilment', ...\): pass the workflow itself, not its name"):
        engine.submit("fulfilment", ORDER)  # type: ignore[arg-type]
