"""A trip on the engine's testing kit whose services are the stand-ins of the local cloud, over HTTP."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from booking import app as booking
from booking.trip import ask_for_visa, book_hotel, trip
from stepward import App
from stepward.local.services import Services
from stepward.testing import Engine

TRIP = json.loads((Path(__file__).parents[1] / "trip.json").read_text())
AGENTS = ("flights", "hotels", "cars", "visas", "cards", "insurers", "mail")


@pytest.fixture
def app() -> App:
    return booking


@pytest.fixture(autouse=True)
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    with Services(tmp_path / "ledger.sqlite") as services:
        addresses = {agent: f"{services.endpoint}/{agent}" for agent in AGENTS}
        monkeypatch.setenv("STEPWARD_SERVICE_URLS", json.dumps(addresses))
        yield services


def test_a_trip_that_is_cancelled_after_all_is_taken_back_as_a_whole(engine: Engine) -> None:
    order = engine.submit(trip, TRIP)
    engine.run()
    assert order.state == "Processed"
    order.undo("the traveller broke a leg")
    engine.run()
    assert order.state == engine.order("trip-1#insurance").state == "Undone"
    engine.verdict()


def test_the_papers_are_handed_in_once_although_each_attempt_has_a_token_of_its_own(
    engine: Engine, services: Services
) -> None:
    engine.service(book_hotel).loses_answer()
    engine.service(ask_for_visa).dies_after_effect()
    order = engine.submit(trip, TRIP | {"needsVisa": True})
    engine.clock.move(600)
    assert (order.step(ask_for_visa).locked_by, order.step(ask_for_visa).attempt) == ("service", 2)
    order.answer(ask_for_visa, error="denied")
    engine.run()
    assert order.state == "Undone"
    assert services.ledger.doubled() == {}
    engine.verdict()
