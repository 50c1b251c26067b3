"""The samples of ledgers and order events in events/ are what the convoy takes, and they do what docs say of them."""

import json
from pathlib import Path

from orders.messages import OrderEvent, OrderSubmitted
from orders.shops.sources import SOURCES
from stepward.domain.convoy.event import OrderEvent as Event
from stepward.domain.task.record import ProcessState
from stepward.wire.convoy import decode_for_lane
from stepward.wire.ledger import Ledger, decode_ledger, entry_of
from tests.lab.convoy.world import ConvoyWorld

EVENTS = Path(__file__).parents[3] / "events"


def body_of(name: str) -> str:
    (record,) = json.loads((EVENTS / f"{name}.json").read_text())["Records"]
    return str(record["body"])


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
    records = json.loads((EVENTS / "sqs-order-events.json").read_text())["Records"]
    sent = [entry_of(ledger, index, raw, SOURCES) for index, raw in enumerate(ledger.entries)]

    assert decode_ledger(body_of("sqs-ledger")) == ledger
    assert lines == list(ledger.entries)
    assert [record["body"] for record in records] == [message.body for message in sent]
    assert [record["attributes"]["MessageDeduplicationId"] for record in records] == [m.name for m in sent]


def test_the_sample_of_a_ledger_in_an_object_names_it() -> None:
    ledger = decode_ledger(body_of("sqs-ledger-object"))
    assert isinstance(ledger, Ledger)
    assert (ledger.entries, ledger.object_key) == ((), "customer-7/2026-01-01-b.jsonl")


def test_the_sample_event_begins_an_order() -> None:
    event = decode_for_lane((EVENTS / "order-event.json").read_text(), OrderEvent, SOURCES)
    assert isinstance(event, Event)
    assert (event.order_id, event.sequence, event.fault) == ("ord-2003", 1, "")
