"""The scenes of docs/convoy.md."""

from collections.abc import Iterator
from typing import Any

from tests.architecture.pages.following import Scene, Scenes
from tests.architecture.pages.shop import at, opened

ITEM: dict[str, Any] = {"sku": "SKU-3", "qty": 1, "unitPrice": "7.00"}
ENTRIES: list[dict[str, Any]] = [
    {"op": "create", "submittedAt": "2027-01-15T07:59:00Z", "currency": "EUR", "items": [ITEM | {"sku": "SKU-1"}]},
    {"op": "add", "item": ITEM},
    {"op": "modify", "modifies": 2, "item": ITEM | {"qty": 2}},
    {"op": "modify", "modifies": 3, "item": ITEM},
    {"op": "add", "amount": "1.50", "end": True},
]


def blocked() -> Iterator[Scene]:
    """The fourth event of an order names one that cannot be modified."""
    with opened() as engine:
        entries = [entry | {"orderId": "ord-1", "sequence": number} for number, entry in enumerate(ENTRIES, 1)]
        engine.send({"ledgerId": "2027-01-15-a", "customerId": "customer-7", "entries": entries})
        engine.clock.move(95)
        yield at(engine)


SCENES: Scenes = {"What an operator does": blocked}
