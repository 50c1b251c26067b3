"""An alarm is raised when something is wrong, and the Supervisor is woken."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from stepward.adapters import telemetry
from stepward.domain import attention
from stepward.domain.errors import Misconfigured
from stepward.domain.history import HistoryKind
from stepward_cdk.settings.settings import Settings
from tests.infra.sample import AGENTS
from tests.infra.template import Template, as_list, joined, target

LONGEST_DESCRIPTION = 1024


def alarms_on(template: Template, metric: str) -> dict[str, Mapping[str, Any]]:
    """The alarms on a metric, by the one resource (or text) that its dimension names."""
    found = [(alarm, it) for alarm, it in template.watched() if it["MetricName"] == metric]
    return {target(it["Dimensions"][0]["Value"]) if "Dimensions" in it else "": alarm for alarm, it in found}


def test_every_alarm_reaches_people_and_says_what_is_wrong_and_when_it_is_over(template: Template) -> None:
    """S7, S21: what concerns one order, or ends by itself, wakes nobody."""
    told, woken = template.output("AlertsTopicArn"), template.output("PagesTopicArn")
    assert told != woken
    tells = set()
    for name, alarm in template.properties("CloudWatch::Alarm").items():
        (topic,) = [target(action) for action in alarm["AlarmActions"]]
        assert [target(action) for action in alarm["OKActions"]] == [topic], name
        assert 20 < len(alarm["AlarmDescription"]) <= LONGEST_DESCRIPTION, name
        tells |= {alarm["AlarmName"].partition("/")[2]} if topic == told else set()
    returned = {f"{queue}-returned" for queue in ("orders", "scheduler", "responses", "ledgers", "order-events")}
    assert tells == {"Rejected", "Failed", "BreakerOpened", "Blocked", "Gaps", "Overtime", "Forged"} | returned


def test_the_first_dead_letter_of_any_queue_raises_an_alarm(template: Template) -> None:
    """S22: a wake-up that could not be delivered is no loss; if none is, `Swept` says so."""
    dead = {target(queue["RedrivePolicy"]["deadLetterTargetArn"]) for queue in template.source_queues().values()}
    alarms = alarms_on(template, "ApproximateNumberOfMessagesVisible")
    assert set(alarms) == dead
    assert {alarm["Threshold"] for alarm in alarms.values()} == {1}


def test_a_queue_whose_messages_wait_too_long_raises_an_alarm(template: Template) -> None:
    """S21: an agent's request may wait as long as its longest step."""
    alarms = alarms_on(template, "ApproximateAgeOfOldestMessage")
    assert set(alarms) == set(template.source_queues())
    served = {function: queue for _, queue, function in template.sources()}
    assert alarms[served[template.function("agent", "shipping")]]["Threshold"] == 1200
    assert alarms[template.output("OrdersQueueUrl")]["Threshold"] == 300


def test_an_order_that_holds_up_its_own_events_is_noticed_before_it_holds_up_the_others(template: Template) -> None:
    """C4, C8: SQS looks for other orders among 120,000 waiting events only, and never says that it found none."""
    alarms = alarms_on(template, "ApproximateAgeOfOldestMessage")
    events, ledgers = alarms[template.output("OrderEventsQueueUrl")], alarms[template.output("LedgersQueueUrl")]
    assert (events["Threshold"], "hot order" in events["AlarmDescription"]) == (300, True)
    assert ledgers["Threshold"] == 1800


def test_a_function_in_trouble_raises_an_alarm(template: Template) -> None:
    """S21, S22: those that may loop, and the Supervisor, which takes no messages, are never taken for a loop."""
    assert set(alarms_on(template, "Errors")) == set(template.of("Lambda::Function"))
    functions = template.properties("Lambda::Function")
    stopped = {name for name, function in functions.items() if function["RecursiveLoop"] == "Terminate"}
    supervisor = template.function("supervisor")
    assert set(alarms_on(template, "RecursiveInvocationsDropped")) == stopped - {supervisor}


def test_an_account_that_has_no_room_for_a_function_raises_an_alarm(template: Template) -> None:
    """S22, S15: no function has concurrency of its own, so all of them run short together."""
    (throttled,), (used,) = (alarms_on(template, name).values() for name in ("Throttles", "ConcurrentExecutions"))
    assert "Dimensions" not in throttled
    assert used["Metrics"][0]["Expression"] == "100 * running / SERVICE_QUOTA(running)"
    assert used["Threshold"] == 80


def test_messages_that_keep_coming_back_raise_an_alarm_before_they_are_dead(production: Template) -> None:
    """S22: a run that returns what failed is no error of its function; an agent's requests end by complete-by."""
    mappings = production.of("Lambda::EventSourceMapping")
    agents = {production.function("agent", agent) for agent in AGENTS}
    engine = {name for name, it in mappings.items() if target(it["Properties"]["FunctionName"]) not in agents}
    alarms = alarms_on(production, "FailedInvokeEventCount")
    assert set(alarms) == engine
    assert {(alarm["Threshold"], alarm["EvaluationPeriods"] * alarm["Period"]) for alarm in alarms.values()} == {
        (1, 1800)
    }
    assert all(it["Properties"]["MetricsConfig"] == {"Metrics": ["EventCount"]} for it in mappings.values())


def test_what_aws_holds_back_raises_an_alarm(template: Template) -> None:
    """S22, C8: tables that every order needs, a FIFO queue that gives out nothing more, mails that reach nobody."""
    written = {template.output(f"{name}TableName") for name in ("Orders", "Tasks", "Lanes", "SharedRecords")}
    assert set(alarms_on(template, "WriteThrottleEvents")) == written
    assert set(alarms_on(template, "ReadThrottleEvents")) == {template.output("SharedRecordsTableName")}
    full = alarms_on(template, "ApproximateNumberOfMessagesNotVisible")
    assert full[template.output("OrderEventsQueueUrl")]["Threshold"] == 100_000
    topics = set(template.of("SNS::Topic"))
    assert {it["MetricName"] for _, it in template.watched() if target_topic(it) in topics} == {
        "NumberOfNotificationsFailed"
    }


def target_topic(metric: Mapping[str, Any]) -> str:
    """The logical id of the topic that a metric is of, if it is of one."""
    (value, *_) = [it["Value"] for it in metric.get("Dimensions", []) if it["Name"] == "TopicName"] or [""]
    return target(value)


def test_one_bad_order_does_not_page_anyone_by_the_errors_it_causes(template: Template) -> None:
    """S22: a batch in which every record fails counts as an error of the function; five in two periods do not."""
    for function, alarm in alarms_on(template, "Errors").items():
        if function not in template.ledgers():
            assert alarm["Threshold"] >= 5
            assert alarm["EvaluationPeriods"] >= 2


def test_the_first_ledger_processor_that_dies_raises_an_alarm(production: Template) -> None:
    """C3, C8: it runs once for a ledger of many entries, and its customer's next ones wait."""
    alarms = alarms_on(production, "Errors")
    assert len(production.ledgers()) == 4
    for function in production.ledgers():
        assert (alarms[function]["Threshold"], alarms[function]["EvaluationPeriods"]) == (1, 1)


BAD_NEWS = "Rejected", "Failed", "Corrupt", "OverdueAge", "Overtime", "Uncounted", "Blocked", "Gaps"


@pytest.mark.parametrize("metric", BAD_NEWS)
def test_the_engines_own_bad_news_raises_an_alarm(template: Template, metric: str) -> None:
    """S7, S12, C5, C6."""
    (alarm,) = alarms_on(template, metric).values()
    assert (alarm["Namespace"], alarm["Dimensions"]) == ("Stepward", [{"Name": "service", "Value": "orders-dev"}])


@pytest.mark.parametrize("metric", ["BreakerOpened", "Overtime"])
def test_one_open_breaker_or_one_order_past_its_worst_case_raises_an_alarm(template: Template, metric: str) -> None:
    """S20, S22: an order that does not finish must never be silent."""
    (alarm,) = alarms_on(template, metric).values()
    assert (alarm["Threshold"], alarm["EvaluationPeriods"]) == (1, 1)
    assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"


def test_a_few_steps_that_an_outage_held_up_wake_nobody(template: Template) -> None:
    """S22: they are uncounted and go on by themselves; many of them are an outage for somebody to look at."""
    (alarm,) = alarms_on(template, "Uncounted").values()
    assert alarm["Threshold"] == 100


def test_a_lost_notice_is_shown_and_wakes_nobody(template: Template) -> None:
    """S19: the submitter's queue is the submitter's affair."""
    assert alarms_on(template, "NoticesLost") == {}
    (board,) = template.properties("CloudWatch::Dashboard").values()
    assert "NoticesLost" in json.dumps(board["DashboardBody"])


def test_a_supervisor_that_never_sweeps_raises_an_alarm(template: Template, production: Template) -> None:
    """S12: no news is bad news here, after five minutes, or two wake-ups if those are rarer; not to run is no news."""
    for stack, silence in ((template, 300), (production, 360)):
        (alarm,) = alarms_on(stack, "Swept").values()
        assert (alarm["ComparisonOperator"], alarm["TreatMissingData"]) == ("LessThanThreshold", "breaching")
        assert (alarm["Period"] * alarm["EvaluationPeriods"], alarm["Threshold"]) == (silence, 1)
        assert alarm["Statistic"] == "Sum"


def test_the_services_that_publish_alerts_may_use_their_key(template: Template) -> None:
    """S7: an alarm that may not encrypt reaches nobody."""
    (key,) = template.properties("KMS::Key").values()
    assert key["EnableKeyRotation"] is True
    for service in ("cloudwatch.amazonaws.com", "events.amazonaws.com"):
        allowed = _allowed(key["KeyPolicy"]["Statement"], service)
        assert {"kms:Decrypt", "kms:GenerateDataKey*"} <= allowed, service
    for topic in template.properties("SNS::Topic").values():
        assert target(topic["KmsMasterKeyId"]) in template.of("KMS::Key")


def test_alarms_of_this_account_may_publish_and_nobody_may_without_tls(template: Template) -> None:
    """S7: a topic's own policy takes the place of the default one, alarms included."""
    clear = {"Bool": {"aws:SecureTransport": "false"}}
    for policy in template.properties("SNS::TopicPolicy").values():
        statements = policy["PolicyDocument"]["Statement"]
        assert "sns:Publish" in _allowed(statements, "cloudwatch.amazonaws.com")
        deny = [item for item in statements if item["Effect"] == "Deny"]
        assert [(item["Principal"], item["Condition"]) for item in deny] == [("*", clear)]


def test_the_operator_that_is_configured_gets_mail_and_else_nobody(template: Template, production: Template) -> None:
    """S7: one is told and another is woken, and the deployment says who has to confirm."""
    mails = {target(it["TopicArn"]): it["Endpoint"] for it in template.properties("SNS::Subscription").values()}
    told, woken = template.output("AlertsTopicArn"), template.output("PagesTopicArn")
    assert mails == {told: "operator@example.com", woken: "night@example.com"}
    confirm = template.body["Outputs"]["WhoHears"]["Value"]
    assert "is confirmed" in confirm
    assert "night@example.com, operator@example.com" in confirm
    assert "AWS::SNS::Subscription" not in {it["Type"] for it in production.body["Resources"].values()}
    assert "subscribe somebody" in production.body["Outputs"]["WhoHears"]["Value"]


def test_who_is_told_is_woken_as_well_unless_the_deployment_says_otherwise() -> None:
    """S7, D2."""
    assert Settings(alert_email="a@x").subscribers == ("a@x", "a@x")
    assert Settings(alert_email="a@x", page_email="none").subscribers == ("a@x", "")
    assert Settings(alert_email="none", page_email="b@x").subscribers == ("", "b@x")
    with pytest.raises(Misconfigured, match="page_email='b' is not an e-mail address"):
        Settings(page_email="b")


def test_the_supervisor_is_woken_as_often_as_configured(template: Template, production: Template) -> None:
    """S12."""
    for stack, expression in ((template, "rate(1 minute)"), (production, "rate(3 minutes)")):
        (rule,) = stack.properties("Events::Rule").values()
        assert (rule["ScheduleExpression"], rule["State"]) == (expression, "ENABLED")
        assert [target(it["Arn"]) for it in rule["Targets"]] == [stack.function("supervisor")]


def test_a_wake_up_that_cannot_be_delivered_is_stored(template: Template) -> None:
    """S12, S22: EventBridge may write to the queue that stores it."""
    (rule,) = template.properties("Events::Rule").values()
    (wake_up,) = rule["Targets"]
    dead = target(wake_up["DeadLetterConfig"]["Arn"])
    policies = [it for it in template.properties("SQS::QueuePolicy").values() if dead in map(target, it["Queues"])]
    statements = [statement for policy in policies for statement in policy["PolicyDocument"]["Statement"]]
    assert "sqs:SendMessage" in _allowed(statements, "events.amazonaws.com")


def test_a_late_wake_up_is_dropped_rather_than_run_beside_the_next(template: Template, production: Template) -> None:
    """S15: two Supervisors at once are correct, since recoveries are conditional, but pay twice."""
    for stack, age in ((template, 60), (production, 180)):
        (rule,) = stack.properties("Events::Rule").values()
        assert rule["Targets"][0]["RetryPolicy"]["MaximumEventAgeInSeconds"] == age
        (invoke,) = stack.properties("Lambda::EventInvokeConfig").values()
        assert target(invoke["FunctionName"]) == stack.function("supervisor")
        assert (invoke["MaximumRetryAttempts"], invoke["MaximumEventAgeInSeconds"]) == (0, age)


def test_the_supervisor_asks_a_new_account_for_no_reserved_concurrency(template: Template) -> None:
    """S12, S15: an account with a limit of 10 has none to give, and the deployment would fail."""
    for name, function in template.properties("Lambda::Function").items():
        assert "ReservedConcurrentExecutions" not in function, name


def test_the_dashboard_shows_every_step_queue_and_function(template: Template) -> None:
    """S21: it is derived from the workflow, so it shows a new step by itself."""
    (board,) = template.properties("CloudWatch::Dashboard").values()
    shown = json.dumps(board["DashboardBody"])
    steps = ["inventory.reserve", "undone by refunds.refund", "courier.carry takes over"]
    for name in [*template.of("SQS::Queue"), *template.of("Lambda::Function"), *steps]:
        assert name in shown, name
    for metric in ("Submitted", "Processed", "Failed", "Recovered", "LateReplies", "SubmissionToEnd", "Alerted"):
        assert metric in shown, metric
    for metric in ("Ledgers", "Applied", "Parked", "Ended", "Blocked", "Gaps", "Idle", "Skipped"):
        assert f'\\"{metric}\\"' in shown, metric


@pytest.mark.parametrize("agent", ["courier", "inventory", "payments", "refunds", "shipping"])
def test_the_dashboard_shows_how_the_service_of_every_agent_is_doing(template: Template, agent: str) -> None:
    """S21: success, failure, latency, load and breaker, each under the name of its agent."""
    (board,) = template.properties("CloudWatch::Dashboard").values()
    graphs = joined(board["DashboardBody"])["widgets"]
    shown = [metric for graph in graphs for metric in graph["properties"].get("metrics", []) if agent in metric]
    statistics = {(metric[1], metric[-1].get("stat", "Average")) for metric in shown}
    calls = {("CallSucceeded", "Sum"), ("CallFailed", "Sum"), ("CallTime", "p50"), ("CallTime", "p99")}
    assert statistics == calls | {("InFlight", "Maximum"), ("BreakerState", "Maximum")}
    for metric in shown:
        assert metric[0] == "Stepward"
        assert set(zip(metric[2:-1:2], metric[3:-1:2], strict=True)) == {("service", "orders-dev"), ("agent", agent)}


@pytest.mark.parametrize("stack", ["template", "lean"])
def test_every_metric_that_is_watched_is_one_that_the_engine_counts(request: pytest.FixtureRequest, stack: str) -> None:
    """S21: an alarm on a misspelt name is never raised."""
    template: Template = request.getfixturevalue(stack)
    counted = {name for kind in HistoryKind for name in (kind.metric, kind.timer)}
    measured = "".join(Path(str(it.__file__)).read_text(encoding="utf-8") for it in (telemetry, attention))
    watched = {metric["MetricName"] for _, metric in template.watched() if metric["Namespace"] == "Stepward"}
    (board,) = template.properties("CloudWatch::Dashboard").values()
    graphs = joined(board["DashboardBody"])["widgets"]
    shown = [metric for graph in graphs for metric in graph["properties"].get("metrics", [])]
    watched |= {metric[1] for metric in shown if metric[0] == "Stepward"}
    assert ("CallSucceeded" if stack == "template" else "SubmissionToEnd") in watched
    assert [name for name in sorted(watched - counted) if f'"{name}"' not in measured] == []


def _allowed(statements: Iterable[Mapping[str, Any]], service: str) -> set[str]:
    """What a resource's policy allows an AWS service."""
    allowed = [item for item in statements if item["Effect"] == "Allow"]
    mine = [item for item in allowed if service in as_list(dict(item["Principal"]).get("Service", []))]
    return {action for item in mine for action in as_list(item["Action"])}
