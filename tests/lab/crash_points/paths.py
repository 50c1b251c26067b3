"""The paths of ledgers through the convoy, as data; and all paths that are tried."""

import json
from functools import partial

from stepward.domain.convoy.commands import ReplaceEvent, SkipEvent
from stepward.testing.faults.path import Path
from tests.lab.convoy.audit import replacement
from tests.lab.convoy.scripts import Book
from tests.lab.convoy.world import entry, order
from tests.lab.crash_points.ledgers import RULES, LedgerScenario, live
from tests.lab.crash_points.order_paths import ORDER_PATHS

A, B = order("A", 4), order("B", 2, end=True)
POISON = entry("A", 2, "remove")
INSTEAD = json.dumps(replacement(RULES, "A", 2))
SPOILT = [Book("c1", "L1", (A[0], B[0], POISON, A[2], B[1]))]

SCENARIOS = {
    "ledger split": (
        "two orders, interleaved in one ledger",
        LedgerScenario([Book("c1", "L1", (A[0], B[0], A[1], A[2], B[1]))], {"A": [1, 2, 3], "B": [1, 2]}),
    ),
    "drain": (
        "an event comes last, and what waited for it follows",
        LedgerScenario([Book("c1", "L1", (A[0], A[2], A[3])), Book("c1", "L2", (A[1],))], {"A": [1, 2, 3, 4]}),
    ),
    "gap": (
        "an event never comes: an operator is alerted, and nothing jumps the gap",
        LedgerScenario([Book("c1", "L1", (A[0], A[2], B[0], B[1]))], {"A": [1], "B": [1, 2]}),
    ),
    "poison, skipped": (
        "an event cannot be applied: its order is blocked until an operator skips it",
        LedgerScenario(SPOILT, {"A": [1, 3], "B": [1, 2]}, SkipEvent("A", 2, "ann", "not needed", "a-1")),
    ),
    "poison, replaced": (
        "the same, and an operator replaces it",
        LedgerScenario(SPOILT, {"A": [1, 2, 3], "B": [1, 2]}, ReplaceEvent("A", 2, INSTEAD, "ann", "corrected", "a-1")),
    ),
    "delete": (
        "an order is cancelled by its ledger",
        LedgerScenario([Book("c1", "L1", (A[0], A[1], entry("A", 3, "delete")))], {"A": [1, 2, 3]}),
    ),
    "after the end": (
        "what comes after the end of a sequence is rejected",
        LedgerScenario([Book("c1", "L1", (*B, entry("B", 3, "add", amount="3.00")))], {"B": [1, 2]}),
    ),
}
ALL = [
    *ORDER_PATHS,
    *(Path(name, what, partial(live, scenario), is_short=True) for name, (what, scenario) in SCENARIOS.items()),
]
PATHS = {path.name: path for path in ALL}
