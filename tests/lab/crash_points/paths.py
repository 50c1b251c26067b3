"""The paths of ledgers through the convoy, with every port call counted; and all paths that are tried."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from stepward.domain.convoy.commands import LaneCommand, ReplaceEvent, SkipEvent
from stepward.domain.convoy.lane import Alerted, LaneRules
from stepward.testing.crash import played
from stepward.testing.engine import Engine
from stepward.testing.faults.path import Path
from stepward.testing.faults.pulse import Pulse
from stepward.testing.settings import Settings
from tests.factories import sequence
from tests.lab.convoy import audit
from tests.lab.convoy.audit import replacement
from tests.lab.convoy.record import held
from tests.lab.convoy.scripts import Book
from tests.lab.convoy.world import entry, order
from tests.lab.crash_points.order_paths import ORDER_PATHS
from tests.planned_app import PlannedApp

RULES = LaneRules()


@dataclass(frozen=True, slots=True)
class LedgerScenario:
    """One path of some ledgers: what an operator asks once, when alerted that order A is blocked.

    `applied` are the positions that have their effect in the end, by order.
    """

    books: Sequence[Book]
    applied: Mapping[str, Sequence[int]]
    mends: LaneCommand | None = None


def live(scenario: LedgerScenario, pulse: Pulse) -> Iterator[str]:
    engine = Engine(PlannedApp(sequence("reserve", "ship")), Settings(lane_rules=RULES), pulse=pulse)
    parts, to_ask = engine.parts, [scenario.mends] if scenario.mends else []
    left = audit.Left(RULES, parts.lanes, parts.store, parts.shared_records, parts.rejects, parts.alerts)
    for book in scenario.books:
        engine.send(book.message)

    def mend() -> bool:
        lane = left.lanes.lanes.get("A")
        if to_ask and lane is not None and lane.alerted is Alerted.BLOCKED:
            pulse.note("an operator acts")
            engine.send(to_ask.pop())
        return False

    yield from played(engine, until=mend)
    checks = [check for _, _, check in audit.checks(left, scenario.books)]
    checks += [partial(_applied, left, order_id, meant) for order_id, meant in scenario.applied.items()]
    checks += [] if pulse.hits else [partial(audit.alerted_once, left)]
    for check in checks:
        try:
            check()
        except (AssertionError, LookupError) as error:
            yield f"{type(error).__name__}: {error}"


def _applied(left: audit.Left, order_id: str, meant: Sequence[int]) -> None:
    lane = left.lanes.lanes[order_id]
    events = held(left.lanes, lane)
    applied = [position for position in range(1, lane.last + 1) if not events[position].skipped]
    assert applied == list(meant), f"{order_id}: {applied} were applied, not {meant}"


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
