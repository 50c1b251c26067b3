"""The in-memory FIFO queue keeps order and deduplicates as SQS does, where moto does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepward.testing.sqs.fifo_queue import MemoryFifoQueue
from stepward.testing.sqs.messages import Received
from stepward.testing.sqs.queue import MemoryQueue
from stepward.testing.sqs.rules import Entry, Refused
from tests.unit.sqs.clock import Clock


@pytest.fixture
def queue(clock: Clock) -> MemoryFifoQueue:
    return MemoryFifoQueue(name="q.fifo", clock=clock)


def send(queue: MemoryFifoQueue, *names: str) -> None:
    """A1 is the first message of group A, and so on."""
    for name in names:
        queue.send(name, group=name[0], deduplication=name)


def bodies(messages: list[Received]) -> list[str]:
    return [message.body for message in messages]


def test_one_receive_takes_several_of_a_group_in_order(queue: MemoryFifoQueue) -> None:
    send(queue, "A1", "B1", "A2", "A3")
    assert bodies(queue.receive()) == ["A1", "B1", "A2", "A3"]


def test_a_group_waits_for_every_message_of_it_in_flight(queue: MemoryFifoQueue) -> None:
    """C4: field case 14."""
    send(queue, "A1", "A2", "A3", "B1")
    first, second = queue.receive(2)
    assert bodies(queue.receive()) == ["B1"]
    queue.change_visibility(second.handle, 0)
    assert queue.receive() == []
    queue.delete(first.handle)
    assert bodies(queue.receive()) == ["A2", "A3"]


def test_the_first_of_a_group_waits_too_while_a_later_one_is_in_flight(queue: MemoryFifoQueue) -> None:
    """C4: field case 14."""
    send(queue, "A1", "A2")
    first, second = queue.receive()
    queue.change_visibility(first.handle, 0)
    assert queue.receive() == []
    queue.change_visibility(second.handle, 0)
    assert bodies(queue.receive()) == ["A1", "A2"]


def test_order_holds_after_the_visibility_timeout(queue: MemoryFifoQueue, clock: Clock) -> None:
    """C1: field case 14; the group stalls for the visibility timeout and no longer."""
    send(queue, "A1", "A2")
    queue.receive(1)
    clock.advance(29.999)
    assert queue.receive() == []
    clock.advance(0.001)
    assert bodies(queue.receive()) == ["A1", "A2"]


def test_a_delay_of_the_queue_never_lets_a_message_overtake(queue: MemoryFifoQueue, clock: Clock) -> None:
    queue.delay = 10
    send(queue, "A1")
    clock.advance(5)
    send(queue, "A2")
    clock.advance(5)
    [first] = queue.receive()
    assert first.body == "A1"
    clock.advance(5)
    assert queue.receive() == []
    queue.delete(first.handle)
    assert bodies(queue.receive()) == ["A2"]


@given(st.lists(st.tuples(st.sampled_from("srdt"), st.sampled_from("AB")), max_size=60))
def test_a_group_is_handed_out_in_order_whatever_is_done(actions: list[tuple[str, str]]) -> None:
    """C1, C4: what is handed out of a group is always its oldest undeleted messages."""
    clock = Clock()
    queue, held, sent = MemoryFifoQueue(name="q.fifo", clock=clock), list[Received](), 0
    for action, group in actions:
        match action:
            case "s":
                sent += 1
                queue.send(f"{group}{sent:03}", group=group, deduplication=str(sent))
            case "r":
                assert_oldest_first(queue, got := queue.receive(2))
                held.extend(got)
            case "d" if held:
                queue.delete(held.pop().handle)
            case "t":
                clock.advance(30)
                held.clear()


def assert_oldest_first(queue: MemoryFifoQueue, received: list[Received]) -> None:
    for group in "AB":
        got = [message.body for message in received if message.body[0] == group]
        kept = [body for body in queue.bodies if body[0] == group]
        assert got == kept[: len(got)]


def test_a_duplicate_within_five_minutes_is_answered_but_not_stored(queue: MemoryFifoQueue, clock: Clock) -> None:
    """Field case 58: also after the first copy was deleted; the answer names the first copy."""
    first = queue.send("A1", group="A", deduplication="d")
    queue.delete(queue.receive()[0].handle)
    clock.advance(299.999)
    again = queue.send("A1 again", group="A", deduplication="d")
    assert (again.message_id, again.sequence) == (first.message_id, first.sequence)
    assert queue.receive() == []
    clock.advance(0.001)
    later = queue.send("A1 later", group="A", deduplication="d")
    assert later.message_id != first.message_id
    assert bodies(queue.receive()) == ["A1 later"]


@pytest.mark.parametrize(("per_group", "arrived"), [(False, ["one"]), (True, ["one", "two"])])
def test_deduplication_spans_the_queue_or_one_group(
    queue: MemoryFifoQueue, per_group: bool, arrived: list[str]
) -> None:
    """Field case 58."""
    queue.deduplication_per_group = per_group
    queue.send("one", group="A", deduplication="d")
    queue.send("two", group="B", deduplication="d")
    assert bodies(queue.receive()) == arrived


def test_content_can_stand_for_the_deduplication_id(queue: MemoryFifoQueue) -> None:
    """Field case 16: the same body is dropped, even if it was sent twice on purpose."""
    queue.content_based_deduplication = True
    for body in ("same", "same", "other"):
        queue.send(body, group="A")
    assert bodies(queue.receive()) == ["same", "other"]


def test_a_refused_message_does_not_count_as_sent(queue: MemoryFifoQueue) -> None:
    with pytest.raises(Refused):
        queue.send("\x00", group="A", deduplication="d")
    queue.send("fine", group="A", deduplication="d")
    assert queue.bodies == ["fine"]


def test_a_failed_entry_of_a_batch_can_be_sent_again_under_its_id(queue: MemoryFifoQueue) -> None:
    """Field case 16: retries of the same send keep the id."""
    queue.faults = lambda _: "InternalError"
    assert queue.send_batch([Entry("0", "A1", "A", "d")]).failed[0].code == "InternalError"
    queue.faults = lambda _: ""
    assert queue.send_batch([Entry("0", "A1", "A", "d")]).failed == []
    assert queue.bodies == ["A1"]


def test_sequence_numbers_rise(queue: MemoryFifoQueue) -> None:
    """Field case 58."""
    send(queue, "A1", "B1", "A2")
    numbers = [int(message.attributes["SequenceNumber"]) for message in queue.receive()]
    assert numbers == sorted(set(numbers))
    assert all(len(str(number)) == 20 for number in numbers)


def test_an_expired_handle_cannot_delete(queue: MemoryFifoQueue, clock: Clock) -> None:
    """Field case 15."""
    send(queue, "A1")
    [message] = queue.receive()
    clock.advance(30)
    with pytest.raises(Refused, match="expired"):
        queue.delete(message.handle)
    [again] = queue.receive()
    with pytest.raises(Refused, match="expired"):
        queue.delete(message.handle)
    queue.delete(again.handle)
    queue.delete(again.handle)
    assert queue.bodies == []


def test_a_message_without_a_group_is_refused(queue: MemoryFifoQueue) -> None:
    with pytest.raises(Refused, match="MissingParameter: MessageGroupId"):
        queue.send("x", deduplication="d")


@pytest.mark.parametrize("name", ["", "x" * 129, "a b", "ö", "a\n"])
def test_ids_that_sqs_refuses_are_refused(queue: MemoryFifoQueue, name: str) -> None:
    """Field cases 17 and 58."""
    for group, deduplication in ((name, "d"), ("A", name)):
        with pytest.raises(Refused, match=r"Message(GroupId|DeduplicationId)"):
            queue.send("x", group=group, deduplication=deduplication)
    assert queue.bodies == []


def test_a_delay_per_message_is_refused(queue: MemoryFifoQueue) -> None:
    """Field case 27."""
    with pytest.raises(Refused, match="DelaySeconds"):
        queue.send("x", group="A", deduplication="d", delay=0)


def test_dead_letters_break_the_order_as_on_sqs(queue: MemoryFifoQueue, clock: Clock) -> None:
    """Field case 20: the sequence, not the queue, has to decide."""
    dead = MemoryFifoQueue(name="dead.fifo", clock=clock)
    queue.dead_letters, queue.max_receive_count = dead, 1
    send(queue, "A1", "A2")
    queue.receive(1, visibility_timeout=0)
    assert bodies(queue.receive()) == ["A2"]
    [buried] = dead.receive()
    assert (buried.body, buried.attributes["MessageGroupId"]) == ("A1", "A")


def test_dead_letters_of_a_fifo_queue_are_fifo(clock: Clock) -> None:
    """Field case 62."""
    with pytest.raises(Refused, match="same kind"):
        MemoryFifoQueue(name="q.fifo", clock=clock, dead_letters=MemoryQueue(name="dead", clock=clock))
    with pytest.raises(Refused, match=r"ends in \.fifo"):
        MemoryFifoQueue(name="q", clock=clock)
