"""C3: eight processors have one ledger at once; each of its entries reaches its lane, in order, and is taken once."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock

import pytest

from stepward.app.ledger.split import CHUNK, progress_of
from stepward.domain.convoy.lane_message import LaneMessage
from stepward.domain.history import HistoryKind
from stepward.testing.memory.lanes import MemoryLedgers
from stepward.testing.memory.task_store import MemoryRejects
from stepward.testing.memory.telemetry import MemoryTelemetry
from tests.contract.worlds.store_worlds import NOW
from tests.factories import MINUTE
from tests.lab.convoy.world import entry
from tests.lab.races.conftest import Race, Shared, until_done

pytestmark = pytest.mark.cloud

ORDERS = ("A", "B", "C")


@dataclass(slots=True)
class Sent:
    """The queue of the lanes as SQS has it: a name that came before is taken, and does not come again."""

    bodies: dict[tuple[str, str], str] = field(default_factory=dict)
    calls: int = 0
    lock: Lock = field(default_factory=Lock)

    def send(self, messages: Sequence[LaneMessage]) -> None:
        for message in messages:
            with self.lock:
                self.calls += 1
                self.bodies.setdefault((message.order_id, message.name), message.body)

    def positions(self, order_id: str) -> list[int]:
        return [json.loads(body)["sequence"] for (order, _), body in self.bodies.items() if order == order_id]


@pytest.mark.parametrize("length", [9, 2 * CHUNK + 7], ids=["short", "of three chunks"])
def test_one_ledger_in_eight_processors_is_split_once(race: Race, shared: Shared, length: int) -> None:
    """C3: the processors' clocks differ; what belongs to no order is rejected once."""
    entries = [entry(ORDERS[n % 3], n // 3 + 1, "add", amount="1.00") for n in range(length)]
    for name in race.rounds:
        ledger_id = f"{name}-{length}"
        text = json.dumps({"ledgerId": ledger_id, "customerId": "c1", "entries": [{"sequence": 1}, *entries]})
        sent, rejects, telemetry = Sent(), MemoryRejects(), MemoryTelemetry()
        ports = {"lane_queue": sent, "ledgers": MemoryLedgers(), "rejects": rejects, "telemetry": telemetry}
        racing = [
            race.assembly(racer, NOW + racer, shared_records=shared_records, **ports).ledger()
            for racer, shared_records in enumerate(shared)
        ]

        race.run([until_done(partial(one.handle, text, lambda: MINUTE)) for one in racing])

        assert len(sent.bodies) == length
        assert all(sent.positions(order) == list(range(1, len(sent.positions(order)) + 1)) for order in ORDERS)
        assert (telemetry.count(HistoryKind.SPLIT), len(rejects.kept)) == (1, 1)
        progress = progress_of(shared[0], "c1", ledger_id)
        assert progress is not None
        assert (progress.done, progress.index) == (True, length + 1)
        race.outcomes["entries"] += length
        race.outcomes["entries sent again"] += sent.calls - length
