"""The poller reads a handler's answer as Lambda does, and passes on what Lambda would."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_lambda_powertools.utilities.batch import SqsFifoPartialProcessor, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from stepward.testing.sqs.fifo_queue import MemoryFifoQueue
from stepward.testing.sqs.lambda_events import LambdaContext, failed_ids
from stepward.testing.sqs.poller import Poller
from stepward.testing.sqs.queue import MemoryQueue
from tests.unit.sqs.clock import Clock

FIELD_CASES = Path(__file__).parents[2] / "field_cases"
RESPONSES = json.loads((FIELD_CASES / "batch_response_forms.json").read_text())["responses"]
FORMS = [response for response in RESPONSES if not isinstance(response["value"], str)]
Handler = Callable[[dict[str, Any], Any], Any]


def poller(queue: MemoryQueue, handler: Handler, **settings: Any) -> Poller:
    return Poller(source=queue, handler=handler, clock=queue.clock, **settings)


def queue_of(*bodies: str) -> MemoryQueue:
    queue = MemoryQueue(name="orders", clock=Clock())
    for body in bodies:
        queue.send(body)
    return queue


def load(name: str) -> dict[str, Any]:
    case: dict[str, Any] = json.loads((FIELD_CASES / name).read_text())
    return case


@pytest.mark.parametrize("form", FORMS, ids=lambda form: json.dumps(form["value"]))
def test_every_form_of_answer_has_its_outcome(form: dict[str, Any]) -> None:
    """S22: field case 9, batch_response_forms.json."""
    outcomes = {"complete_success": (), "complete_failure": ("m1", "m2"), "retry m2 only": ("m2",)}

    def handler(event: dict[str, Any], _: object) -> Any:
        ids = {record["body"]: record["messageId"] for record in event["Records"]}
        return json.loads(json.dumps(form["value"]).replace('"m2"', f'"{ids["m2"]}"'))

    queue = queue_of("m1", "m2")
    polled = poller(queue, handler).poll()
    assert polled.stayed == outcomes[form["outcome"]]
    assert tuple(queue.bodies) == polled.stayed


def test_without_the_flag_the_answer_is_ignored_and_failed_messages_are_lost() -> None:
    """Field case 9: the mapping lacks ReportBatchItemFailures."""

    def handler(event: dict[str, Any], _: object) -> dict[str, Any]:
        return {"batchItemFailures": [{"itemIdentifier": event["Records"][0]["messageId"]}]}

    queue = queue_of("m1", "m2")
    assert poller(queue, handler, reports_failures=False).poll().done == ("m1", "m2")
    assert queue.bodies == []


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ([], set()),
        ({"statusCode": 200}, set()),
        ("done", None),
        ("", None),
        (["m1"], None),
        ({"batchItemFailures": "m1"}, None),
        ({"batchItemFailures": ["m1"]}, None),
        ({"batchItemFailures": [{"itemIdentifier": ["m1"]}]}, None),
        ({"batchItemFailures": [{"itemIdentifier": "m1"}, {"itemIdentifier": "gone"}]}, None),
        ({"batchItemFailures": [{"itemIdentifier": "m1"}, {"itemIdentifier": "m1"}]}, {"m1"}),
    ],
)
def test_answers_beyond_the_recorded_forms(answer: object, outcome: set[str] | None) -> None:
    """Field case 9."""
    assert failed_ids(answer, {"m1", "m2"}) == outcome


@pytest.mark.parametrize("answer", [object(), {"when": b"bytes"}])
def test_an_answer_that_json_cannot_hold_fails_the_batch(answer: object) -> None:
    queue = queue_of("m1")
    polled = poller(queue, lambda _event, _context: answer).poll()
    assert polled.stayed == ("m1",)
    assert isinstance(polled.error, TypeError)


def test_a_failed_batch_comes_again_after_the_visibility_timeout_and_ends_in_the_dead_letter_queue() -> None:
    """S22."""
    clock = Clock()
    dead = MemoryQueue(name="dead", clock=clock)
    queue = MemoryQueue(name="orders", clock=clock, dead_letters=dead, max_receive_count=3)
    queue.send("poison")
    runs = []

    def handler(event: dict[str, Any], _: object) -> None:
        runs.append(event["Records"][0]["attributes"]["ApproximateReceiveCount"])
        raise RuntimeError("broken")

    for _ in range(5):
        poller(queue, handler).drain()
        clock.advance(30)
    assert runs == ["1", "2", "3"]
    assert (queue.bodies, dead.bodies) == ([], ["poison"])


def test_an_empty_queue_calls_no_handler() -> None:
    calls: list[object] = []
    assert poller(queue_of(), lambda event, _: calls.append(event)).poll().received == 0
    assert calls == []


def test_a_batch_may_be_larger_than_one_receive() -> None:
    sizes: list[int] = []
    queue = queue_of(*map(str, range(25)))
    polls = poller(queue, lambda event, _: sizes.append(len(event["Records"])), batch_size=20).drain()
    assert sizes == [20, 5]
    assert [polled.received for polled in polls] == [20, 5]


def test_a_handler_that_feeds_its_own_queue_without_end_is_stopped() -> None:
    queue = queue_of("m1")
    with pytest.raises(RuntimeError, match="orders still gives messages after 50 batches"):
        poller(queue, lambda _event, _context: queue.send("more") and None).drain(50)


def test_the_context_counts_down_with_the_clock() -> None:
    queue, remaining = queue_of("m1"), []
    clock = queue.clock
    assert isinstance(clock, Clock)

    def handler(_: object, context: LambdaContext) -> None:
        for passed in (0, 9, 2):
            clock.advance(passed)
            remaining.append(context.get_remaining_time_in_millis())

    poller(queue, handler, timeout=10).poll()
    assert remaining == [10_000, 1_000, 0]


def test_work_longer_than_the_visibility_timeout_comes_again_on_fifo_only() -> None:
    """Field case 15."""
    clock = Clock()
    fifo = MemoryFifoQueue(name="convoy.fifo", clock=clock)
    fifo.send("A1", group="A", deduplication="a1")
    standard = MemoryQueue(name="orders", clock=clock)
    standard.send("m1")

    def slow(_event: object, _context: object) -> None:
        clock.advance(60)

    assert poller(fifo, slow).poll().stayed == ("A1",)
    assert poller(standard, slow).poll().done == ("m1",)


def test_one_message_twice_in_a_batch_is_two_records_with_two_handles() -> None:
    """S18: field case 2, dup_same_message_in_one_batch.json; reporting its id keeps it, once."""
    body = load("dup_same_message_in_one_batch.json")["event"]["Records"][0]["body"]
    queue = MemoryQueue(name="orders", clock=Clock(), visibility_timeout=0)
    queue.send(body)
    handles: list[str] = []

    def handler(event: dict[str, Any], _: object) -> dict[str, Any]:
        handles.extend(record["receiptHandle"] for record in event["Records"])
        ids = {record["messageId"] for record in event["Records"]}
        return {"batchItemFailures": [{"itemIdentifier": name} for name in ids]}

    polled = poller(queue, handler, batch_size=2).poll()
    assert len(set(handles)) == 2
    assert polled.stayed == (body, body)
    assert queue.bodies == [body]


@pytest.mark.parametrize(
    ("name", "stayed"),
    [
        ("fifo_first_record_fails.json", [("A", 1), ("A", 2), ("A", 3)]),
        ("fifo_two_groups_fail_middle.json", [("B", 1), ("B", 2)]),
    ],
)
def test_after_a_failure_the_rest_of_its_group_stays_in_order(name: str, stayed: list[tuple[str, int]]) -> None:
    """C4, C6: field cases 7, 8 and 12; other groups are done."""
    case = load(name)
    records = case["event"]["Records"]
    queue = MemoryFifoQueue(name="convoy.fifo", clock=Clock())
    for record in records:
        group, deduplication = (record["attributes"][f"Message{name}Id"] for name in ("Group", "Deduplication"))
        queue.send(record["body"], group=group, deduplication=deduplication)
    poison = {record["body"] for record in records if record["messageId"] in case["fail_on"]}
    called: list[str] = []

    def handle(record: SQSRecord) -> None:
        called.append(record.body)
        if record.body in poison:
            raise ValueError("poison")

    def handler(event: dict[str, Any], context: Any) -> Any:
        processor = SqsFifoPartialProcessor(skip_group_on_error=True)
        return process_partial_response(event=event, record_handler=handle, processor=processor, context=context)

    polled = poller(queue, handler).poll()
    kept = [json.loads(body) for body in polled.stayed]
    assert [(body["orderId"], body["seq"]) for body in kept] == stayed
    assert queue.bodies == list(polled.stayed)
    assert len(called) == len(records) - len(stayed) + 1
