"""Findings of cdk-nag that stay, each with the reason why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk import Acknowledgment, Stack, Validations
from constructs import IConstruct

from infra.settings import Settings
from infra.tables import Tables
from infra.wakeup import WakeUp
from infra.workers import Workers

_LOGS = "IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]"


def acknowledge(*, workers: Workers, tables: Tables, wake_up: WakeUp, settings: Settings) -> None:
    """Tell cdk-nag, and the reader, why these findings are as they should be."""
    for function in workers.by_name.values():
        _accept(function, _LOGS, "It lets a function write logs and nothing else, and AWS keeps it up to date.")
        _accept(function, "IAM5[Resource::*]", "X-Ray's write actions know no resource; a test holds it to them.")
    index = f"IAM5[Resource::{_shown(tables, tables.tasks.table_arn)}/index/*]"
    for function in (workers.submission, workers.scheduler, workers.supervisor):
        _accept(function, index, "grant_* names a table's indexes so; the table has only the engine's two.")
    for function in (workers.scheduler, workers.supervisor):
        _accept(function, "IAM5[Action::kms:GenerateDataKey*]", "grant_publish asks this of the topic's own key only.")
    for name in settings.replies.names(_shown(workers, Stack.of(workers).partition)):
        _accept(workers.scheduler, f"IAM5[Resource::{name}]", "The submitters' own queues; the deployment names them.")
    _accept(
        wake_up.dead, "SQS3", "It is a dead-letter queue, of the schedule's target, which cdk-nag does not look at."
    )


def _accept(construct: IConstruct, rule: str, reason: str) -> None:
    Validations.of(construct).acknowledge(Acknowledgment(id=f"AwsSolutions::AwsSolutions-{rule}", reason=reason))


def _shown(construct: IConstruct, text: str) -> str:
    """A text as cdk-nag shows it: `<...>` where CloudFormation puts a value."""
    match Stack.of(construct).resolve(text):
        case {"Fn::Join": [_, parts]}:
            return "".join(_part(part) for part in parts)
        case part:
            return _part(part)


def _part(part: str | Mapping[str, Any]) -> str:
    match part:
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": path}:
            return f"<{'.'.join(path)}>"
    return str(part)
