"""The poller does with a real queue what it does with one in memory."""

from typing import Any

from stepward.adapters.sqs.delivery import Outgoing
from stepward.testing.sqs.poller import Poller
from tests.contract.worlds.queue_worlds import FIFO, QueueWorld

OF_THE_MESSAGE = {"messageId", "receiptHandle", "body", "attributes", "messageAttributes", "md5OfBody"}
RECORD_KEYS = OF_THE_MESSAGE | {"eventSource", "eventSourceARN", "awsRegion"}
STANDARD_ATTRIBUTES = {"ApproximateReceiveCount", "SentTimestamp", "SenderId", "ApproximateFirstReceiveTimestamp"}


def clock() -> int:
    return 1_000_000


def test_a_handler_gets_the_event_that_lambda_would_give(queue_world: QueueWorld) -> None:
    events: list[dict[str, Any]] = []
    queue_world.send("scheduler", [Outgoing("hello")])
    Poller(source=queue_world.source("scheduler"), handler=lambda event, _: events.append(event), clock=clock).poll()
    [record] = events[0]["Records"]
    assert set(record) == RECORD_KEYS
    assert set(record["attributes"]) >= STANDARD_ATTRIBUTES
    assert record["eventSourceARN"] == queue_world.source("scheduler").arn
    assert (record["body"], record["awsRegion"], record["eventSource"]) == ("hello", "us-east-1", "aws:sqs")
    assert record["md5OfBody"] == "5d41402abc4b2a76b9719d911017c592"


def test_a_fifo_record_names_its_group_and_its_sequence_number(queue_world: QueueWorld) -> None:
    records: list[dict[str, Any]] = []
    queue_world.send(FIFO, [Outgoing("A1", "A", "a1")])
    source = queue_world.source(FIFO)
    Poller(source=source, handler=lambda event, _: records.extend(event["Records"]), clock=clock).poll()
    attributes = records[0]["attributes"]
    assert (attributes["MessageGroupId"], attributes["MessageDeduplicationId"]) == ("A", "a1")
    assert attributes["SequenceNumber"].isdigit()


def test_only_the_reported_message_stays(queue_world: QueueWorld) -> None:
    """S22: field case 9."""

    def handler(event: dict[str, Any], _: object) -> dict[str, Any]:
        bad = [record["messageId"] for record in event["Records"] if record["body"] == "bad"]
        return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in bad]}

    queue_world.send("scheduler", [Outgoing("good"), Outgoing("bad"), Outgoing("good too")])
    polls = Poller(source=queue_world.source("scheduler"), handler=handler, clock=clock).drain()
    assert sorted(body for polled in polls for body in polled.done) == ["good", "good too"]
    assert [body for polled in polls for body in polled.stayed] == ["bad"]


def test_everything_stays_when_the_handler_raises(queue_world: QueueWorld) -> None:
    """S22: field case 9."""
    seen: list[tuple[str, str]] = []

    def handler(event: dict[str, Any], _: object) -> None:
        seen.extend((record["messageId"], record["receiptHandle"]) for record in event["Records"])
        raise KeyError("broken")

    queue_world.send("scheduler", [Outgoing("one")])
    poller = Poller(source=queue_world.source("scheduler"), handler=handler, clock=clock)
    assert isinstance(poller.poll().error, KeyError)
    queue_world.release("scheduler", seen[0][1])
    assert poller.poll().stayed == ("one",)
    assert seen[0][0] == seen[1][0]
