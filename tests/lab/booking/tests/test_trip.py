"""A trip in memory, on the engine's testing kit."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from booking import app as booking
from booking.trip import DEAR, charge, send_check_in, trip
from stepward import App
from stepward.testing import Engine

TRIP = json.loads((Path(__file__).parents[1] / "trip.json").read_text())


@pytest.fixture
def app() -> App:
    return booking


@pytest.fixture(autouse=True)
def services(engine: Engine) -> None:
    for operation in {operation for step in trip.steps for operation in step.operations}:
        engine.service(operation).returns({"reference": operation.name})


def test_a_trip_is_booked_paid_and_confirmed(engine: Engine) -> None:
    opens = datetime(2027, 2, 1, 6, tzinfo=UTC)
    order = engine.submit(trip, TRIP | {"checkInOpens": opens.isoformat()})
    engine.run()
    assert order.state == "Processed"
    assert set(engine.effects[1:3]) == {"book_hotel", "rent_car"}
    assert (engine.effects[0], engine.effects[3:]) == ("book_flight", ["charge", "send_itinerary", "send_check_in"])
    assert (order.step(send_check_in).started_at or 0) >= opens.timestamp() * 1000


def test_a_dear_trip_is_booked_once_it_is_approved(engine: Engine) -> None:
    order = engine.submit(trip, TRIP | {"price": DEAR + 1})
    engine.clock.move(3600)
    assert engine.effects == []
    order.signal("approval", {"by": "ann"})
    engine.run()
    assert order.state == "Processed"


def test_a_dear_trip_that_nobody_approves_is_never_booked(engine: Engine) -> None:
    order = engine.submit(trip, TRIP | {"price": DEAR + 1})
    engine.clock.move(3 * 86_400)
    assert [alert.reason for alert in engine.alerts] == ["nobody gave the signal 'approval' yet"]
    assert (order.state, engine.effects) == ("Undone", [])


def test_a_declined_card_undoes_every_booking(engine: Engine) -> None:
    engine.service(charge).declines("card expired")
    order = engine.submit(trip, TRIP)
    engine.run()
    assert order.state == "Undone"
    assert set(engine.effects[3:5]) == {"book_hotel/undo", "rent_car/undo"}
    assert engine.effects[5:] == ["book_flight/undo"]
