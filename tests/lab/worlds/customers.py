"""The people around ledgers: customers who send them, twice or late, and operators who mend what blocks a lane."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import chain, count
from random import Random
from typing import Any

from stepward.domain.convoy.commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.convoy.lane import LaneRules
from stepward.domain.messages import LaneWaits
from stepward.testing.faults.gate import Gate
from stepward.testing.seeded.people import LATER, STRANGER
from stepward.wire.convoy import encode_command
from tests.lab.convoy.audit import replacement
from tests.lab.convoy.scripts import Book, books
from tests.lab.convoy.world import entry

OWNERS = {"ord-16": "c1", "ord-17": "c1", "ord-18": "c2", "ord-19": "c2"}
"""The orders that come by ledger, and whose they are."""
SHARED = {"ord-18": "ord-16", "ord-19": "ord-17"}
"""The ids that the second customer uses where the two are told apart."""


@dataclass(slots=True)
class Customers:
    """They `post` to the queues; `sent` are the ledgers that they wrote.

    They delete no order that cannot be undone: nothing would take its effects back. Those who are told `apart` use the
    same order ids.
    """

    gate: Gate
    rules: LaneRules
    undoable: bool
    apart: bool
    post: Callable[..., object] = field(init=False)
    sent: list[Book] = field(default_factory=list)
    alerted: Counter[str] = field(default_factory=Counter)
    asked: count = field(default_factory=count)  # type: ignore[type-arg]

    def write(self, within: int) -> None:
        """Send all ledgers, those of a customer in their order."""
        dice = self.gate.chances.dice("ledgers")
        written = [self._meant(book) for book in books(dice, numbered=self.rules.sequenced, orders=OWNERS)]
        times = sorted(dice.randrange(within) for _ in written)
        self._stranger(within)
        for at, book in zip(times, written, strict=True):
            name = f"ledger {book.ledger_id} of {book.customer}"
            if self.gate.chances.happens(f"{name} is sent", 1.0) is None:
                continue
            self.sent.append(book)
            self._send(book, at)
            if again := self.gate.chances.happens(f"{name} is sent twice", self.gate.profile.people / 4):
                self._send(book, at + again.choice(LATER))

    def hear(self, alert: LaneWaits) -> None:
        """An operator is alerted to a lane and acts, perhaps with two clicks, perhaps on what has changed since."""
        self.alerted[alert.alert_id] += 1
        trouble, times = f"event {alert.event} ({alert.trouble.value})", self.alerted[alert.alert_id]
        name = f"{alert.order_id}: {trouble} is acted on after alert {times}"
        if dice := self.gate.chances.happens(name, min(1.0, self.gate.profile.people * 1.5)):
            position = int(alert.event.replace("u", "-"))
            for _ in range(dice.choice([1, 1, 2])):
                self.gate.diary.counts["commands"] += 1
                self._ask(self._command(dice, alert.order_id, position), dice.choice(LATER))

    def _stranger(self, within: int) -> None:
        """Another customer creates and deletes orders with these ids, too."""
        if dice := self.gate.chances.happens("a ledger of a stranger is sent", self.gate.profile.people / 2):
            first, second = (1, 2) if self.rules.sequenced else (None, None)
            both = ((entry(it, first, "create"), entry(it, second, "delete", end=True)) for it in OWNERS)
            book = self._meant(Book(STRANGER, "L0", tuple(chain.from_iterable(both))))
            self.sent.append(book)
            self._send(book, dice.randrange(within))

    def _meant(self, book: Book) -> Book:
        return replace(book, entries=tuple(map(self._as_meant, book.entries)))

    def _as_meant(self, written: Any) -> Any:
        if not isinstance(written, dict):
            return written
        order_id, op = written.get("orderId"), written.get("op")
        shared = {"orderId": SHARED[order_id]} if self.apart and order_id in SHARED else {}
        return {**written, **shared, **({"op": "add"} if op == "delete" and not self.undoable else {})}

    def _command(self, dice: Random, order_id: str, position: int) -> LaneCommand:
        asked = f"asked-{next(self.asked)}"
        match dice.choice(["retry", "skip", "replace"]):
            case "skip":
                return SkipEvent(order_id, position, "ada", "not needed", asked)
            case "replace" if position > 0:
                body = json.dumps(replacement(self.rules, order_id, position))
                return ReplaceEvent(order_id, position, body, "ada", "corrected", asked)
            case _:
                return RetryLane(order_id, "ada", "mended", asked)

    def _ask(self, command: LaneCommand, wait: int) -> None:
        self._say("events", encode_command(command), command.order_id, command.command_id, wait)

    def _send(self, book: Book, wait: int) -> None:
        self._say("ledgers", json.dumps(book.message), book.customer, f"ledger-{next(self.asked)}", wait)

    def _say(self, queue: str, text: str, group: str, name: str, wait: int) -> None:
        self.gate.loop.later(wait, lambda: self.post(queue, text, group, name))
