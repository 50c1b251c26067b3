"""Good orders and ledgers at a steady rate."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from orders.demo.ledgers import CUSTOMERS
from orders.demo.stage import Stage
from tests.lab.convoy.world import order

BY_LEDGER = 4
"""One in this many orders comes in a ledger."""
EVENTS = 5
LEDGER_EVERY_S = 10.0


@dataclass(slots=True)
class Flow:
    """Sends `rate` orders a second to `stage`, each a copy of `template`."""

    stage: Stage
    template: Mapping[str, Any]
    rate: float
    seed: int
    direct: int = 0
    by_ledger: int = 0
    ledgers: int = 0

    @property
    def sent(self) -> int:
        return self.direct + self.by_ledger

    def send_until(self, seconds: float) -> None:
        """Send every order and ledger that is due within `seconds` of the beginning."""
        due = int(seconds * self.rate * (BY_LEDGER - 1) / BY_LEDGER)
        ids = (f"soak-{self.seed}-{number:06d}" for number in range(self.direct, due))
        self.stage.send([json.dumps({**self.template, "orderId": order_id}) for order_id in ids])
        self.direct = max(self.direct, due)
        if seconds >= (self.ledgers + 1) * LEDGER_EVERY_S:
            self._send_ledger(max(1, int(seconds * self.rate / BY_LEDGER) - self.by_ledger))

    def _send_ledger(self, orders: int) -> None:
        """Send a ledger of whole orders, their events interleaved."""
        customer = CUSTOMERS[self.ledgers % len(CUSTOMERS)]
        lanes = [self._events(number) for number in range(self.by_ledger, self.by_ledger + orders)]
        entries = list(chain.from_iterable(zip(*lanes, strict=True)))
        ledger = {"ledgerId": f"soak-{self.seed}-{self.ledgers}", "customerId": customer, "entries": entries}
        self.stage.send_ledgers([ledger], self.ledgers)
        self.ledgers += 1
        self.by_ledger += orders

    def _events(self, number: int) -> Sequence[Mapping[str, Any]]:
        create, *adds = order(f"soak-led-{self.seed}-{number:06d}", EVENTS, end=True)
        return [create | {name: self.template[name] for name in ("submittedAt", "currency", "items")}, *adds]
