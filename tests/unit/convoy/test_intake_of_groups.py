"""What comes for the lanes is taken in its order, as many at once as belong together."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest

from stepward.app.convoy.convoy import Arrival
from stepward.app.convoy.intake import LaneIntake
from stepward.app.intake import Received
from stepward.domain.convoy.commands import LaneCommand, RetryLane, SkipEvent
from stepward.domain.convoy.event import StoredEvent
from stepward.domain.errors import NotUnderstood, RetryLater, Transient
from stepward.domain.history import HistoryKind
from stepward.testing.memory.task_store import MemoryRejects
from stepward.testing.memory.telemetry import MemoryTelemetry
from stepward.wire.convoy import decode_for_lane, encode_command
from stepward.wire.order_event import stored_event
from tests.factories import MINUTE, T0
from tests.lab.convoy.world import ConvoyWorld, entry, order


@dataclass
class Noting:
    """A convoy that notes what it is given, and fails at the order named."""

    fails_at: str = ""
    newer: bool = False
    calls: list[tuple[str, ...]] = field(default_factory=list)

    def events(self, order_id: str, arrivals: Sequence[Arrival], _remaining: Callable[[], int]) -> None:
        self.calls.append((order_id, *(arrival.received.message_id for arrival in arrivals)))
        if order_id == self.fails_at:
            raise Transient("not now")
        self._read()

    def command(self, command: LaneCommand, received: Received, _remaining: Callable[[], int]) -> None:
        self.calls.append((command.order_id, "command", received.message_id))
        self._read()

    def _read(self) -> None:
        if self.newer:
            raise NotUnderstood("the lane: an item with Signals")


def intake(convoy: Noting) -> LaneIntake:
    return LaneIntake(convoy, decode_for_lane, MemoryRejects(), MemoryTelemetry(), lambda: 0)  # type: ignore[arg-type]


def messages(*bodies: str) -> list[Received]:
    return [Received(f"m-{number}", "order-events.fifo", T0, body) for number, body in enumerate(bodies)]


def event(order_id: str) -> str:
    return f'{{"orderId":"{order_id}","sequence":2,"op":"add"}}'


A, B = event("A"), event("B")
COMMAND = encode_command(RetryLane("A", "ann", "mended", "asked-1"))
IGNORED = '{"Service":"Amazon S3","Event":"s3:TestEvent","Bucket":"b"}'


@pytest.mark.parametrize(
    ("bodies", "done", "calls"),
    [
        ([A, A, A], [3], [("A", "m-0", "m-1", "m-2")]),
        ([A, A, COMMAND, A], [2, 3, 4], [("A", "m-0", "m-1"), ("A", "command", "m-2"), ("A", "m-3")]),
        ([A, B, B, A], [1, 3, 4], [("A", "m-0"), ("B", "m-1", "m-2"), ("A", "m-3")]),
        ([], [], []),
    ],
    ids=["events of an order together", "a command in its turn", "orders that share a group in turns", "nothing"],
)
def test_a_group_is_taken_in_its_order(bodies: list[str], done: list[int], calls: list[tuple[str, ...]]) -> None:
    convoy = Noting()
    assert list(intake(convoy).take(messages(*bodies), lambda: MINUTE)) == done
    assert convoy.calls == calls


def test_what_was_done_before_a_failure_is_counted() -> None:
    convoy = Noting(fails_at="B")
    steps = intake(convoy).take(messages(A, B, B, A), lambda: MINUTE)

    assert next(steps) == 1
    with pytest.raises(Transient):
        next(steps)

    assert convoy.calls[-1] == ("B", "m-1", "m-2")


@pytest.mark.parametrize("last", [B, COMMAND])
def test_what_meets_a_lane_of_newer_code_comes_back_in_its_turn(last: str) -> None:
    """D1: what is in front of it is done, and nothing becomes a reject."""
    convoy = Noting(newer=True)
    subject = intake(convoy)
    steps = subject.take(messages(IGNORED, last, B), lambda: MINUTE)

    assert next(steps) == 1
    with pytest.raises(RetryLater, match="an item with Signals"):
        next(steps)

    assert not subject.rejects.kept  # type: ignore[attr-defined]


def test_what_names_no_order_becomes_a_reject_in_its_turn() -> None:
    convoy = Noting()
    subject = intake(convoy)

    assert list(subject.take(messages(A, "no JSON", IGNORED, A), lambda: MINUTE)) == [1, 2, 3, 4]

    assert convoy.calls == [("A", "m-0"), ("A", "m-3")]
    (reject,) = subject.rejects.newest(10)
    assert (reject.message_id, reject.source, reject.received_at) == ("m-1", "order-events.fifo", T0)
    telemetry = subject.telemetry
    assert isinstance(telemetry, MemoryTelemetry)
    assert [entry.kind for _, entry in telemetry.history] == [HistoryKind.REJECTED, HistoryKind.IGNORED]


def test_nothing_is_begun_when_the_time_of_the_run_is_up() -> None:
    """Cut off half-way, the whole batch would wait for the queue's own timeout."""
    convoy, left = Noting(), iter([MINUTE, 1])
    subject = intake(convoy).take(messages(A, B), lambda: next(left))

    with pytest.raises(RetryLater) as retry_later:
        list(subject)

    assert (retry_later.value.seconds, convoy.calls) == (0, [("A", "m-0")])


CALL, RUN = 5, 30_000


def parked_behind_an_end(count: int) -> tuple[ConvoyWorld, str]:
    """Order A, which ends at 3 once 2 comes, with so many events behind; and the text of 2."""
    world, events = ConvoyWorld(), order("A", 3, end=True)
    world.run(events[0], events[2])
    lane, late = world.lane(), stored_event(json.dumps(entry("A", 4, "add", amount="1.00")))
    for first in range(4, 4 + count, 100):
        rows = [StoredEvent(at, replace(late, sequence=at)) for at in range(first, min(first + 100, 4 + count))]
        after = replace(lane, revision=lane.revision + 1, highest=rows[-1].position)
        assert world.lanes.save(after, replaces=lane, rows=rows)
        lane = after
    return world, json.dumps(events[1])


@pytest.mark.parametrize("by_command", [False, True])
def test_a_lane_with_thousands_of_events_behind_its_end_ends_first_and_is_cleared_page_by_page(
    *, by_command: bool
) -> None:
    """C5, case 14: no run makes more calls than it has time for, none begins anew, and each event is kept once."""
    world, text = parked_behind_an_end(6_000)
    text = encode_command(SkipEvent("A", 2, "ada", "gone", "c-1")) if by_command else text
    kept: list[int] = [0]
    made: list[int] = []
    for _ in range(10):
        before = world.gate.calls
        message = Received("m-2", "order-events.fifo", world.clock.now, text, "A")
        with suppress(RetryLater):
            list(world.convoy().take([message], lambda: RUN - CALL * (world.gate.calls - before)))  # noqa: B023
        made.append(world.gate.calls - before)
        kept.append(len(world.rejects.kept))
        assert world.lane().end == 3
        if world.lane().highest == 3:
            break

    assert (kept[-1], world.lane().cleared, world.lane().last) == (6_000, 0, 3)
    assert len(made) > 1
    assert max(made) * CALL < RUN
    assert all(after > before for before, after in pairwise(kept))
    assert world.telemetry.count(HistoryKind.REJECTED) == 6_000
