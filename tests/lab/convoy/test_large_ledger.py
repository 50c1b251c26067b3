"""One ledger of a hundred thousand entries, in an object of lines."""

import json
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from stepward.app.ledger.split import CHUNK
from stepward.domain.convoy.lane_message import LaneMessage
from stepward.domain.errors import RetryLater
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


class Endless:
    """An object of so many lines, made as it is read."""

    def __init__(self, lines: int) -> None:
        self.lines = lines

    def version(self, _key: str) -> str:
        return "v1"

    def read(self, _key: str, _version: str, start: int) -> Iterator[bytes]:
        begun, skipped = 0, start
        while begun < self.lines:
            piece = b"".join(self._line(number) for number in range(begun, min(begun + 400, self.lines)))
            begun += 400
            rest = piece[skipped:]
            skipped = max(0, skipped - len(piece))
            if rest:
                yield rest

    def _line(self, number: int) -> bytes:
        return b'{"orderId":"o%06d","sequence":1,"op":"add","amount":"1.00"}\n' % (number % 10_000)


def out_of_time(chunks: int) -> Callable[[], int]:
    """The time that a run has left: plenty, until it has sent so many."""
    left = iter([10 * MINUTE] * (chunks - 1))
    return lambda: next(left, 0)


def test_a_hundred_thousand_entries_take_little_memory_and_several_runs() -> None:
    """C3, C8: streamed, never loaded whole; each run goes on where the last one was out of time."""
    world, queue = ConvoyWorld(), Counted()
    split = replace(world.split(), lanes=queue, ledgers=Endless(ENTRIES), shared_records=world.shared_records)
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
