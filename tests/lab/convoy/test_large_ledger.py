"""One ledger of a hundred thousand entries, in an object of lines."""

import json
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace

from stepward.app.ledger.split import CHUNK
from stepward.domain.convoy.lane_message import LaneMessage
from stepward.domain.errors import RetryLater
from stepward.testing.memory.lanes import MemoryLedgers
from tests.factories import MINUTE
from tests.lab.convoy.world import ConvoyWorld

ENTRIES = 100_000
FIRST_RUN, OTHER_RUNS = 10, 60
"""How many chunks a run has time for; the memory of the first one, which is shorter, is watched."""
MOST_BYTES = 1024 * 1024
"""A sixth of what the whole text of the ledger would take."""
TEXT = json.dumps({"ledgerId": "L1", "customerId": "c1", "objectKey": "c1/big.jsonl"})


class Counted:
    """A queue that keeps nothing but how much was sent."""

    def __init__(self) -> None:
        self.sent = 0

    def send(self, messages: Sequence[LaneMessage]) -> None:
        self.sent += len(messages)


def object_of(lines: int) -> bytes:
    line = '{"orderId":"o%06d","sequence":1,"op":"add","amount":"1.00"}\n'
    return "".join(line % (number % 10_000) for number in range(lines)).encode()


def out_of_time(chunks: int) -> Callable[[], int]:
    """The time that a run has left: plenty, until it has sent so many."""
    left = iter([10 * MINUTE] * (chunks - 1))
    return lambda: next(left, 0)


def test_a_hundred_thousand_entries_take_little_memory_and_several_runs() -> None:
    """C3, C8: streamed, never loaded whole; each run goes on where the last one was out of time."""
    world, queue = ConvoyWorld(), Counted()
    ledgers = MemoryLedgers({"c1/big.jsonl": object_of(ENTRIES)})
    split = replace(world.split(), lanes=queue, ledgers=ledgers, shared_records=world.shared_records)
    tracemalloc.start()
    runs = [goes_on(lambda: split.handle(TEXT, out_of_time(FIRST_RUN)))]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    while runs[-1]:
        runs.append(goes_on(lambda: split.handle(TEXT, out_of_time(OTHER_RUNS))))

    assert peak < MOST_BYTES
    assert (queue.sent, len(runs)) == (ENTRIES, 5)
    assert world.shared_records.writes == ENTRIES // CHUNK + 1


def goes_on(run: Callable[[], None]) -> bool:
    """Whether a run left something for the next one."""
    try:
        run()
    except RetryLater:
        return True
    return False
