"""The paths of ledgers through the convoy, as data."""

from functools import partial

from tests.convoy.audit import replacement
from tests.convoy.scripts import Book
from tests.convoy.world import entry, order
from tests.crash_points.ledgers import Ledgers, LedgerStory
from tests.crash_points.path import Path

A, B = order("A", 4), order("B", 2, end=True)
POISON = entry("A", 2, "remove")
SPOILT = [Book("c1", "L1", (A[0], B[0], POISON, A[2], B[1]))]

STORIES = {
    "ledger split": (
        "two orders, interleaved in one ledger",
        LedgerStory([Book("c1", "L1", (A[0], B[0], A[1], A[2], B[1]))], {"A": [1, 2, 3], "B": [1, 2]}),
    ),
    "drain": (
        "an event comes last, and what waited for it follows",
        LedgerStory([Book("c1", "L1", (A[0], A[2], A[3])), Book("c1", "L2", (A[1],))], {"A": [1, 2, 3, 4]}),
    ),
    "gap": (
        "an event never comes: an operator is told, and nothing is jumped",
        LedgerStory([Book("c1", "L1", (A[0], A[2], B[0], B[1]))], {"A": [1], "B": [1, 2]}),
    ),
    "poison, skipped": (
        "an event cannot be applied: its order stands still until an operator skips it",
        LedgerStory(SPOILT, {"A": [1, 3], "B": [1, 2]}, lambda world: world.skip("A", 2)),
    ),
    "poison, replaced": (
        "the same, and an operator replaces it",
        LedgerStory(
            SPOILT, {"A": [1, 2, 3], "B": [1, 2]}, lambda world: world.replace("A", 2, replacement(world.rules, "A", 2))
        ),
    ),
    "delete": (
        "an order is cancelled by its ledger",
        LedgerStory([Book("c1", "L1", (A[0], A[1], entry("A", 3, "delete")))], {"A": [1, 2, 3]}),
    ),
    "after the end": (
        "what comes after the end of a sequence is refused and kept",
        LedgerStory([Book("c1", "L1", (*B, entry("B", 3, "add", amount="3.00")))], {"B": [1, 2]}),
    ),
}
CONVOY_PATHS = [Path(name, what, partial(Ledgers, story), is_short=True) for name, (what, story) in STORIES.items()]
