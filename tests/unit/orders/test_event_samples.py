"""The samples in events/ do what docs say of them, also in the messages of tests/events."""

import json
from pathlib import Path
from typing import Any

import pytest

from orders import app
from orders.messages import OrderEvent, OrderSubmitted
from orders.shops.sources import SOURCES
from stepward.cli.ledger.files import opened, surveyed
from stepward.domain.convoy.event import OrderEvent as Event
from stepward.domain.convoy.lane_message import LaneMessage
from stepward.domain.messages import SignalGiven
from stepward.domain.task.record import ProcessState
from stepward.wire.convoy import decode_for_lane
from stepward.wire.ledger import Ledger, decode_ledger, entry_of
from stepward.wire.order import Accepted, accept, check_signal
from tests.lab.convoy.world import ConvoyWorld

EVENTS = Path(__file__).parents[3] / "events"
OF_SQS = EVENTS.parent / "tests" / "events"


def records(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((OF_SQS / f"{name}.json").read_text())["Records"]
    return found


@pytest.mark.parametrize("name", ["sqs-order-plain", "sqs-order-sns", "sqs-order-eventbridge"])
def test_the_sample_orders_are_accepted(name: str) -> None:
    for record in records(name):
        assert isinstance(accept(record["body"], app.schemas), Accepted)


def test_the_plain_sample_is_the_order_of_the_tutorial() -> None:
    body = (EVENTS / "orders" / "order.json").read_text()
    assert accept(body, app.schemas) == accept(records("sqs-order-plain")[0]["body"], app.schemas)


def test_the_samples_of_a_return_and_of_its_signal_are_accepted() -> None:
    """W1, W2: both mean the same task."""
    sent, given = [
        accept((EVENTS / "returns" / f"{name}.json").read_text(), app.schemas, app.keys) for name in ("return", "goods")
    ]
    assert isinstance(sent, Accepted)
    assert isinstance(given, SignalGiven)
    assert sent.order.order_id == given.order_id == "returns~~ret-1001"
    check_signal(given, app.signals(given.order_id)[given.step])


def test_the_sample_ledger_applies_every_entry_of_its_orders() -> None:
    world = ConvoyWorld(sources=SOURCES, schema=OrderEvent, order_schema=OrderSubmitted)

    world.ledgers.send((EVENTS / "ledger.json").read_text(), group="customer-7", deduplication="1")
    world.run()

    assert (world.applied("ord-2001"), world.applied("ord-2002")) == ([1, 2, 3, 4], [1, 2])
    assert (world.lane("ord-2001").end, world.lane("ord-2002").end) == (4, 2)
    assert world.store.tasks["ord-2002"].process_state is ProcessState.UNDONE
    assert not world.rejects.kept


def test_the_same_entries_stand_in_the_samples_of_all_forms() -> None:
    ledger = decode_ledger((EVENTS / "ledger.json").read_text())
    assert isinstance(ledger, Ledger)
    lines = [json.loads(line) for line in (EVENTS / "ledger-lines.jsonl").read_text().splitlines()]
    found = [entry_of(ledger, index, raw, SOURCES) for index, raw in enumerate(ledger.entries)]
    sent = [message for message in found if isinstance(message, LaneMessage)]

    assert decode_ledger(records("sqs-ledger")[0]["body"]) == ledger
    assert lines == list(ledger.entries)
    received = [(each["body"], each["attributes"]["MessageDeduplicationId"]) for each in records("sqs-order-events")]
    assert received == [(message.body, message.name) for message in sent]


def test_the_sample_event_begins_an_order() -> None:
    event = decode_for_lane((EVENTS / "order-event.json").read_text(), schema=OrderEvent, sources=SOURCES)
    assert isinstance(event, Event)
    assert (event.order_id, event.sequence, event.fault) == ("ord-2003", 1, "")


def test_the_sample_that_the_readme_sends_is_a_ledger() -> None:
    ledger = opened(EVENTS / "ledger.json", "", "")

    survey = surveyed(ledger)

    assert (ledger.customer_id, survey.faulty, survey.orders) == ("customer-7", 0, {"ord-2001", "ord-2002"})
