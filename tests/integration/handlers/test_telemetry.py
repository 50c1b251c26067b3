"""What the functions log and measure: one line per state change, and metrics that cost the same at any load."""

import json
import re
from typing import Any

import pytest

from tests.integration.functions import convoy, ledger, scheduler, submission
from tests.integration.handlers.conftest import Log
from tests.integration.handlers.deployment import ORDER_ID, PLENTY, Deployment, batch, failed, order_body, sample

PLAIN, START = "sqs-order-plain.json", "sqs-scheduler-start.json"


def test_a_state_change_is_one_line_with_the_same_keys_everywhere(deployment: Deployment, log: Log) -> None:
    submission.handler(sample(PLAIN), PLENTY)
    scheduler.handler(sample(START), PLENTY)

    lines = [line for line in log.read() if line.get("task") == ORDER_ID]

    assert [line["message"] for line in lines] == ["Submitted", "Claimed"]
    claimed = lines[1]
    change = {key: claimed[key] for key in ("step", "attempt", "from", "to")}
    assert change == {"step": "reserve", "attempt": 1, "from": "Pending", "to": "Processing"}
    assert claimed["by"] == deployment.step("reserve").locked_by


def test_every_line_names_its_deployment_and_only_warnings_their_level(deployment: Deployment, log: Log) -> None:
    """D3: a line without a level counts as INFO for Lambda; each byte is billed."""
    submission.handler(batch(PLAIN, [order_body("ord-1"), "bad"]), PLENTY)

    lines = [line for line in log.read() if "message" in line]

    assert {line["stack"] for line in lines} == {deployment.env["POWERTOOLS_SERVICE_NAME"]}
    assert [line.get("level") for line in lines] == [None, None, "WARNING"]
    assert all(re.fullmatch(r"[\d-]{10}T[\d:]{8}Z", line["timestamp"]) for line in lines)


def test_metrics_have_the_service_as_their_only_dimension(deployment: Deployment, log: Log) -> None:
    """Field case 55: an order id as a dimension is a cost without bound."""
    submission.handler(batch(PLAIN, [order_body("ord-1"), order_body("ord-1"), "bad"]), PLENTY)

    lines = log.read()
    (written,) = [line for line in lines if "_aws" in line]
    (directive,) = written["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "Stepward"
    assert directive["Dimensions"] == [["service"]]
    names = {metric["Name"] for metric in directive["Metrics"]}
    counts = {"Submitted": [1.0], "Duplicates": [1.0], "Rejected": [1.0]}
    assert {name: written[name] for name in names} == counts | {"Tells": [100.0]}
    assert "ord-1" not in json.dumps(written)
    assert deployment.order_ids() == {"ord-1"}


@pytest.mark.usefixtures("deployment")
@pytest.mark.parametrize("watching", ["lean", "full"])
def test_what_belongs_to_the_ordinary_course_is_measured_by_full_watching_only(
    log: Log, monkeypatch: pytest.MonkeyPatch, watching: str
) -> None:
    """S21: a metric costs more a month than all alarms of a queue; the log has each entry either way."""
    monkeypatch.setenv("STEPWARD_WATCHING", watching)
    submission.handler(sample(PLAIN), PLENTY)
    scheduler.handler(sample(START), PLENTY)

    lines = log.read()
    measured = {
        metric["Name"] for line in lines if "_aws" in line for metric in line["_aws"]["CloudWatchMetrics"][0]["Metrics"]
    }
    assert measured == {"Submitted"} | ({"Claimed"} if watching == "full" else set())
    assert [line["message"] for line in lines if line.get("task") == ORDER_ID] == ["Submitted", "Claimed"]


@pytest.mark.usefixtures("deployment")
@pytest.mark.parametrize("receives", [9, 10])
@pytest.mark.parametrize(
    ("function", "name"),
    [(submission, PLAIN), (scheduler, START), (convoy, "sqs-order-events.json"), (ledger, "sqs-ledger.json")],
    ids=["submission", "scheduler", "convoy", "ledger"],
)
def test_a_message_that_keeps_coming_back_is_told_before_it_can_end_the_process_again(
    log: Log, function: Any, name: str, receives: int
) -> None:
    """S22: whatever brings it back."""
    event = sample(name)
    event["Records"][0]["attributes"]["ApproximateReceiveCount"] = str(receives)

    function.handler(event, PLENTY)

    told, *lines = log.read()
    assert (told["message"] == "CameBack") is (receives == 10)
    if receives == 10:
        measured = lines[0]
        assert "was received 10 times" in told["reason"]
        assert (measured["CameBack"], measured["Tells"], measured["Wakes"]) == ([1.0], [100.0], [20.0])


def test_metrics_of_one_batch_do_not_reach_the_next(deployment: Deployment, log: Log) -> None:
    submission.handler(sample(PLAIN), PLENTY)
    log.read()
    submission.handler(sample(PLAIN), PLENTY)

    written = log.metrics()

    assert "Submitted" not in written
    assert written["Duplicates"] == [1.0]
    assert deployment.order_ids() == {ORDER_ID}


@pytest.mark.parametrize("bad", [0, 101])
def test_lost_metrics_undo_nothing(deployment: Deployment, log: Log, monkeypatch: pytest.MonkeyPatch, bad: int) -> None:
    """Field case 10: nothing that can raise undoes an answer; past 100 values Powertools writes in mid-batch."""
    monkeypatch.delenv("POWERTOOLS_METRICS_NAMESPACE")
    bodies = [*["not JSON"] * bad, order_body()]

    assert failed(submission.handler(batch(PLAIN, bodies), PLENTY)) == []

    assert (len(deployment.rejects()), deployment.order_ids()) == (bad, {ORDER_ID})
    assert "metrics lost" in {line.get("message") for line in log.read()}


def test_a_message_that_goes_back_is_logged_with_the_reason(deployment: Deployment, log: Log) -> None:
    deployment.lose("agent-inventory")

    submission.handler(batch(PLAIN, [order_body()]), PLENTY)

    line, *_ = log.of("Returned")
    assert line["message_id"] == "m-0"
    assert line["reason"]


def test_what_a_customer_wrote_is_in_no_log(deployment: Deployment, log: Log) -> None:
    bodies = [order_body("ord-1", customerId="jane-doe-4111"), order_body("ord-2", customerId=["jane-doe-4111"])]

    submission.handler(batch(PLAIN, bodies), PLENTY)

    assert "jane-doe-4111" not in json.dumps(log.read())
    assert deployment.order_ids() == {"ord-1"}
