"""A trip in memory, on the engine's testing kit."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from booking import app as booking
from booking.insurance import insurance, insure
from booking.trip import (
    DEAR,
    ask_for_visa,
    book_hotel,
    charge,
    find_hotel,
    issue_ticket,
    send_check_in,
    send_itinerary,
    trip,
    write_itinerary,
)
from stepward import App, Call, Later, Permanent
from stepward.domain.workflow.plan import StepKind
from stepward.testing import Engine, crash_points

TRIP = json.loads((Path(__file__).parents[1] / "trip.json").read_text())
DAY = 86_400
BOOKED = {"book_hotel", "rent_car"}
AT_ONCE = 60


@pytest.fixture
def app() -> App:
    return booking


def services(engine: Engine) -> None:
    """Every service works; the hotel's finds the booking of its key."""
    for operation in {each for workflow in booking.workflows for step in workflow.steps for each in step.operations}:
        engine.service(operation).returns({"reference": operation.name})
    engine.service(find_hotel).finds()
    engine.service(ask_for_visa).returns(Later())
    engine.service(write_itinerary).returns(write_itinerary.run)


@pytest.fixture(autouse=True)
def working(engine: Engine) -> None:
    services(engine)


def test_a_trip_is_booked_paid_insured_and_confirmed(engine: Engine) -> None:
    opens = datetime(2027, 2, 1, 6, tzinfo=UTC)
    order = engine.submit(trip, TRIP | {"checkInOpens": opens.isoformat()})
    engine.run()
    assert order.state == engine.order("trip-1#insurance").state == "Processed"
    assert set(engine.effects[1:3]) == BOOKED
    assert (engine.effects[0], engine.effects[3]) == ("book_flight", "charge")
    assert set(engine.effects[4:7]) == {f"tickets[{number}]" for number in range(3)}
    assert engine.effects[7:] == ["quote", "insure", "write_itinerary", "send_itinerary", "send_check_in"]
    assert (order.step(send_check_in).started_at or 0) >= opens.timestamp() * 1000
    engine.verdict()


def test_the_itinerary_of_a_long_trip_is_kept_by_itself_and_sent(engine: Engine) -> None:
    order = engine.submit(trip, TRIP)
    engine.run()
    (sent,) = engine.service(send_itinerary).calls
    assert order.step(write_itinerary).size > 2_000
    assert len(sent.results["write_itinerary"]["pages"]) == TRIP["nights"] + 1


def test_an_insurance_is_sold_by_itself_as_well(engine: Engine) -> None:
    order = engine.submit(insurance, {"destination": "Lisbon", "nights": 3})
    engine.run()
    assert (order.state, engine.effects) == ("Processed", ["quote", "insure"])


def test_a_dear_trip_is_booked_once_the_travel_desk_approves_it(engine: Engine) -> None:
    order = engine.submit(trip, TRIP | {"price": DEAR + 1})
    order.signal("approval", {"by": "the traveller"})
    engine.clock.move(3600)
    assert (engine.effects, len(engine.rejects)) == ([], 1)
    order.signal("approval", {"by": "ann"}, by="operators")
    engine.run()
    assert order.state == "Processed"


def test_a_dear_trip_that_nobody_approves_is_never_booked(engine: Engine) -> None:
    order = engine.submit(trip, TRIP | {"price": DEAR + 1})
    engine.clock.move(3 * DAY)
    assert [alert.reason for alert in engine.alerts] == ["nobody gave the signal 'approval' yet"]
    assert (order.state, engine.effects) == ("Undone", [])


def test_a_declined_card_undoes_every_booking(engine: Engine) -> None:
    engine.service(charge).declines("card expired")
    order = engine.submit(trip, TRIP)
    engine.run()
    assert order.state == "Undone"
    assert set(engine.effects[3:5]) == {f"{each}/undo" for each in BOOKED}
    assert engine.effects[5:] == ["book_flight/undo"]


def test_a_traveller_who_gets_no_ticket_stops_the_whole_trip(engine: Engine) -> None:
    def issue(call: Call) -> Mapping[str, Any]:
        if call.item["name"] == "Jean":
            raise Permanent("the name is not that of the passport")
        return {"ticket": f"t-{call.item['name']}"}

    engine.service(issue_ticket).returns(issue)
    order = engine.submit(trip, TRIP)
    engine.run()
    assert order.state == "Undone"
    assert {"tickets[0]/undo", "tickets[1]/undo", "charge/undo", "book_flight/undo"} < set(engine.effects)
    assert "quote" not in engine.effects
    engine.verdict()


def test_the_booking_uses_every_kind_of_step() -> None:
    planned = [step for workflow in booking.workflows for step in workflow.planned()]
    assert {step.kind for step in planned} == set(StepKind)
    assert any(step.check for step in planned)
    assert any(step.answer_within for step in planned)


def test_a_trip_without_the_insurance_that_was_wanted_is_undone_and_paid_back(engine: Engine) -> None:
    engine.service(insure).declines("no cover there")
    order = engine.submit(trip, TRIP)
    engine.run()
    assert order.state == engine.order("trip-1#insurance").state == "Undone"
    assert {"charge/undo", *(f"{each}/undo" for each in BOOKED)} < set(engine.effects)
    engine.verdict()


def test_a_hotel_without_keys_is_asked_before_it_is_booked_again(engine: Engine) -> None:
    engine.service(book_hotel).loses_answer()
    order = engine.submit(trip, TRIP)
    engine.run()
    assert [call for call in engine.calls if "hotel" in call] == ["book_hotel", "book_hotel?"]
    assert order.result(book_hotel) == {"reference": "book_hotel"}
    engine.verdict()


@pytest.mark.parametrize(("denied", "state"), [("", "Processed"), ("passport expired", "Undone")])
def test_nobody_pays_before_the_consulate_has_decided(engine: Engine, denied: str, state: str) -> None:
    order = engine.submit(trip, TRIP | {"needsVisa": True})
    engine.clock.move(9 * DAY)
    assert order.step(ask_for_visa).locked_by == "service"
    assert "charge" not in engine.effects
    order.answer(ask_for_visa, {"visa": "v-7"}, error=denied)
    engine.run()
    assert order.state == state
    assert ("charge" in engine.effects) == (state == "Processed")
    engine.verdict()


def test_more_trips_than_the_cards_take_in_a_second_only_wait(engine: Engine) -> None:
    orders = [engine.submit(trip, TRIP | {"orderId": f"trip-{number}"}) for number in range(AT_ONCE)]
    engine.run()
    assert {order.state for order in orders} == {"Processed"}
    assert engine.calls.count("charge") == AT_ONCE
    engine.verdict()


def test_whoever_dies_and_wherever_a_trip_is_booked_once() -> None:
    def after(engine: Engine) -> None:
        assert engine.order("trip-1").state == engine.order("trip-1#insurance").state == "Processed"

    assert crash_points(booking, TRIP, before=services, after=after).points > 300
