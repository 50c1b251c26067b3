"""The in-memory standard queue is as strict as SQS."""

import random

import pytest

from stepward.testing.sqs.messages import Received
from stepward.testing.sqs.queue import MemoryQueue
from stepward.testing.sqs.rules import Entry, Refused
from tests.unit.sqs.clock import Clock


@pytest.fixture
def queue(clock: Clock) -> MemoryQueue:
    return MemoryQueue(name="q", clock=clock)


def bodies(messages: list[Received]) -> list[str]:
    return [message.body for message in messages]


def test_a_message_comes_again_when_its_visibility_timeout_has_passed(queue: MemoryQueue, clock: Clock) -> None:
    """S11."""
    queue.send("hello")
    queue.receive()
    clock.advance(29.999)
    assert queue.receive() == []
    assert queue.in_flight == 1
    clock.advance(0.001)
    assert queue.in_flight == 0
    [again] = queue.receive()
    assert again.attributes["ApproximateReceiveCount"] == "2"
    assert again.attributes["SentTimestamp"] == again.attributes["ApproximateFirstReceiveTimestamp"] == "1000000"


def test_a_receive_may_choose_its_own_visibility_timeout(queue: MemoryQueue, clock: Clock) -> None:
    queue.send("hello")
    queue.receive(visibility_timeout=5)
    clock.advance(5)
    assert bodies(queue.receive(visibility_timeout=0)) == ["hello"]
    assert bodies(queue.receive()) == ["hello"]


def test_a_delayed_message_is_not_there_before_its_time(queue: MemoryQueue, clock: Clock) -> None:
    queue.send("later", delay=10)
    clock.advance(9.999)
    assert queue.receive() == []
    assert queue.in_flight == 0
    clock.advance(0.001)
    assert bodies(queue.receive()) == ["later"]


def test_a_queue_tells_when_something_can_be_received_next(queue: MemoryQueue, clock: Clock) -> None:
    assert queue.ready_at() is None

    queue.send("later", delay=5)
    assert queue.ready_at() == clock() + 5_000
    queue.send("now")
    assert queue.ready_at() == clock()

    queue.receive()
    assert queue.ready_at() == clock() + 5_000


def test_the_delay_of_the_queue_holds_for_a_message_without_one(queue: MemoryQueue) -> None:
    queue.delay = 10
    queue.send("later")
    queue.send("now", delay=0)
    assert bodies(queue.receive()) == ["now"]


def test_a_message_received_too_often_goes_to_the_dead_letter_queue(clock: Clock) -> None:
    """S22: a bad message ends in its dead-letter queue."""
    dead = MemoryQueue(name="dead", clock=clock)
    queue = MemoryQueue(name="q", clock=clock, dead_letters=dead, max_receive_count=3)
    queue.send("poison")
    clock.advance(1)
    queue.send("good")
    received = [queue.receive(1, visibility_timeout=0)[0] for _ in range(3)]
    assert bodies(received) == ["poison"] * 3
    assert dead.bodies == []
    assert bodies(queue.receive()) == ["good"]
    [buried] = dead.receive()
    assert (buried.body, buried.message_id) == ("poison", received[0].message_id)
    assert buried.attributes["DeadLetterQueueSourceArn"] == queue.arn
    assert buried.attributes["SentTimestamp"] == "1000000"


def test_a_late_delete_works_and_a_second_delete_is_fine(queue: MemoryQueue, clock: Clock) -> None:
    """Field case 15."""
    queue.send("hello")
    [message] = queue.receive()
    clock.advance(60)
    queue.delete(message.handle)
    queue.delete(message.handle)
    assert queue.bodies == []


def test_a_handle_that_a_later_receive_replaced_deletes_nothing(queue: MemoryQueue) -> None:
    queue.send("hello")
    [first] = queue.receive(visibility_timeout=0)
    [second] = queue.receive()
    queue.delete(first.handle)
    assert queue.bodies == ["hello"]
    queue.delete(second.handle)
    assert queue.bodies == []


@pytest.mark.parametrize("handle", ["", "nonsense", "other|1|1", "q|x|1"])
def test_a_handle_of_another_queue_is_refused(queue: MemoryQueue, handle: str) -> None:
    with pytest.raises(Refused, match="ReceiptHandleIsInvalid"):
        queue.delete(handle)


def test_visibility_can_be_extended_and_given_up(queue: MemoryQueue, clock: Clock) -> None:
    queue.send("hello")
    [message] = queue.receive()
    clock.advance(20)
    queue.change_visibility(message.handle, 30)
    clock.advance(29)
    assert queue.receive() == []
    queue.change_visibility(message.handle, 0)
    assert bodies(queue.receive()) == ["hello"]


def test_visibility_of_a_message_that_nobody_holds_cannot_be_changed(queue: MemoryQueue, clock: Clock) -> None:
    queue.send("hello")
    [first] = queue.receive()
    clock.advance(30)
    with pytest.raises(Refused, match="MessageNotInflight"):
        queue.change_visibility(first.handle, 10)
    queue.receive()
    with pytest.raises(Refused, match="MessageNotInflight"):
        queue.change_visibility(first.handle, 10)


def test_a_message_stays_hidden_for_twelve_hours_at_most(queue: MemoryQueue, clock: Clock) -> None:
    queue.send("hello")
    clock.advance(3600)
    [message] = queue.receive()
    queue.change_visibility(message.handle, 43_200)
    clock.advance(1)
    with pytest.raises(Refused, match="12 hours"):
        queue.change_visibility(message.handle, 43_200)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("", "MissingParameter"),
        *((body, "InvalidMessageContents") for body in ("a\x00b", "a\x0bb", "\ud800", "\ufffe")),
        *((body, "InvalidParameterValue") for body in ("x" * 2001, "é" * 1001)),
    ],
)
def test_a_body_that_sqs_refuses_is_refused(queue: MemoryQueue, body: str, code: str) -> None:
    """Field cases 36 and 58."""
    queue.largest = 2000
    with pytest.raises(Refused, match=code):
        queue.send(body)
    assert queue.bodies == []


@pytest.mark.parametrize("body", ["\t\n\r ~", "é€😀", "\ufffd", "\x7f", "x" * 2000])
def test_a_body_that_sqs_accepts_is_accepted(queue: MemoryQueue, body: str) -> None:
    queue.largest = 2000
    queue.send(body)
    assert queue.bodies == [body]


@pytest.mark.parametrize(
    ("entries", "code"),
    [
        ([], "EmptyBatchRequest"),
        ([Entry(str(number), "x") for number in range(11)], "TooManyEntriesInBatchRequest"),
        ([Entry("a", "x"), Entry("a", "y")], "BatchEntryIdsNotDistinct"),
        ([Entry("a b", "x")], "InvalidBatchEntryId"),
        ([Entry("a", "x" * 1024 * 1024), Entry("b", "y")], "BatchRequestTooLong"),
    ],
)
def test_a_batch_that_breaks_a_limit_is_refused_as_a_whole(queue: MemoryQueue, entries: list[Entry], code: str) -> None:
    with pytest.raises(Refused, match=code):
        queue.send_batch(entries)
    assert queue.bodies == []


def test_one_bad_entry_of_a_batch_does_not_stop_its_neighbours(queue: MemoryQueue) -> None:
    """Field case 23."""
    queue.faults = lambda entry: "InternalError" if entry.body == "unlucky" else ""
    answer = queue.send_batch([Entry("0", "one"), Entry("1", "\x00"), Entry("2", "unlucky"), Entry("3", "two")])
    assert [taken.id for taken in answer.successful] == ["0", "3"]
    assert [(failed.id, failed.code, failed.sender_fault) for failed in answer.failed] == [
        ("1", "InvalidMessageContents", True),
        ("2", "InternalError", False),
    ]
    assert queue.bodies == ["one", "two"]


def test_a_deduplication_id_and_a_delay_out_of_range_are_refused(queue: MemoryQueue) -> None:
    with pytest.raises(Refused, match="FIFO queues only"):
        queue.send("x", deduplication="d")
    with pytest.raises(Refused, match="DelaySeconds=901"):
        queue.send("x", delay=901)


@pytest.mark.parametrize("most", [0, 11])
def test_a_receive_takes_one_to_ten(queue: MemoryQueue, most: int) -> None:
    with pytest.raises(Refused, match="MaxNumberOfMessages"):
        queue.receive(most)


def test_messages_can_arrive_in_another_order_than_sent(queue: MemoryQueue) -> None:
    """S22: SQS promises no order."""
    queue.arrange = random.Random(7).shuffle  # noqa: S311 - any order will do
    for number in range(10):
        queue.send(str(number))
    arrived = bodies(queue.receive())
    assert arrived != sorted(arrived)
    assert sorted(arrived) == [str(number) for number in range(10)]


def test_a_standard_queue_with_the_name_of_a_fifo_queue_is_refused(clock: Clock) -> None:
    with pytest.raises(Refused, match=r"ends in \.fifo"):
        MemoryQueue(name="q.fifo", clock=clock)


def test_a_group_names_a_tenant_and_has_to_obey_the_rules_of_aws(queue: MemoryQueue) -> None:
    """S21: emulators accept any group; AWS does not."""
    queue.send("hello", group="customer-7")
    with pytest.raises(Refused, match="MessageGroupId"):
        queue.send("hello", group="customer 7")
    [message] = queue.receive()
    assert message.attributes["MessageGroupId"] == "customer-7"
