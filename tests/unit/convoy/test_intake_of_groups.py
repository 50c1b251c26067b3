"""What comes for the lanes is taken in its order, as many at once as belong together."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from stepward.app.convoy.convoy import Arrival
from stepward.app.convoy.intake import LaneIntake
from stepward.app.intake import Received
from stepward.domain.convoy.commands import LaneCommand, RetryLane
from stepward.domain.errors import RetryLater, Transient
from stepward.domain.history import HistoryKind
from stepward.testing.memory.task_store import MemoryRejects
from stepward.testing.memory.telemetry import MemoryTelemetry
from stepward.wire.convoy import decode_for_lane, encode_command
from stepward.wire.order_event import EventMessage
from tests.factories import MINUTE, T0


@dataclass
class Heard:
    """A convoy that notes what it is given, and fails at the order named."""

    fails_at: str = ""
    calls: list[tuple[str, ...]] = field(default_factory=list)

    def events(self, order_id: str, arrivals: Sequence[Arrival]) -> None:
        self.calls.append((order_id, *(arrival.received.message_id for arrival in arrivals)))
        if order_id == self.fails_at:
            raise Transient("not now")

    def command(self, command: LaneCommand, received: Received) -> None:
        self.calls.append((command.order_id, "command", received.message_id))


def intake(convoy: Heard) -> LaneIntake:
    def decode(text: str) -> object:
        return decode_for_lane(text, EventMessage)

    return LaneIntake(convoy, decode, MemoryRejects(), MemoryTelemetry())  # type: ignore[arg-type]


def messages(*bodies: str) -> list[Received]:
    return [Received(f"m-{number}", "order-events.fifo", T0, body) for number, body in enumerate(bodies)]


def event(order_id: str) -> str:
    return f'{{"orderId":"{order_id}","sequence":2,"op":"add"}}'


COMMAND = encode_command(RetryLane("A", "ann", "mended", "asked-1"))
IGNORED = '{"Service":"Amazon S3","Event":"s3:TestEvent","Bucket":"b"}'


def take(convoy: Heard, *bodies: str) -> list[int]:
    return list(intake(convoy).take(messages(*bodies), lambda: MINUTE))


def test_the_events_of_an_order_are_taken_together() -> None:
    convoy = Heard()

    assert take(convoy, event("A"), event("A"), event("A")) == [3]

    assert convoy.calls == [("A", "m-0", "m-1", "m-2")]


def test_a_command_is_taken_in_its_turn() -> None:
    convoy = Heard()

    assert take(convoy, event("A"), event("A"), COMMAND, event("A")) == [2, 3, 4]

    assert convoy.calls == [("A", "m-0", "m-1"), ("A", "command", "m-2"), ("A", "m-3")]


def test_orders_that_share_a_group_are_taken_in_turns() -> None:
    convoy = Heard()

    assert take(convoy, event("A"), event("B"), event("B"), event("A")) == [1, 3, 4]

    assert convoy.calls == [("A", "m-0"), ("B", "m-1", "m-2"), ("A", "m-3")]


def test_what_was_done_before_a_failure_is_told() -> None:
    convoy = Heard(fails_at="B")
    steps = intake(convoy).take(messages(event("A"), event("B"), event("B"), event("A")), lambda: MINUTE)

    assert next(steps) == 1
    with pytest.raises(Transient):
        next(steps)

    assert convoy.calls[-1] == ("B", "m-1", "m-2")


def test_what_names_no_order_is_kept_in_its_turn() -> None:
    convoy = Heard()
    subject = intake(convoy)

    assert list(subject.take(messages(event("A"), "no JSON", IGNORED, event("A")), lambda: MINUTE)) == [1, 2, 3, 4]

    assert convoy.calls == [("A", "m-0"), ("A", "m-3")]
    (reject,) = subject.rejects.newest(10)
    assert (reject.message_id, reject.source, reject.received_at) == ("m-1", "order-events.fifo", T0)
    telemetry = subject.telemetry
    assert isinstance(telemetry, MemoryTelemetry)
    assert [entry.kind for _, entry in telemetry.history] == [HistoryKind.REJECTED, HistoryKind.IGNORED]


def test_an_empty_group_is_nothing_to_do() -> None:
    assert take(Heard()) == []


def test_nothing_is_begun_when_the_time_of_the_run_is_up() -> None:
    """Cut off in its midst, the whole batch would wait for the queue's own timeout."""
    convoy, left = Heard(), iter([MINUTE, 1])
    subject = intake(convoy).take(messages(event("A"), event("B")), lambda: next(left))

    with pytest.raises(RetryLater) as back:
        list(subject)

    assert (back.value.seconds, convoy.calls) == (0, [("A", "m-0")])
