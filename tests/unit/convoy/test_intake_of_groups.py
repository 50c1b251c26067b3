"""What comes for the lanes is taken in its order, as many at once as belong together."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from stepward.app.convoy.convoy import Arrival
from stepward.app.convoy.intake import LaneIntake
from stepward.app.intake import Received
from stepward.domain.convoy.commands import LaneCommand, RetryLane
from stepward.domain.errors import NotUnderstood, RetryLater, Transient
from stepward.domain.history import HistoryKind
from stepward.testing.memory.task_store import MemoryRejects
from stepward.testing.memory.telemetry import MemoryTelemetry
from stepward.wire.convoy import decode_for_lane, encode_command
from tests.factories import MINUTE, T0


@dataclass
class Noting:
    """A convoy that notes what it is given, and fails at the order named."""

    fails_at: str = ""
    newer: bool = False
    calls: list[tuple[str, ...]] = field(default_factory=list)

    def events(self, order_id: str, arrivals: Sequence[Arrival]) -> None:
        self.calls.append((order_id, *(arrival.received.message_id for arrival in arrivals)))
        if order_id == self.fails_at:
            raise Transient("not now")
        self._read()

    def command(self, command: LaneCommand, received: Received) -> None:
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
