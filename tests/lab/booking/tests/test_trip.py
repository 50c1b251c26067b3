"""A trip in memory, on the engine's testing kit."""

import json
from pathlib import Path

import pytest

from booking import app as booking
from booking.trip import charge, trip
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
    order = engine.submit(trip, TRIP)
    engine.run()
    assert order.state == "Processed"
    assert set(engine.effects[1:3]) == {"book_hotel", "rent_car"}
    assert (engine.effects[0], engine.effects[3:]) == ("book_flight", ["charge", "send_itinerary"])


def test_a_declined_card_undoes_every_booking(engine: Engine) -> None:
    engine.service(charge).declines("card expired")
    order = engine.submit(trip, TRIP)
    engine.run()
    assert order.state == "Undone"
    assert set(engine.effects[3:5]) == {"book_hotel/undo", "rent_car/undo"}
    assert engine.effects[5:] == ["book_flight/undo"]
