"""The doors of the ledger processor: ledgers, and single entries of them; what it sends goes on into the lanes."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from tests.factories import MINUTE
from tests.lab.bad_input.doors import Door, Seen
from tests.lab.bad_input.lane_doors import NEIGHBOUR, ORDER, create, received, seen, shop, webhook
from tests.lab.convoy.world import ConvoyWorld, entry

ENTRIES = [create(ORDER), entry(ORDER, 2, "add", amount="1.50"), create("ord-2")]
POINTER = json.dumps({"ledgerId": "L-1", "customerId": "c1", "objectKey": "ledgers/1.jsonl"})


def _door(
    world: ConvoyWorld,
    good: str,
    put: Callable[[str], str] = str,
    others: Callable[[str], Sequence[str]] = lambda _: (),
    entries_in: Callable[[str], int] = lambda _: 0,
) -> Door:
    """Where ledgers come in: `put` makes a ledger's message of the text; what it sends goes on into the lanes.

    `others` are the orders that its remaining entries create, `entries_in` counts its entries, if that can be told.
    """
    awaited: list[str] = []
    sent: list[int] = []

    def walk(*texts: str) -> None:
        list(world.assembly().ledger().take([received(*each) for each in enumerate(texts)], lambda: MINUTE))
        sent.append(len(world.events.bodies) - 1 + len(world.rejects.kept))
        while world.work(world.events.receive()):
            pass

    def pass_in(text: str) -> Seen:
        awaited[:] = [NEIGHBOUR, *others(text)]
        found = seen(world, partial(walk, put(text), ledger("L-2", json.dumps(create(NEIGHBOUR)))))
        length, went_on = entries_in(text), sent[-1] if sent else 0
        return found if went_on >= length else replace(found, wrong=f"of {length} entries {went_on} went on")

    return Door(good, pass_in, lambda: all(order_id in world.store.tasks for order_id in awaited))


def ledger(ledger_id: str, *entries: str) -> str:
    """The text of a ledger of these entries, as they are written."""
    return f'{{"ledgerId":"{ledger_id}","customerId":"c1","entries":[{",".join(entries)}]}}'


def pointers() -> Door:
    """Ledgers that name an object."""
    world = shop()
    world.objects.objects["ledgers/1.jsonl"] = json.dumps(create(ORDER)).encode()
    return _door(world, POINTER)


def entries() -> Door:
    """One entry of a ledger; as long as the ledger is JSON, the others do not suffer."""

    def put(text: str) -> str:
        return ledger("L-1", json.dumps(create("before")), text, json.dumps(create("behind")))

    def length(text: str) -> int:
        try:
            return len(json.loads(put(text))["entries"])
        except (ValueError, RecursionError):
            return 0

    good = json.dumps(create(ORDER))
    return _door(shop(), good, put, lambda text: ("before", "behind") if length(text) else (), length)


def lines(good: str) -> Door:
    """One line of a ledger's object; the others never suffer."""
    world = shop()

    def put(text: str) -> str:
        whole = [json.dumps(create("before")), text, json.dumps(create("behind"))]
        world.objects.objects["ledgers/1.jsonl"] = "\n".join(whole).encode("utf-8", "surrogatepass")
        return POINTER

    return _door(world, good, put, lambda _: ("before", "behind"), lambda text: 2 + bool(text.strip()))


LEDGER_DOORS: Mapping[str, Callable[[], Door]] = {
    "ledgers": lambda: _door(shop(), ledger("L-1", *map(json.dumps, ENTRIES))),
    "pointers": pointers,
    "entries": entries,
    "lines": partial(lines, json.dumps(ENTRIES[1])),
    "webhook lines": partial(lines, webhook()),
}
