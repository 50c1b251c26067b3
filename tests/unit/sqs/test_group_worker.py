"""How a batch of a FIFO queue is answered: each group in its order, and none past a message that failed."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aws_lambda_powertools import Logger, Metrics

from stepward.adapters.lambda_.groups import GroupWorker
from stepward.adapters.telemetry import PowertoolsTelemetry
from stepward.app.intake import Received
from stepward.domain.errors import Rejected, Transient

CASES = Path(__file__).parents[2] / "field_cases"


@dataclass
class Taker:
    """Takes message after message, and fails at those named."""

    fails_at: frozenset[str] = frozenset()
    error: Exception = field(default_factory=lambda: Transient("not now"))
    called: list[str] = field(default_factory=list)
    batches: list[list[str]] = field(default_factory=list)

    def __call__(self, messages: Sequence[Received], _remaining: Callable[[], int]) -> Iterator[int]:
        self.batches.append([message.message_id for message in messages])
        for done, message in enumerate(messages, start=1):
            self.called.append(message.message_id)
            if message.message_id in self.fails_at:
                raise self.error
            yield done


@pytest.fixture
def telemetry() -> Iterator[PowertoolsTelemetry]:
    yield PowertoolsTelemetry(Logger(service="groups"), Metrics(namespace="Stepward", service="groups"))
    Metrics._metrics.clear()


def event(*groups: str) -> dict[str, Any]:
    """A batch with one record per group named, m-0, m-1 and so on."""
    (record,) = json.loads((CASES / "fifo_first_record_fails.json").read_text())["event"]["Records"][:1]
    records = [
        {**record, "messageId": f"m-{n}", "attributes": {**record["attributes"], "MessageGroupId": group}}
        for n, group in enumerate(groups)
    ]
    return {"Records": records}


def plenty() -> int:
    return 60_000


def failed(worker: GroupWorker, batch: dict[str, Any]) -> list[str]:
    return sorted(failure["itemIdentifier"] for failure in worker.answer(batch, plenty)["batchItemFailures"])


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize(
    ("taker", "groups", "answer"),
    [
        (Taker(frozenset({"m-1"}), KeyError("a bug")), "ABAB", ["m-1", "m-3"]),
        (Taker(frozenset({"m-0", "m-1"})), "AB", ["m-0", "m-1"]),
        (Taker(), "", []),
    ],
    ids=["a fault of the code stops its group only", "all fail, and the function does not", "no records"],
)
def test_what_failed_is_in_the_answer(
    telemetry: PowertoolsTelemetry, taker: Taker, groups: str, answer: list[str], together: bool
) -> None:
    assert failed(GroupWorker(taker, telemetry, together=together), event(*groups)) == answer


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("name", ["fifo_first_record_fails.json", "fifo_two_groups_fail_middle.json"])
def test_what_follows_a_failure_in_its_group_comes_back_untried(
    telemetry: PowertoolsTelemetry, name: str, together: bool
) -> None:
    """C4, C6: what is not named would be deleted; other groups go on."""
    case = json.loads((CASES / name).read_text())
    records = case["event"]["Records"]
    taker = Taker(frozenset(case["fail_on"]))

    answer = failed(GroupWorker(taker, telemetry, together=together), case["event"])

    bad = next(record for record in records if record["messageId"] in case["fail_on"])
    group = bad["attributes"]["MessageGroupId"]
    same = [record["messageId"] for record in records if record["attributes"]["MessageGroupId"] == group]
    assert answer == same[same.index(bad["messageId"]) :]
    assert answer == case.get("expected_failures", answer)
    untried = set(answer[1:])
    assert untried == set(case.get("must_not_call", untried))
    assert not untried & set(taker.called)
    assert set(taker.called) | untried == {record["messageId"] for record in records}


def test_each_group_is_handed_over_whole_and_in_its_order(telemetry: PowertoolsTelemetry) -> None:
    taker = Taker()
    assert failed(GroupWorker(taker, telemetry), event("A", "B", "A", "C", "B")) == []
    assert taker.batches == [["m-0", "m-2"], ["m-1", "m-4"], ["m-3"]]


def test_groups_side_by_side_do_not_wait_for_each_other(telemetry: PowertoolsTelemetry) -> None:
    """C1: one order never delays another."""
    everybody = threading.Barrier(3, timeout=10)

    def take(messages: Sequence[Received], _remaining: Callable[[], int]) -> Iterator[int]:
        everybody.wait()
        yield len(messages)

    assert failed(GroupWorker(take, telemetry, together=True), event("A", "B", "A", "C")) == []


def test_nothing_of_one_batch_reaches_the_next(telemetry: PowertoolsTelemetry) -> None:
    taker = Taker(frozenset({"m-0"}))
    worker = GroupWorker(taker, telemetry)
    failed(worker, event("A"))
    taker.fails_at = frozenset()

    assert failed(worker, event("A")) == []


def test_a_record_that_cannot_be_named_fails_the_whole_batch_before_any_work(telemetry: PowertoolsTelemetry) -> None:
    taker = Taker()
    batch = event("A", "B")
    del batch["Records"][1]["messageId"]

    with pytest.raises(Rejected, match="Records: is not that of an event of SQS"):
        GroupWorker(taker, telemetry).answer(batch, plenty)

    assert taker.called == []


def test_records_without_a_group_stand_for_themselves(telemetry: PowertoolsTelemetry) -> None:
    batch = event("A", "A")
    for record in batch["Records"]:
        del record["attributes"]["MessageGroupId"]

    assert failed(GroupWorker(Taker(frozenset({"m-0"})), telemetry), batch) == ["m-0"]
