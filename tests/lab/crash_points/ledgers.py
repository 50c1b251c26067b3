"""Ledgers through the convoy, with every port call counted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from stepward.domain.convoy.commands import LaneCommand
from stepward.domain.convoy.lane import Alerted, LaneRules
from stepward.testing.engine import Engine
from stepward.testing.faults.pulse import Pulse
from stepward.testing.settings import Settings
from tests.factories import of_lanes, sequence
from tests.lab.convoy import audit
from tests.lab.convoy.scripts import Book
from tests.planned_app import PlannedApp

RULES = LaneRules()


@dataclass(frozen=True, slots=True)
class LedgerStory:
    """One path of some ledgers: what an operator asks once, when told that order A stands still.

    `applied` are the places that have their effect in the end, by order.
    """

    books: Sequence[Book]
    applied: Mapping[str, Sequence[int]]
    mends: LaneCommand | None = None


@dataclass(slots=True)
class Ledgers:
    """A world in which one story of ledgers is played."""

    story: LedgerStory
    pulse: Pulse
    engine: Engine = field(init=False)
    left: audit.Left = field(init=False)
    has_mended: bool = False
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        app = PlannedApp(sequence("reserve", "ship"))
        self.engine = Engine(app, Settings(lane_rules=RULES), pulse=self.pulse)
        parts = self.engine.parts
        self.left = audit.Left(RULES, parts.lanes, parts.store, parts.shared_records, parts.rejects, parts.alerts)
        for book in self.story.books:
            content = {"ledgerId": book.ledger_id, "customerId": book.customer, "entries": list(book.entries)}
            self.engine.send(content)

    def run(self) -> None:
        """See World."""
        with self.engine:
            try:
                self.engine.run(self._mend)
                self.engine.verdict()
            except AssertionError as fault:
                self.faults.append(str(fault))

    def broken(self) -> Iterator[str]:
        """See World."""
        yield from self.faults
        checks: list[Callable[[], None]] = [lambda: audit.nothing_is_lost(self.left, self.story.books), self._told_once]
        for order_id in self.story.applied:
            checks.extend(self._checks(order_id))
        for check in checks:
            yield from _fault(check)

    def _checks(self, order_id: str) -> Iterator[Callable[[], None]]:
        left, entries = self.left, audit.sent(self.story.books, order_id)
        yield lambda: audit.at_rest(left, left.lanes.lanes[order_id])
        yield lambda: audit.replayed(left, order_id, entries)
        yield lambda: audit.nothing_is_missing(left, order_id, entries)
        yield lambda: audit.nothing_comes_after_the_end(left, order_id, entries)
        yield lambda: self._applied(order_id)

    def _applied(self, order_id: str) -> None:
        held = audit.held(self.left, self.left.lanes.lanes[order_id])
        last = self.left.lanes.lanes[order_id].last
        applied = [position for position in range(1, last + 1) if not held[position].skipped]
        meant = list(self.story.applied[order_id])
        assert applied == meant, f"{order_id}: {applied} were applied, not {meant}"

    def _told_once(self) -> None:
        """C6: one alert per trouble, unless a fault hid that it was out."""
        told = [(alert.order_id, alert.trouble, alert.event, alert.at) for alert in of_lanes(self.left.alerts.told)]
        assert self.pulse.hits or len(told) == len(set(told)), told

    def _mend(self) -> bool:
        lane = self.left.lanes.lanes.get("A")
        if self.story.mends and not self.has_mended and lane is not None and lane.alerted is Alerted.BLOCKED:
            self.pulse.note("an operator sees to it")
            self.engine.send(self.story.mends)
            self.has_mended = True
        return False


def _fault(check: Callable[[], None]) -> Iterator[str]:
    try:
        check()
    except (AssertionError, LookupError) as error:
        yield f"{type(error).__name__}: {error}"
