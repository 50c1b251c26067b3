"""Ledgers through the convoy, with every port call counted: the convoy's own world, behind a gate that counts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stepward.domain.errors import Transient
from stepward.domain.lane import Told
from tests.convoy import audit
from tests.convoy.gate import Gate
from tests.convoy.scripts import Book
from tests.convoy.world import ConvoyWorld
from tests.crash_points.pulse import Pulse
from tests.factories import SECOND, T0
from tests.simulation.faults import Died

HIDDEN = 61 * SECOND
"""Longer than the queues hide a message that was not deleted."""
MOST_TURNS = 400


@dataclass(frozen=True, slots=True)
class LedgerStory:
    """One path of some ledgers: what an operator does once, when told that order A stands still.

    `applied` are the places that have their effect in the end, by order.
    """

    books: Sequence[Book]
    applied: Mapping[str, Sequence[int]]
    mends: Callable[[ConvoyWorld], None] | None = None


@dataclass(slots=True)
class CountingGate(Gate):
    """Counts each call with `pulse`, which says what happens to it."""

    pulse: Pulse = field(default_factory=Pulse)

    def through(self, name: str, call: Callable[[], Any]) -> Any:
        """See Gate."""
        try:
            return self.pulse.call(name, call, Transient, None)
        finally:
            self.hit = self.pulse.hits


@dataclass
class CountedConvoy(ConvoyWorld):
    """The convoy's world, each of whose ports is behind the counting gate."""

    pulse: Pulse = field(default_factory=Pulse)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.gate = CountingGate(pulse=self.pulse)


@dataclass(slots=True)
class Ledgers:
    """A world in which one story of ledgers is played."""

    story: LedgerStory
    pulse: Pulse
    world: CountedConvoy = field(init=False)
    has_mended: bool = False
    is_quiet: bool = False

    def __post_init__(self) -> None:
        self.world = CountedConvoy(pulse=self.pulse)
        self.pulse.now = lambda: f"{(self.world.clock.now - T0) / 1000:>8.2f} s"
        for book in self.story.books:
            self.world.ledger(book.ledger_id, *book.entries, customer=book.customer)

    def run(self) -> None:
        """See World."""
        for _ in range(MOST_TURNS):
            try:
                if not self._next():
                    self.is_quiet = True
                    return
            except (Died, Transient) as end:
                self.pulse.note(f"{type(end).__name__}; others go on")

    def broken(self) -> Iterator[str]:
        """See World."""
        if not self.is_quiet:
            yield f"it is not quiet after {MOST_TURNS} turns"
        checks: list[Callable[[], None]] = [
            lambda: audit.nothing_is_lost(self.world, self.story.books),
            lambda: audit.told_once(self.world),
        ]
        for order_id in self.story.applied:
            checks.extend(self._checks(order_id))
        for check in checks:
            yield from _fault(check)

    def _checks(self, order_id: str) -> Iterator[Callable[[], None]]:
        world, entries = self.world, audit.sent(self.story.books, order_id)
        yield lambda: audit.at_rest(world, world.lane(order_id))
        yield lambda: audit.replayed(world, order_id, entries)
        yield lambda: audit.nothing_is_missing(world, order_id, entries)
        yield lambda: audit.nothing_comes_after_the_end(world, order_id, entries)
        yield lambda: self._applied(order_id)

    def _applied(self, order_id: str) -> None:
        applied, meant = self.world.applied(order_id), list(self.story.applied[order_id])
        assert applied == meant, f"{order_id}: {applied} were applied, not {meant}"

    def _next(self) -> bool:
        """Whatever comes next: a ledger, events, an operator, time; False if nothing does."""
        world = self.world
        if world.walk(world.ledgers.receive(1)) or world.work(world.events.receive()) or self._mends():
            return True
        if world.ledgers.bodies or world.events.bodies:
            world.clock.now += HIDDEN
            return True
        dues = [lane.due for lane in world.lanes.lanes.values() if lane.due is not None]
        if dues:
            world.clock.now = max(world.clock.now + SECOND, min(dues))
            world.patrol()
        return bool(dues)

    def _mends(self) -> bool:
        lane = self.world.lanes.lanes.get("A")
        if self.story.mends is None or self.has_mended or lane is None or lane.told is not Told.BLOCKED:
            return False
        self.pulse.note("an operator sees to it")
        self.story.mends(self.world)
        self.has_mended = True
        return True


def _fault(check: Callable[[], None]) -> Iterator[str]:
    try:
        check()
    except (AssertionError, LookupError) as error:
        yield f"{type(error).__name__}: {error}"
