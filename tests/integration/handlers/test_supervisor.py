"""The function that finds what is overdue, woken by the event of its schedule."""

import json
from typing import Any

import pytest
import time_machine

from stepward.domain.errors import Misconfigured
from stepward.domain.task.record import ProcessState
from stepward.testing.sqs.lambda_events import LambdaContext
from stepward.wiring.clock import now
from tests.contract.worlds.store_worlds import SHARDS
from tests.integration.functions import scheduler, submission, supervisor
from tests.integration.handlers.conftest import Log
from tests.integration.handlers.deployment import ORDER_ID, PLENTY, Deployment, batch, order_body, sample

TICK = "eventbridge-schedule.json"
LONG_ENOUGH = LambdaContext("supervisor", "r-1", ends_at=60_000, clock=lambda: 0)
MARGIN = 6_000
DAY = 86_400_000


def sweep(now: int) -> dict[str, int]:
    """One wake-up at `now` (epoch ms)."""
    with time_machine.travel((now + 0.5) / 1000, tick=False):
        found: dict[str, int] = supervisor.handler(sample(TICK), LONG_ENOUGH)
        return found


def sent_to_scheduler(deployment: Deployment) -> list[dict[str, Any]]:
    """What is in the Scheduler's queue an hour later, when no message is delayed any more."""
    with time_machine.travel(now() / 1000 + 3_600, tick=False):
        return [json.loads(body) for body in deployment.taken("scheduler")]


def run_into(deployment: Deployment) -> int:
    """The complete-by of a first step that an agent has and does not answer."""
    submission.handler(sample("sqs-order-plain.json"), PLENTY)
    scheduler.handler(sample("sqs-scheduler-start.json"), PLENTY)
    deployment.taken("scheduler")
    deployment.taken("agent-inventory")
    complete_by = deployment.step("reserve").complete_by
    assert complete_by is not None
    return complete_by


def test_orders_in_shards_that_a_deployment_gave_up_are_recovered(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D2: 16 orders under eight shards, their starts are lost, and the next deployment has two."""
    monkeypatch.setenv("STEPWARD_SHARDS", "8")
    submission.handler(batch("sqs-order-plain.json", [order_body(f"ord-{n}") for n in range(16)]), PLENTY)
    deployment.taken("scheduler")
    monkeypatch.setenv("STEPWARD_SHARDS", "2")

    figures = [sweep(now() + minute * 60_000) for minute in range(15, 35)]

    assert {message["orderId"] for message in sent_to_scheduler(deployment)} == {f"ord-{n}" for n in range(16)}
    assert {found["swept"] for found in figures} == {2}


def test_draining_shards_are_swept_in_each_run(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    """D2, case 5: not by turns only, as those of any earlier deployment."""
    monkeypatch.setenv("STEPWARD_SHARDS", "8")
    submission.handler(batch("sqs-order-plain.json", [order_body(f"ord-{n}") for n in range(16)]), PLENTY)
    deployment.taken("scheduler")
    monkeypatch.setenv("STEPWARD_SHARDS", "2")
    monkeypatch.setenv("STEPWARD_DRAINING_SHARDS", "8")

    assert sweep(now() + 15 * 60_000)["swept"] == 8
    assert {message["orderId"] for message in sent_to_scheduler(deployment)} == {f"ord-{n}" for n in range(16)}


def test_nothing_is_done_before_complete_by_has_surely_passed(deployment: Deployment) -> None:
    """Clocks may differ: the Supervisor waits a margin longer."""
    running = run_into(deployment)
    before = deployment.task()

    figures = sweep(running + 1)

    assert figures == {"listed": 0, "overdue": 0, "oldest": 0, "complete": True, "swept": SHARDS, "skipped": 0}

    assert deployment.task() == before


def test_an_overdue_step_is_recovered_and_the_scheduler_is_asked_to_retry(deployment: Deployment, log: Log) -> None:
    """S12: FailureCount + 1, unlocked, Pending again."""
    running = run_into(deployment)
    log.read()

    figures = sweep(running + MARGIN)

    step = deployment.step("reserve")
    assert (step.process_state, step.locked_by, step.failure_count) == (ProcessState.PENDING, None, 1)
    retry = {"type": "step.retry", "orderId": ORDER_ID, "step": "reserve", "attempt": 1}
    assert sent_to_scheduler(deployment) == [retry]
    assert (figures["listed"], figures["overdue"], figures["oldest"]) == (1, 1, MARGIN)
    lines = log.read()
    (recovered,) = [line for line in lines if line.get("message") == "Recovered"]
    assert (recovered["from"], recovered["to"], recovered["attempt"]) == ("Processing", "Pending", 1)
    (metrics,) = [line for line in lines if "_aws" in line]
    measured = {"Swept": SHARDS, "Recovered": 1, "Overdue": 1, "OverdueAge": MARGIN}
    assert {name: metrics[name] for name in measured} == {name: [float(value)] for name, value in measured.items()}


def test_a_second_sweep_at_once_counts_no_second_failure(deployment: Deployment) -> None:
    """S15."""
    running = run_into(deployment)
    for _ in range(2):
        sweep(running + MARGIN)

    assert deployment.step("reserve").failure_count == 1
    assert len(sent_to_scheduler(deployment)) == 1


def test_a_task_whose_start_was_lost_is_found(deployment: Deployment) -> None:
    """S11: no agent had it, so no failure is counted."""
    deployment.put(order_body())
    assert len(sent_to_scheduler(deployment)) == 1
    due = deployment.task().due
    assert due is not None

    sweep(due + MARGIN)

    (retry,) = sent_to_scheduler(deployment)
    assert (retry["type"], retry["step"]) == ("step.retry", "reserve")
    assert deployment.step("reserve").failure_count == 0
    with time_machine.travel((due + MARGIN) / 1000, tick=False):
        scheduler.handler(batch("sqs-scheduler-start.json", [json.dumps(retry)]), PLENTY)
    assert deployment.step("reserve").process_state is ProcessState.PROCESSING


@pytest.mark.parametrize(
    "garbage",
    [
        {"Steps": {"S": "garbage"}},
        {"Steps": {"NULL": True}},
        {"Steps": {"M": {}}},
        {"Plan": {"S": "no such plan"}},
        {"CreatedAt": {"S": "2026-01-01T12:00:00Z"}},
        {"Revision": {"NULL": True}},
        {"History": {"S": "x"}},
    ],
    ids="".join,
)
def test_an_unreadable_record_does_not_stop_the_sweep(
    deployment: Deployment, log: Log, garbage: dict[str, Any]
) -> None:
    """Each shard has a bad record that is older than the good one."""
    running = run_into(deployment)
    item: dict[str, Any] = dict(
        deployment.dynamodb.get_item(TableName=deployment.tables.tasks, Key={"OrderID": {"S": ORDER_ID}})["Item"]
    )
    for shard in ("0", "1"):
        keys = {"OrderID": {"S": f"bad-{shard}"}, "Shard": {"N": shard}, "Due": {"N": "1"}}
        deployment.dynamodb.put_item(TableName=deployment.tables.tasks, Item={**item, **keys, **garbage})
    log.read()

    figures = sweep(running + MARGIN)

    assert deployment.step("reserve").failure_count == 1
    assert (figures["listed"], figures["complete"]) == (3, True)
    corrupt = log.of("Corrupt")
    assert {line["task"] for line in corrupt} == {"bad-0", "bad-1"}
    assert all(line["task"] in line["reason"] for line in corrupt)


def test_a_sweep_without_time_left_stops_and_says_so(deployment: Deployment) -> None:
    """What it does not reach stays due for the next run."""
    running = run_into(deployment)
    with time_machine.travel((running + MARGIN) / 1000, tick=False):
        figures = supervisor.handler(sample(TICK), LambdaContext("supervisor", "r-1", ends_at=10, clock=lambda: 0))

    assert (figures["listed"], figures["complete"]) == (0, False)
    assert deployment.step("reserve").process_state is ProcessState.PROCESSING
    sweep(running + MARGIN)
    assert deployment.step("reserve").process_state is ProcessState.PENDING


def test_many_overdue_tasks_are_recovered_in_one_run(deployment: Deployment) -> None:
    running = run_into(deployment)
    names = [f"ord-{number}" for number in range(12)]
    submission.handler(batch("sqs-order-plain.json", [order_body(name) for name in names]), PLENTY)
    starts = deployment.taken("scheduler")
    scheduler.handler(batch("sqs-scheduler-start.json", starts), PLENTY)

    figures = sweep(running + 5 * MARGIN)

    assert figures["overdue"] == len(names) + 1
    assert {deployment.step("reserve", name).failure_count for name in names} == {1}


def test_a_sweep_that_found_nothing_writes_one_metric(deployment: Deployment, log: Log) -> None:
    """S12: an alarm fires when it is missing, and each metric is billed for the hour in which it comes."""
    running = run_into(deployment)
    log.read()

    sweep(running)

    metrics = log.metrics()
    (directive,) = metrics["_aws"]["CloudWatchMetrics"]
    assert [metric["Name"] for metric in directive["Metrics"]] == ["Swept"]
    assert metrics["Swept"] == [float(SHARDS)]


def test_the_supervisor_finds_dead_letters_where_no_alarm_watches_their_queues(
    deployment: Deployment, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S22: their queues are where the Scheduler's is; a queue that is gone is told, and stops no sweep."""
    monkeypatch.setenv("STEPWARD_DEAD_LETTERS", "orders=orders-dead,responses=responses-dead,scheduler=gone-dead")
    for name in ("orders-dead", "responses-dead"):
        queue = deployment.sqs.create_queue(QueueName=name)["QueueUrl"]
        if name == "orders-dead":
            deployment.sqs.send_message(QueueUrl=queue, MessageBody="poison")
    running = run_into(deployment)
    log.read()

    assert sweep(running + MARGIN)["overdue"] == 1

    lines = log.read()
    assert [line["reason"] for line in lines if line.get("message") == "DeadLetters"] == ["orders: 1"]
    assert ["gone-dead" in line["reason"] for line in lines if line.get("message") == "Unchecked"] == [True]
    (metrics,) = [line for line in lines if "_aws" in line]
    assert (metrics["DeadLetters"], metrics["Tells"]) == ([1.0], [100.0])


def test_a_shard_that_another_supervisor_holds_is_left_to_it(deployment: Deployment, log: Log) -> None:
    """S15: until its lease is over."""
    running = run_into(deployment)
    at = running + MARGIN
    for shard in range(SHARDS):
        lease = json.dumps({"holder": "supervisor-elsewhere", "fence": 7, "until": at + 1})
        row: Any = {"Name": {"S": f"lease/{shard}"}, "Revision": {"N": "1"}, "WriteId": {"S": "w"}}
        row["Body"] = {"S": lease}
        deployment.dynamodb.put_item(TableName=deployment.shared_records, Item=row)
    log.read()

    assert (sweep(at)["skipped"], deployment.step("reserve").failure_count) == (SHARDS, 0)
    assert (sweep(at + MARGIN)["swept"], deployment.step("reserve").failure_count) == (SHARDS, 1)


def test_supervisors_without_their_shared_records_still_sweep(deployment: Deployment, log: Log) -> None:
    """S15: leases save work; no recovery depends on them."""
    running = run_into(deployment)
    deployment.dynamodb.delete_table(TableName=deployment.shared_records)
    log.read()

    assert sweep(running + MARGIN)["overdue"] == 1

    lines = log.read()
    (metrics,) = [line for line in lines if "_aws" in line]
    assert metrics["Unleased"] == [1.0 * SHARDS]
    assert len([line["reason"] for line in lines if line.get("message") == "Unleased"]) == SHARDS


def test_a_sweep_that_fails_writes_metrics(deployment: Deployment, log: Log) -> None:
    """S12: a fault of the deployment shows as an error, and does not hide what was done before."""
    running = run_into(deployment)
    deployment.lose("scheduler")
    log.read()

    with pytest.raises(Misconfigured):
        sweep(running + MARGIN)

    metrics = log.metrics()
    assert metrics["Recovered"] == [1.0]


def test_an_order_older_than_its_own_worst_case_is_logged(deployment: Deployment, log: Log) -> None:
    """S12: not finishing is never silent."""
    running = run_into(deployment)
    log.read()

    sweep(running + DAY)

    lines = log.read()
    (metrics,) = [line for line in lines if "_aws" in line]
    assert metrics["Overtime"] == [1.0]
    (line,) = [line for line in lines if line.get("message") == "Overtime"]
    assert line["task"] == ORDER_ID
    assert line["ms"] > 0
