"""The doors of the ledger processor: ledgers, and single entries of them; what it sends goes on into the lanes."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from tests.factories import MINUTE
from tests.lab.bad_input.lane_doors import NEIGHBOUR, ORDER, create, received, seen, shop, webhook
from tests.lab.bad_input.seen import Seen
from tests.lab.convoy.world import ConvoyWorld, entry

POINTER = json.dumps({"ledgerId": "L-1", "customerId": "c1", "objectKey": "ledgers/1.jsonl"})


@dataclass(slots=True)
class LedgerDoor:
    """Where ledgers come in: `put` makes a ledger's message of the text; what it sends goes on into the lanes.

    `others` are the orders that its remaining entries create, `length` how many entries it has, if that can be told.
    """

    world: ConvoyWorld
    good: str
    put: Callable[[str], str]
    others: Callable[[str], tuple[str, ...]] = lambda _: ()
    length: Callable[[str], int] = lambda _: 0
    whole: bool = False
    quiet: bool = False
    awaited: list[str] = field(default_factory=list)
    sent: int = 0
    """Entries that went on into their lanes, or to the rejects."""

    def pass_in(self, text: str) -> Seen:
        self.awaited = [NEIGHBOUR, *self.others(text)]
        neighbour = ledger("L-2", json.dumps(create(NEIGHBOUR)))
        found = seen(self.world, partial(self._walk, self.put(text), neighbour))
        length = self.length(text)
        return replace(found, wrong=f"of {length} entries {self.sent} went on") if self.sent < length else found

    def worked(self) -> bool:
        return all(order_id in self.world.store.tasks for order_id in self.awaited)

    def _walk(self, *texts: str) -> None:
        world, messages = self.world, [received(number, text) for number, text in enumerate(texts)]
        list(world.assembly().ledger().take(messages, lambda: MINUTE))
        self.sent = len(world.events.bodies) - 1 + len(world.rejects.kept)
        while world.work(world.events.receive()):
            pass


def ledger(ledger_id: str, *entries: str) -> str:
    """The text of a ledger of these entries, as they are written."""
    return f'{{"ledgerId":"{ledger_id}","customerId":"c1","entries":[{",".join(entries)}]}}'


def ledgers() -> LedgerDoor:
    good = ledger("L-1", *map(json.dumps, [create(ORDER), entry(ORDER, 2, "add", amount="1.50"), create("ord-2")]))
    return LedgerDoor(shop(), good, put=lambda text: text)


def pointers() -> LedgerDoor:
    """Ledgers that name an object."""
    world = shop()
    world.objects.objects["ledgers/1.jsonl"] = json.dumps(create(ORDER)).encode()
    return LedgerDoor(world, POINTER, put=lambda text: text)


def entries() -> LedgerDoor:
    """One entry of a ledger; as long as the ledger is JSON, the others do not suffer."""

    def put(text: str) -> str:
        return ledger("L-1", json.dumps(create("before")), text, json.dumps(create("behind")))

    def length(text: str) -> int:
        try:
            return len(json.loads(put(text))["entries"])
        except (ValueError, RecursionError):
            return 0

    good = json.dumps(create(ORDER))
    return LedgerDoor(shop(), good, put, lambda text: ("before", "behind") if length(text) else (), length)


def lines(good: str) -> LedgerDoor:
    """One line of a ledger's object; the others never suffer."""
    world = shop()

    def put(text: str) -> str:
        whole = [json.dumps(create("before")), text, json.dumps(create("behind"))]
        world.objects.objects["ledgers/1.jsonl"] = "\n".join(whole).encode("utf-8", "surrogatepass")
        return POINTER

    return LedgerDoor(world, good, put, lambda _: ("before", "behind"), lambda text: 2 + bool(text.strip()))


LEDGER_DOORS: Mapping[str, Callable[[], LedgerDoor]] = {
    "ledgers": ledgers,
    "pointers": pointers,
    "entries": entries,
    "lines": partial(lines, json.dumps(entry(ORDER, 2, "add", amount="1.50"))),
    "webhook lines": partial(lines, webhook()),
}
