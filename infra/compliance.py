"""Findings of cdk-nag that stay, each with the reason why."""

from __future__ import annotations

from aws_cdk import Acknowledgment, Stack, Validations
from aws_cdk import aws_dynamodb as dynamodb
from constructs import IConstruct

from infra.tables import Tables
from infra.wakeup import WakeUp
from infra.workers import Workers

_LOGS = "IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]"


def acknowledge(*, workers: Workers, tables: Tables, wake_up: WakeUp) -> None:
    """Tell cdk-nag, and the reader, why these findings are as they should be."""
    for function in workers.by_name.values():
        _accept(function, _LOGS, "It lets a function write logs and nothing else, and AWS keeps it up to date.")
        _accept(function, "IAM5[Resource::*]", "X-Ray's write actions know no resource; a test holds it to them.")
    index = f"IAM5[Resource::<{_logical_id(tables.tasks)}.Arn>/index/*]"
    for function in (workers.submission, workers.scheduler, workers.supervisor):
        _accept(function, index, "grant_* names a table's indexes so; the table has only the due index.")
    for function in (workers.scheduler, workers.supervisor):
        _accept(function, "IAM5[Action::kms:GenerateDataKey*]", "grant_publish asks this of the topic's own key only.")
    _accept(
        wake_up.dead, "SQS3", "It is a dead-letter queue, of the schedule's target, which cdk-nag does not look at."
    )


def _accept(construct: IConstruct, rule: str, reason: str) -> None:
    Validations.of(construct).acknowledge(Acknowledgment(id=f"AwsSolutions::AwsSolutions-{rule}", reason=reason))


def _logical_id(table: dynamodb.Table) -> str:
    resource = table.node.default_child
    assert isinstance(resource, dynamodb.CfnTable)  # noqa: S101 - narrows a type that CDK leaves open
    return str(Stack.of(table).resolve(resource.logical_id))
