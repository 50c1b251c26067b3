"""D4: each thing that is broken in an account turns `stepward verify` red, which names it and what to do."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from typer.testing import CliRunner

from stepward.cli.deploy_check.change import Stack
from stepward.cli.main import app
from stepward.cli.verify.checks import CHECKS, findings
from stepward.cli.verify.deployed import Deployed, Finding
from tests.factories import T0

Answers = Mapping[str, Any]
KINDS = {
    "Scheduler": "Lambda::Function",
    "Payments": "Lambda::Function",
    "Policy": "IAM::Policy",
    "Takes": "Lambda::EventSourceMapping",
    "TakesToo": "Lambda::EventSourceMapping",
    "EveryMinute": "Events::Rule",
    "Dead": "CloudWatch::Alarm",
    "Slow": "CloudWatch::Alarm",
}
STATEMENT = {"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": ["arn:aws:sqs:::responses"]}
POLICY = {"PolicyName": "calls", "Roles": [{"Ref": "Role"}], "PolicyDocument": {"Statement": [STATEMENT]}}
RESOURCES = {name: {"Type": f"AWS::{kind}", "Properties": POLICY} for name, kind in KINDS.items()}
ALARM = {"AlarmName": "shop/dead", "StateValue": "OK", "ActionsEnabled": True, "AlarmActions": ["arn:aws:sns:::pages"]}
SOURCE = {"EventSourceArn": "arn:aws:sqs:::orders", "State": "Enabled", "ScalingConfig": {"MaximumConcurrency": 50}}
FUNCTION = {"FunctionName": "payments", "CodeSha256": "one", "Role": "arn:aws:iam:::role/Role"}
SUBSCRIBED = {"SubscriptionArn": "arn:aws:sns:::alerts:1", "Endpoint": "ops@example.com"}
SOUND: Answers = {
    "list_stack_resources": {
        "StackResourceSummaries": [{"LogicalResourceId": it, "PhysicalResourceId": it} for it in [*RESOURCES, "Role"]]
    },
    "get_function_configuration": FUNCTION,
    "get_function_concurrency": {},
    "list_event_source_mappings": {"EventSourceMappings": [SOURCE]},
    "get_account_settings": {"AccountLimit": {"ConcurrentExecutions": 900, "UnreservedConcurrentExecutions": 400}},
    "get_role_policy": {"PolicyDocument": {"Statement": [STATEMENT]}},
    "simulate_principal_policy": {
        "EvaluationResults": [{"EvalActionName": "sqs:SendMessage", "EvalDecision": "allowed"}]
    },
    "describe_rule": {"Name": "EveryMinute", "State": "ENABLED", "ScheduleExpression": "rate(1 minute)"},
    "list_targets_by_rule": {"Targets": [{"Id": "Target0"}]},
    "describe_alarms": {"MetricAlarms": [ALARM, ALARM]},
    "list_subscriptions_by_topic": {"Subscriptions": [SUBSCRIBED]},
    "get_subscription_attributes": {"Attributes": {"PendingConfirmation": "false"}},
    "get_metric_statistics": {"Datapoints": [{"Sum": 1.0}]},
}
"""What the account of a sound stack says, by the call."""


@dataclass
class Account:
    """An account that answers a call from `answers`: the same each time, in turn if it is a list, or with an error."""

    answers: dict[str, Any]
    endpoint: str | None = None
    asked: list[str] = field(default_factory=list)

    def client(self, _service: str) -> Any:
        return self

    def get_paginator(self, call: str) -> Any:
        return SimpleNamespace(paginate=lambda **_: [self._answer(call)])

    def __getattr__(self, call: str) -> Any:
        return lambda **_: self._answer(call)

    def _answer(self, call: str) -> Any:
        self.asked.append(call)
        answer = self.answers[call]
        if isinstance(answer, list):
            answer = answer[(self.asked.count(call) - 1) % len(answer)]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def template(self, _stack: str) -> Mapping[str, Any]:
        return {"Metadata": {"Stepward": {"environment": "prod"}}, "Resources": RESOURCES}

    def outputs(self, _stack: str) -> Mapping[str, str]:
        return {"AlertsTopicArn": "arn:alerts", "PagesTopicArn": "arn:pages"}


def error(code: str, call: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": code}}, call)


def found(answers: Answers) -> list[Finding]:
    account: Any = Account({**SOUND, **answers})
    return list(findings(Deployed(account, "shop", Stack(account.template("")), account.outputs("")), T0))


def test_a_sound_account_is_good() -> None:
    assert {it.check: it.good for it in found({})} == {it.__name__.removeprefix("_"): True for it in CHECKS}


def alarms(**second: Any) -> Answers:
    return {"MetricAlarms": [ALARM, ALARM | second]}


def subscribed(*found: Mapping[str, Any]) -> Answers:
    return {"Subscriptions": found}


def sources(*found: Mapping[str, Any]) -> Answers:
    return {"EventSourceMappings": found}


MADE_AGAIN = "make it again under its name"
READ, TAKEN, LIMIT = "get_function_configuration", "list_event_source_mappings", "get_account_settings"
ROLE, SIMULATED, RESERVING = "get_role_policy", "simulate_principal_policy", "get_function_concurrency"
RULE, TARGETS, METRIC = "describe_rule", "list_targets_by_rule", "get_metric_statistics"
MAILS, MAIL = "list_subscriptions_by_topic", "get_subscription_attributes"
OFF, WIDE = SOURCE | {"State": "Disabled"}, SOURCE | {"ScalingConfig": {"MaximumConcurrency": 350}}
RESERVED = {"ConcurrentExecutions": 900, "UnreservedConcurrentExecutions": 100}
DENIED = {"EvalActionName": "sqs:SendMessage", "EvalResourceName": "responses", "EvalDecision": "implicitDeny"}
WAITING, LEFT = (SUBSCRIBED | {"SubscriptionArn": state} for state in ("PendingConfirmation", "Deleted"))
BROKEN: list[tuple[str, str, Any, str, str]] = [
    ("functions", READ, [FUNCTION, FUNCTION | {"CodeSha256": "old"}], "2 versions of the code", "deploy again"),
    ("functions", READ, FUNCTION | {"LastUpdateStatus": "InProgress"}, "not updated: payments", "wait"),
    ("functions", READ, error("ResourceNotFoundException", "GetFunctionConfiguration"), "NotFound", MADE_AGAIN),
    ("sources", TAKEN, [sources(SOURCE), sources(OFF)], "disabled: orders", "--enabled"),
    ("sources", TAKEN, [sources(SOURCE), sources()], "1 of 2 queues", "make again"),
    ("concurrency", TAKEN, sources(WIDE), "701 at once of 400", "raise the account's limit"),
    ("concurrency", LIMIT, {"AccountLimit": RESERVED}, "101 at once of 100", "lower engine_concurrency"),
    ("concurrency", RESERVING, {"ReservedConcurrentExecutions": 0}, "none may run of payments", "delete-function-con"),
    ("rights", ROLE, {"PolicyDocument": {"Statement": []}}, "Role: sqs:SendMessage, taken away", "give back"),
    ("rights", SIMULATED, {"EvaluationResults": [DENIED]}, "Role: sqs:SendMessage on responses", "boundary"),
    ("rights", ROLE, error("NoSuchEntity", "GetRolePolicy"), "GetRolePolicy", MADE_AGAIN),
    ("schedule", RULE, {"Name": "EveryMinute", "State": "DISABLED"}, "off: EveryMinute", "enable-rule"),
    ("schedule", RULE, error("ResourceNotFoundException", "DescribeRule"), "DescribeRule", MADE_AGAIN),
    ("schedule", TARGETS, {"Targets": []}, "without a target: EveryMinute", "the Supervisor's function"),
    ("alarms", "describe_alarms", alarms(StateValue="ALARM"), "raised: shop/dead,", "says what to do"),
    ("alarms", "describe_alarms", alarms(ActionsEnabled=False), "silenced: shop/dead", "enable-alarm-actions"),
    ("alarms", "describe_alarms", alarms(AlarmActions=[]), "silenced: shop/dead", "enable-alarm-actions"),
    ("alarms", "describe_alarms", {"MetricAlarms": [ALARM]}, "1 of 2", "make again"),
    ("subscriptions", MAILS, subscribed(WAITING), "not confirmed: ops@example.com", "confirm it"),
    ("subscriptions", MAIL, {"Attributes": {"PendingConfirmation": "true"}}, "not confirmed: ops@", "confirm it"),
    ("subscriptions", MAILS, subscribed(), "nobody hears: AlertsTopicArn, PagesTopicArn", "alert_email"),
    ("subscriptions", MAILS, subscribed(LEFT), "nobody hears: AlertsTopicArn, PagesTopicArn", "alert_email"),
    ("subscriptions", MAILS, [subscribed(SUBSCRIBED), subscribed()], "nobody hears: PagesTopicArn", "alert_email"),
    ("subscriptions", MAILS, error("NotFound", "ListSubscriptionsByTopic"), "NotFound", MADE_AGAIN),
    ("metrics", METRIC, {"Datapoints": []}, "0 of the last 15 minutes", "the Supervisor's log"),
    ("metrics", METRIC, error("AccessDenied", "GetMetricStatistics"), "AccessDenied", "allow it"),
    ("metrics", METRIC, EndpointConnectionError(endpoint_url="https://x"), "cannot be looked at", "allow it"),
]


@pytest.mark.parametrize(("check", "call", "answer", "what", "mend"), BROKEN)
def test_what_is_broken_is_named_with_what_to_do(check: str, call: str, answer: Any, what: str, mend: str) -> None:
    """D4: the check that reads it."""
    red = {it.check: it.says for it in found({call: answer}) if not it.good}
    assert check in red
    assert what in red[check]
    assert mend in red[check].partition("; ")[2]


def test_every_check_has_been_seen_red() -> None:
    assert {check for check, *_ in BROKEN} == {it.__name__.removeprefix("_") for it in CHECKS}


@pytest.mark.parametrize(("answers", "exit_code"), [({}, 0), *(({call: answer}, 1) for _, call, answer, *_ in BROKEN)])
def test_one_red_check_is_the_exit_code(monkeypatch: pytest.MonkeyPatch, answers: Answers, exit_code: int) -> None:
    """D4: so a pipeline stops at it."""
    monkeypatch.setattr("stepward.cli.deployment.aws.find_account", lambda _: Account({**SOUND, **answers}))
    monkeypatch.setattr("stepward.cli.verify.command.connect", lambda _: SimpleNamespace(now=lambda: T0))

    result = CliRunner().invoke(app, ["verify", "--stack", "shop", "--no-canaries", "--json"])

    assert result.exit_code == exit_code, result.output
    assert any(it["good"] is False for it in json.loads(result.stdout)["findings"]) == bool(exit_code)
