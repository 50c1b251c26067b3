"""Random ledgers: what orders ought to say, and what is made of it on the way."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.lab.convoy.world import entry

ORDERS = {"A": "c1", "B": "c1", "C": "c2", "D": "c2"}
LONGEST = 7


def has_order(written: Any) -> bool:
    return isinstance(written, dict) and "orderId" in written


@dataclass(frozen=True, slots=True)
class Book:
    """One ledger, as it is sent."""

    customer: str
    ledger_id: str
    entries: tuple[Any, ...]

    @property
    def message(self) -> dict[str, Any]:
        return {"ledgerId": self.ledger_id, "customerId": self.customer, "entries": list(self.entries)}


def books(chance: Random, *, numbered: bool, orders: Mapping[str, str] = ORDERS) -> list[Book]:
    """The ledgers of the customers of all `orders`; those of one in the order in which they are sent."""
    made: list[Book] = []
    for customer in sorted(set(orders.values())):
        scripts = [_script(chance, order_id, numbered) for order_id, owner in orders.items() if owner == customer]
        entries = list(_interleaved(chance, scripts))
        if numbered:
            entries = _disturbed(chance, entries)
        while entries:
            size = chance.randint(1, 9)
            made.append(Book(customer, f"L{len(made)}", tuple(entries[:size])))
            entries = entries[size:]
    return made


def _script(chance: Random, order_id: str, numbered: bool) -> list[dict[str, Any]]:
    length = chance.randint(0, LONGEST)
    script = [_entry(chance, order_id, position) for position in range(1, length + 1)]
    if script and chance.random() < 0.5:
        chance.choice([script[-1], script[-1], chance.choice(script)])["end"] = True
    for written in script:
        if not numbered:
            del written["sequence"]
    return script


def _entry(chance: Random, order_id: str, position: int) -> dict[str, Any]:
    kinds = ["add"] * 7 + ["modify"] * 3 + ["delete", "remove", "untargeted", "create", "empty create"]
    kind = "create" if position == 1 and chance.random() < 0.95 else chance.choice(kinds)
    content: dict[str, Any] = {}
    if kind == "add":
        content = {"amount": f"{position}.00", "note": "n" * chance.choice([0, 0, 300, 1500])}
    if kind == "modify":
        content = {"modifies": chance.randint(1, max(1, position - 1)), "amount": f"{position}.50"}
    written = entry(order_id, position, {"untargeted": "modify", "empty create": "create"}.get(kind, kind), **content)
    if kind == "empty create":
        del written["submittedAt"]
    return written


def _interleaved(chance: Random, scripts: list[list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    left = [list(script) for script in scripts if script]
    while left:
        script = chance.choice(left)
        yield script.pop(0)
        left = [script for script in left if script]


def _disturbed(chance: Random, entries: list[Any]) -> list[Any]:
    """The entries with some of them doubled, moved, missing, contradicted, or without use."""
    found = list(entries)
    for _ in range(chance.randint(0, 5) if found else 0):
        written = found.pop(chance.randrange(len(found)))
        to = chance.randint(0, len(found))
        found[to:to] = _instead(chance, written)
        if not found:
            break
    return found


def _instead(chance: Random, written: Any) -> list[Any]:
    """What comes of an entry that is moved."""
    nobody = {"sequence": 1, "op": "add"}
    unsequenced_event = entry(written["orderId"], None, "add", amount="0.10") if has_order(written) else nobody
    contradicted = {**written, "note": "otherwise"} if isinstance(written, dict) else written
    both = [[written, each] for each in (written, contradicted, nobody, None)]
    return chance.choice([*both, [written], [written], [], [unsequenced_event, written]])
