"""What must hold of lanes at quiet time; what may never be seen in one is judged at each of its writes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from stepward.domain.convoy.lane import LaneRules
from stepward.testing.faults.broken import Broken
from stepward.testing.memory.lanes import MemoryLanes
from stepward.testing.memory.queues import MemoryAlerts
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.testing.memory.task_store import MemoryRejects, MemoryTaskStore
from tests.lab.convoy import audit
from tests.lab.convoy.scripts import Book


@dataclass(slots=True)
class LaneJudge:
    """Holds what a world leaves behind against the ledgers that were sent; `alerts` are those that operators heard."""

    rules: LaneRules
    lanes: MemoryLanes
    store: MemoryTaskStore
    shared_records: MemorySharedRecords
    rejects: MemoryRejects
    alerts: MemoryAlerts = field(default_factory=MemoryAlerts)

    def verdict(self, sent: Sequence[Book]) -> None:
        """C3, C5, C6, I1, I7: everything is in its lane or kept, and what a lane waits for an operator knows."""
        for order_id, lane in self.lanes.lanes.items():
            entries = audit.sent(sent, order_id)
            with _meant("I1", order_id):
                audit.at_rest(self, lane)
            with _meant("I7", order_id):
                audit.replayed(self, order_id, entries)
            with _meant("C5", order_id):
                audit.nothing_is_missing(self, order_id, entries)
                audit.nothing_comes_after_the_end(self, order_id, entries)
        with _meant("C3", ""):
            audit.nothing_is_lost(self, sent)


@contextmanager
def _meant(invariant: str, order_id: str) -> Iterator[None]:
    """Say which invariant it is that an audit found broken."""
    try:
        yield
    except AssertionError as fault:
        raise Broken(invariant, order_id, str(fault)) from fault
