"""The decision about a lane, without any ports: whatever the order and the batches in which its events come."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from stepward.domain.convoy.decide import LaneDecision, Wanted, decide
from stepward.domain.convoy.event import Op, OrderEvent, StoredEvent
from stepward.domain.convoy.lane import Lane, LaneRules
from stepward.domain.convoy.needs import KeepRejects, Known, Need, Perform, ReadRows, Rejection
from stepward.domain.errors import Transient
from stepward.domain.history import HistoryKind

RULES = LaneRules()


def event(position: int, *, end: bool = False) -> OrderEvent:
    op = Op.CREATE if position == 1 else Op.ADD
    return OrderEvent("A", f"body {position}", f"digest {position}", op, position, end=end)


@dataclass
class LaneLife:
    """A lane with its rows, and all that was decided of it."""

    lane: Lane = field(default_factory=lambda: Lane("A"))
    rows: dict[int, StoredEvent] = field(default_factory=dict)
    needs: list[Need] = field(default_factory=list)
    rejects: set[str] = field(default_factory=set)
    history: list[tuple[HistoryKind, str]] = field(default_factory=list)
    effect: str | Transient = ""

    def live(self, wanted: Wanted) -> LaneDecision:
        """One change after the other, until nothing is left for another."""
        known = Known()
        while not isinstance(found := decide(self.lane, known, wanted, RULES, 7), LaneDecision):
            self.needs.append(found)
            known[found] = self._answer(found)
        assert decide(self.lane, known, wanted, RULES, 7) == found, "the same answers, the same decision"
        self.rows |= {stored.position: stored for stored in [*found.older, *found.rows]}
        self.lane = found.lane
        self._reject(found.rejections)
        self.history += [(entry.kind, entry.step) for entry in found.history]
        return self.live([]) if found.more else found

    def applied(self) -> list[str]:
        held = self.rows | {stored.position: stored for stored in self.lane.recent}
        return [held[position].event.body for position in range(1, self.lane.last + 1)]

    def _answer(self, need: Need) -> object:
        match need:
            case ReadRows(first, most):
                return [self.rows[position] for position in sorted(self.rows) if position >= first][:most]
            case Perform():
                return self.effect
            case KeepRejects(rejections):
                self._reject(rejections)
                return None
            case _:
                raise AssertionError(need)

    def _reject(self, rejections: Sequence[Rejection]) -> None:
        self.rejects |= {rejection.event.body for rejection in rejections}


@st.composite
def arrivals(draw: st.DrawFn) -> tuple[int, int, list[list[int]]]:
    """So many positions, the end, and batches that bring each of them, some twice."""
    length = draw(st.integers(1, 12))
    positions = [*range(1, length + 1), *draw(st.lists(st.integers(1, length)))]
    mixed, cuts = draw(st.permutations(positions)), draw(st.sets(st.integers(1, len(positions))))
    edges = [0, *sorted(cuts), len(positions)]
    return length, draw(st.integers(1, length)), [mixed[a:b] for a, b in pairwise(edges)]


@given(arrivals())
def test_each_event_is_applied_once_in_sequence_and_none_behind_the_end(
    come: tuple[int, int, list[list[int]]],
) -> None:
    """C4, C5, I7."""
    length, end, batches = come
    life = LaneLife()

    for batch in batches:
        life.live([event(position, end=position == end) for position in batch])

    assert life.applied() == [f"body {position}" for position in range(1, end + 1)]
    assert life.rejects == {f"body {position}" for position in range(end + 1, length + 1)}
    assert (life.lane.last, life.lane.highest, life.lane.end) == (end, end, end)
    applied = [step for kind, step in life.history if kind is HistoryKind.APPLIED]
    assert applied == [f"event {position}" for position in range(1, end + 1)]


def test_a_decision_names_what_it_needs_one_after_the_other() -> None:
    life = LaneLife()
    life.live([event(2), event(1)])
    assert [type(need) for need in life.needs] == [ReadRows, ReadRows, Perform, ReadRows]


def test_an_effect_that_fails_for_now_leaves_the_rest_of_the_batch_untouched() -> None:
    """C6."""
    error = Transient("the store is away")
    life = LaneLife(effect=error)

    found = life.live([event(1), event(2)])

    assert (found.failure, found.rows, found.lane.attempts, found.lane.highest) == (error, (), 1, 0)
