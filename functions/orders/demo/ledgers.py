"""The ledgers of the demonstration: their customers, their entries, and what goes wrong with each order."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import Any

CUSTOMERS = ("customer-north", "customer-south", "customer-west")
LEDGERS_PER_CUSTOMER = 4
EVENTS_PER_ORDER = 6
DUPLICATES = 12
Entry = Mapping[str, Any]
_NOT_OF_A_CREATE = frozenset({"orderId", "type", "version", "customerId", "correlationId"})


class Story(Enum):
    """What happens to the events of an order."""

    PLAIN = "nothing is wrong"
    SWAPPED = "two of them are swapped"
    LATE = "one of them is missing"
    POISON = "one of them is wrong"
    CANCELLED = "the last one cancels the order"
    AFTER_END = "one comes after the end"


@dataclass(frozen=True, slots=True)
class LedgerOrder:
    """An order as its customer meant it: `entries` in sequence."""

    order_id: str
    customer: str
    story: Story
    entries: tuple[Entry, ...]
    wrong: Entry | None = None
    """The wrong entry that is sent instead of the one with the same sequence, if any."""
    given_up: bool = False
    """Whether the order used up its attempts, so that its task must end Undone."""

    @property
    def troubled(self) -> int:
        """The sequence of the event that is late or wrong, at which the order waits; 0 if there is none."""
        return len(self.entries) // 2 if self.story in {Story.LATE, Story.POISON} else 0


@dataclass(frozen=True, slots=True)
class LedgerScenario:
    """The ledgers to send first, the late ones, and their orders."""

    orders: tuple[LedgerOrder, ...]
    ledgers: tuple[Mapping[str, Any], ...]
    late: tuple[Mapping[str, Any], ...] = ()
    rejected: int = 0
    """How many entries must be rejected: one without an order, those after an end, and those that were replaced."""

    @property
    def by_story(self) -> Mapping[Story, Sequence[str]]:
        """The ids of the orders of each story that occurs."""
        ids = {story: [order.order_id for order in self.orders if order.story is story] for story in Story}
        return {story: those for story, those in ids.items() if those}

    @property
    def entries(self) -> int:
        """The number of entries in all ledgers."""
        return sum(len(ledger["entries"]) for ledger in (*self.ledgers, *self.late))


def ledger_scenario(orders: int, seed: int, template: Mapping[str, Any]) -> LedgerScenario:
    """Ledgers of about `orders` * 6.5 entries, the same for the same `seed`; orders are made like `template`."""
    if not orders:
        return LedgerScenario((), ())
    chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
    template = {name: value for name, value in template.items() if name not in _NOT_OF_A_CREATE}
    stories = [*Story, *[Story.PLAIN] * orders][:orders]
    chance.shuffle(stories)
    made = tuple(_order(number, story, seed, template, chance) for number, story in enumerate(stories))
    ledgers = [ledger for customer in CUSTOMERS for ledger in _ledgers(customer, made, seed, chance)]
    # A repeated ledger, like a repeated entry, must have no effect.
    ledgers.append(ledgers[0])
    late = [_late_ledger(order, seed) for order in made if order.story is Story.LATE]
    return LedgerScenario(
        orders=made,
        ledgers=tuple(ledgers),
        late=tuple(late),
        rejected=1 + sum(story in {Story.AFTER_END, Story.POISON} for story in stories),
    )


def _order(number: int, story: Story, seed: int, template: Mapping[str, Any], chance: random.Random) -> LedgerOrder:
    order_id, customer = f"led-{seed}-{number + 1:03d}", CUSTOMERS[number % len(CUSTOMERS)]
    events = EVENTS_PER_ORDER + chance.choice((-1, 0, 1, 2))
    entries = [{"orderId": order_id, "sequence": 1, "op": "create", **template}]
    entries += [_change(order_id, sequence, chance) for sequence in range(2, events + 1)]
    if story is Story.CANCELLED:
        entries[-1] = {"orderId": order_id, "sequence": events, "op": "delete", "reason": "bought elsewhere"}
    entries[-1] = {**entries[-1], "end": True}
    order = LedgerOrder(order_id, customer, story, tuple(entries))
    if story is not Story.POISON:
        return order
    wrong = {"orderId": order_id, "sequence": order.troubled, "op": "multiply", "amount": "7.00"}
    return LedgerOrder(order_id, customer, story, tuple(entries), wrong)


def _change(order_id: str, sequence: int, chance: random.Random) -> dict[str, Any]:
    """An addition, or sometimes a modification of event 2, which is always an addition."""
    amount = f"{chance.randrange(1, 100)}.{chance.randrange(100):02d}"
    if sequence > 2 and chance.random() < 0.25:
        return {"orderId": order_id, "sequence": sequence, "op": "modify", "modifies": 2, "amount": amount}
    return {"orderId": order_id, "sequence": sequence, "op": "add", "amount": amount}


def _ledgers(
    customer: str, orders: Sequence[LedgerOrder], seed: int, chance: random.Random
) -> Iterator[Mapping[str, Any]]:
    entries = _interleaved([list(_sent(order)) for order in orders if order.customer == customer], chance)
    if customer == CUSTOMERS[0]:
        entries.insert(len(entries) // 2, {"sequence": 1, "op": "add", "amount": "1.00"})
    plain = {order.order_id for order in orders if order.story is Story.PLAIN}
    for _ in range(DUPLICATES // len(CUSTOMERS)):
        of_plain = [at for at, entry in enumerate(entries) if entry.get("orderId") in plain]
        if of_plain:
            index = chance.choice(of_plain)
            entries.insert(chance.randrange(index, len(entries)) + 1, entries[index])
    size = max(1, -(-len(entries) // LEDGERS_PER_CUSTOMER))
    for number, start in enumerate(range(0, len(entries), size), start=1):
        yield _ledger(customer, f"{seed}-{number}", entries[start : start + size])


def _sent(order: LedgerOrder) -> Iterator[Entry]:
    """The order's entries as its customer sends them."""
    entries = list(order.entries)
    middle = len(entries) // 2
    match order.story:
        case Story.SWAPPED:
            entries[middle - 1], entries[middle] = entries[middle], entries[middle - 1]
        case Story.LATE:
            del entries[order.troubled - 1]
        case Story.AFTER_END:
            entries.append({"orderId": order.order_id, "sequence": len(entries) + 1, "op": "add", "amount": "1.00"})
    if order.wrong:
        entries[order.troubled - 1] = dict(order.wrong)
    yield from entries


def _interleaved(lanes: list[list[Entry]], chance: random.Random) -> list[Entry]:
    """All lanes interleaved at random, each in sequence."""
    turns = list(chain.from_iterable([number] * len(lane) for number, lane in enumerate(lanes)))
    chance.shuffle(turns)
    left = [iter(lane) for lane in lanes]
    return [next(left[number]) for number in turns]


def _late_ledger(order: LedgerOrder, seed: int) -> Mapping[str, Any]:
    return _ledger(order.customer, f"{seed}-late", [order.entries[order.troubled - 1]])


def _ledger(customer: str, name: str, entries: Sequence[Entry]) -> Mapping[str, Any]:
    return {"ledgerId": f"{customer}-{name}", "customerId": customer, "entries": list(entries)}


def replacement(order: LedgerOrder) -> str:
    """The event by which an operator replaces the wrong one."""
    return json.dumps(order.entries[order.troubled - 1])
