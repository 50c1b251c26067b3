"""Ledgers through the convoy, with every port call counted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from stepward.domain.convoy.commands import LaneCommand
from stepward.domain.convoy.lane import Alerted, LaneRules
from stepward.testing.crash import played
from stepward.testing.engine import Engine
from stepward.testing.faults.pulse import Pulse
from stepward.testing.settings import Settings
from tests.factories import sequence
from tests.lab.convoy import audit
from tests.lab.convoy.record import held
from tests.lab.convoy.scripts import Book
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
