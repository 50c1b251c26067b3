"""The function that accepts orders, on the events that Lambda would hand to it."""

import json
from pathlib import Path
from typing import Any

import pytest

from stepward.domain.errors import Misconfigured, Rejected
from stepward.domain.task.record import ProcessState
from stepward.wiring import Handler
from tests.integration.functions import agent, convoy, ledger, scheduler, submission
from tests.integration.handlers.conftest import Log
from tests.integration.handlers.deployment import ORDER_ID, PLENTY, ROOT, Deployment, batch, failed, order_body, sample
from tests.integration.handlers.test_ledger import HUGE

PLAIN = "sqs-order-plain.json"
OTHER_SHOPS = ROOT / "tests" / "field_cases" / "bodies_of_other_shops.json"
FIELD_CASES = sorted({*OTHER_SHOPS.parent.glob("bodies_*.json")} - {OTHER_SHOPS})
START = {"type": "task.start", "orderId": ORDER_ID}


def starts(deployment: Deployment) -> list[Any]:
    return [json.loads(body) for body in deployment.taken("scheduler")]


@pytest.mark.parametrize("name", [PLAIN, "sqs-order-sns.json", "sqs-order-eventbridge.json"])
def test_an_order_is_accepted_however_it_is_wrapped(deployment: Deployment, name: str) -> None:
    """S8, S10: order and task are written, then the first step is claimed and its agent asked, without a Scheduler."""
    assert submission.handler(sample(name), PLENTY) == {"batchItemFailures": []}

    accepted = sorted(deployment.order_ids())
    assert len(accepted) == len(sample(name)["Records"])
    assert {deployment.task(order_id).process_state for order_id in accepted} == {ProcessState.PROCESSING}
    assert sorted(json.loads(body)["orderId"] for body in deployment.taken("agent-inventory")) == accepted
    assert starts(deployment) == []


def test_the_same_message_delivered_again_is_a_success_and_starts_again(deployment: Deployment) -> None:
    """S18: the first request may be lost, and a second is harmless; the Scheduler knows what was claimed."""
    submission.handler(sample(PLAIN), PLENTY)
    first = deployment.task()

    assert failed(submission.handler(sample(PLAIN), PLENTY)) == []

    assert deployment.task() == first
    assert deployment.rejects() == []
    assert failed(scheduler.handler(deployment.received("scheduler"), PLENTY)) == []
    once, again = [json.loads(body) for body in deployment.taken("agent-inventory")]
    del once["budget"], again["budget"]
    assert once == again


def test_the_same_message_twice_in_one_batch_has_one_effect(deployment: Deployment, log: Log) -> None:
    """Field case 2: two records of one message id."""
    (record,) = sample(PLAIN)["Records"]

    assert failed(submission.handler({"Records": [record, record]}, PLENTY)) == []

    assert deployment.order_ids() == {ORDER_ID}
    history = log.kinds()
    assert history == ["Submitted", "Claimed", "Duplicate"]


def test_the_same_order_in_other_words_is_a_duplicate(deployment: Deployment) -> None:
    """Field case 3: a new message, another order of keys, other white space."""
    again = json.dumps(dict(reversed(json.loads(order_body()).items())), indent=3)

    assert failed(submission.handler(batch(PLAIN, [order_body(), again]), PLENTY)) == []

    assert deployment.rejects() == []
    assert starts(deployment) == [START]


def test_other_content_under_the_same_id_is_rejected_and_not_retried(deployment: Deployment, log: Log) -> None:
    """Field case 4: a conflict is for a person, and the first order stands."""
    other = order_body(currency="USD")

    assert failed(submission.handler(batch(PLAIN, [order_body(), other]), PLENTY)) == []

    (reject,) = deployment.rejects()
    assert reject["Body"]["B"] == other.encode()
    assert (reject["Field"]["S"], reject["OrderID"]["S"]) == ("orderId", ORDER_ID)
    assert "other content" in reject["Reason"]["S"]
    assert log.kinds() == ["Submitted", "Claimed", "Conflict", "Rejected"]
    assert starts(deployment) == []


@pytest.mark.parametrize("file", FIELD_CASES, ids=lambda file: file.stem)
def test_bad_messages_are_rejected_and_their_good_neighbour_goes_through(deployment: Deployment, file: Path) -> None:
    """Field case 28: nothing comes back, so nothing is retried; each reject names field and reason."""
    rejects_and_goes_on(deployment, submission.handler, file)


def rejects_and_goes_on(deployment: Deployment, handler: Handler[Any], file: Path) -> None:
    cases = json.loads(file.read_text())["cases"]
    bad = [case for case in cases if case["outcome"] == "rejected"]
    bodies = [*(case["body"] for case in bad), order_body("ord-good")]

    assert failed(handler(batch(PLAIN, bodies), PLENTY)) == []

    assert deployment.order_ids() == {"ord-good"}
    rejects = {row["Key"]["S"].split("#")[1]: row for row in deployment.rejects()}
    assert len(rejects) == len(bad)
    for number, case in enumerate(bad):
        row = rejects[f"m-{number}"]
        assert row["Field"]["S"] == case["field"], case["why"]
        assert case["says"] in row["Reason"]["S"], case["why"]
        assert row["Source"]["S"] == "orders"
        assert row["Body"]["B"].decode("utf-8", "surrogatepass") == case["body"], case["why"]


@pytest.mark.parametrize("name", [PLAIN, "sqs-order-sns.json", "sqs-order-eventbridge.json"])
@pytest.mark.parametrize("at", ["order.submitted", "EUR", "currency"])
def test_a_fault_as_long_as_its_message_is_kept_however_it_is_wrapped(
    deployment: Deployment, name: str, at: str
) -> None:
    """S8, case 17: a name or a value of any field."""
    (record, *_) = sample(name)["Records"]
    huge = HUGE.join(record["body"].rsplit(at, 1))

    assert failed(submission.handler(batch(PLAIN, [huge, order_body("ord-good")]), PLENTY)) == []

    (reject,) = deployment.rejects()
    assert deployment.order_ids() == {"ord-good"}
    assert reject["Body"]["B"].decode() == huge
    assert len(reject["Field"]["S"] + reject["Reason"]["S"]) <= 1_200


def test_a_notice_of_aws_is_acknowledged_and_logged(deployment: Deployment, log: Log) -> None:
    """Field case 32."""
    notice = '{"Service": "Amazon S3", "Event": "s3:TestEvent", "Time": "2026-01-01T00:00:00Z", "Bucket": "b"}'

    assert failed(submission.handler(batch(PLAIN, [notice]), PLENTY)) == []

    assert (deployment.rejects(), deployment.order_ids()) == ([], set())
    assert any(line.get("message") == "Ignored" for line in log.read())


def test_only_what_could_not_be_sent_comes_back(deployment: Deployment) -> None:
    """The order is safe in its table; its message comes again, since no agent was asked, and has the Scheduler ask."""
    deployment.lose("agent-inventory")
    bodies = [order_body("ord-1"), "not JSON", order_body("ord-2")]

    assert failed(submission.handler(batch(PLAIN, bodies), PLENTY)) == ["m-0", "m-2"]

    assert deployment.order_ids() == {"ord-1", "ord-2"}
    assert len(deployment.rejects()) == 1
    assert failed(submission.handler(batch(PLAIN, bodies[::2]), PLENTY)) == []
    assert [start["orderId"] for start in starts(deployment)] == ["ord-1", "ord-2"]


def test_a_reject_that_cannot_be_stored_comes_back(deployment: Deployment) -> None:
    """Bad input is acknowledged only once it is stored."""
    deployment.dynamodb.delete_table(TableName=deployment.tables.rejects)

    assert failed(submission.handler(batch(PLAIN, ["not JSON", order_body()]), PLENTY)) == ["m-0"]

    assert deployment.order_ids() == {ORDER_ID}


def test_a_record_without_a_name_fails_the_whole_batch(deployment: Deployment) -> None:
    """Field case 13: it cannot be named in an answer, so success must not be claimed."""
    event = batch(PLAIN, [order_body("ord-1"), order_body("ord-2")])
    del event["Records"][0]["messageId"]

    with pytest.raises(Rejected, match="messageId"):
        submission.handler(event, PLENTY)

    assert "ord-1" not in deployment.order_ids()


def test_a_missing_setting_fails_the_batch_by_its_name(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STEPWARD_TASKS_TABLE")

    with pytest.raises(Misconfigured, match="STEPWARD_TASKS_TABLE"):
        submission.handler(sample(PLAIN), PLENTY)

    assert deployment.order_ids() == set()


OTHERS: list[Any] = [
    {},
    {"key1": "value1", "key2": "value2", "key3": "value3"},
    {"orderId": "ord-1", "type": "order.submitted"},
    {"Records": None},
    {"Records": "text"},
    {"Records": [{"eventSource": "aws:s3", "s3": {"object": {"key": "a"}}}]},
    {"Records": [{"EventSource": "aws:sns", "Sns": {"Message": "{}"}}]},
    {"detail-type": "x", "source": "y", "detail": {}},
    [{"messageId": "m"}],
    "text",
    None,
]


@pytest.mark.usefixtures("services")
@pytest.mark.parametrize("function", [submission, scheduler, agent, convoy, ledger])
def test_an_event_that_is_not_of_sqs_is_answered_by_what_is_expected(function: Any) -> None:
    """Field case 28."""
    for event in OTHERS:
        with pytest.raises(
            Rejected, match=r"^Records: is not that of an event of SQS: .* send the message to the func"
        ):
            function.handler(event, None)
    assert function.handler({"Records": []}, None) == {"batchItemFailures": []}
