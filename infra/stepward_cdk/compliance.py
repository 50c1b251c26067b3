"""Findings of cdk-nag that stay, each with the reason why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk import Acknowledgment, Stack, Validations
from aws_cdk.aws_dynamodb import ITable
from constructs import IConstruct

from stepward_cdk.functions.convoy import Convoy
from stepward_cdk.functions.supervisor_schedule import WakeUp
from stepward_cdk.functions.workers import Workers
from stepward_cdk.ledger_objects import LedgerObjects
from stepward_cdk.settings.settings import Settings
from stepward_cdk.tables import Tables

_LOGS = "IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]"


def acknowledge(
    *,
    workers: Workers,
    convoy: Convoy,
    tables: Tables,
    objects: LedgerObjects,
    wake_up: WakeUp,
    settings: Settings,
) -> None:
    """Tell cdk-nag, and the reader, why these findings are as they should be."""
    for function in (*workers.by_name.values(), *convoy.by_name.values()):
        _accept(function, _LOGS, "It lets a function write logs and nothing else, and AWS keeps it up to date.")
        if settings.tracing:
            _accept(function, "IAM5[Resource::*]", "X-Ray's write actions know no resource; a test holds it to them.")
    for function in (workers.submission, workers.scheduler, workers.supervisor, convoy.convoy):
        _accept(function, _indexes(tables.tasks), "grant_* names a table's indexes so; it has only the engine's two.")
    for function in (workers.supervisor, convoy.convoy):
        _accept(function, _indexes(tables.lanes), "grant_* names a table's indexes so; it has only the engine's two.")
    for function in (workers.scheduler, workers.supervisor, convoy.convoy):
        _accept(function, "IAM5[Action::kms:GenerateDataKey*]", "grant_publish asks this of the topic's own key only.")
    for name in settings.replies.names(_shown(workers, Stack.of(workers).partition)):
        _accept(workers.scheduler, f"IAM5[Resource::{name}]", "The submitters' own queues; the deployment names them.")
    _accept(
        wake_up.dead, "SQS3", "It is a dead-letter queue, of the schedule's target, which cdk-nag does not look at."
    )
    _acknowledge_objects(convoy, objects)


def _acknowledge_objects(convoy: Convoy, objects: LedgerObjects) -> None:
    any_object = f"IAM5[Resource::{_shown(objects, objects.bucket.bucket_arn)}/*]"
    for function in convoy.ledgers.values():
        _accept(function, any_object, "Ledgers' objects have the names that their senders give; it may only read them.")
    _accept(
        objects.bucket,
        "S1",
        "Only the ledger processors read it, and each ledger's walk is in their log; whoever must know who uploaded "
        "what switches CloudTrail's data events on, which tell more and need no second bucket.",
    )


def _indexes(table: ITable) -> str:
    return f"IAM5[Resource::{_shown(table, table.table_arn)}/index/*]"


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
