"""The findings of cdk-nag that stay, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk import Acknowledgment, Stack, Validations
from constructs import IConstruct

from stepward_cdk.functions.functions import Functions
from stepward_cdk.functions.worker import Parts
from stepward_cdk.objects import Objects

_LOGS = "IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]"


def acknowledge(*, functions: Functions, parts: Parts) -> None:
    """Give cdk-nag, and the reader, the reason for each finding that stays."""
    settings = parts.settings
    for function in functions.by_name.values():
        _accept(function, "L1", "It runs on the newest Python that the tests have run on, not on one that none has.")
        _accept(function, _LOGS, "It lets a function write logs and nothing else, and AWS keeps it up to date.")
        if settings.tracing:
            _accept(function, "IAM5[Resource::*]", "X-Ray's write actions know no resource; a test holds it to them.")
    for worker in (functions.scheduler, functions.supervisor, functions.convoy):
        if settings.full_watching:
            reason = "grant_publish covers the topic's own key only."
            _accept(worker.function, "IAM5[Action::kms:GenerateDataKey*]", reason)
    scheduler = functions.scheduler.function
    for name in settings.replies.names(_shown(scheduler, Stack.of(scheduler).partition)):
        _accept(scheduler, f"IAM5[Resource::{name}]", "The submitters' own queues; the deployment names them.")
    for topic in () if settings.full_watching else parts.alerts.topics:
        _accept(
            topic, "SNS2", "SNS encrypts its disks; a key of their own costs $1 a month, and comes with watching=full."
        )
    if parts.callback_key is not None:
        _accept(parts.callback_key.secret, "SMG4", "A rotation has to outlast every answer still due; people begin it.")
    dead = functions.supervisor.wake_up.dead
    _accept(dead, "SQS3", "It is the dead-letter queue of the schedule's target, which cdk-nag does not look at.")
    _acknowledge_objects(functions, parts)


def _acknowledge_objects(functions: Functions, parts: Parts) -> None:
    for ledger in functions.ledgers.values():
        why = "The senders name the ledgers' objects; the function may only read them."
        _accept(ledger.function, _any_in(parts.ledgers), why)
    for name, worker in functions.workers.items():
        if name != "supervisor":
            why = "Each rejected message has a name of its own; the function may only write its body."
            _accept(worker.function, _any_in(parts.rejects), why)
    _accept(
        parts.ledgers.bucket,
        "S1",
        "Only the ledger processors read it, and log each ledger. To record who uploaded what, switch on CloudTrail's "
        "data events, which say more and need no second bucket.",
    )
    _accept(parts.rejects.bucket, "S1", "The table of rejects says what is in it, and no function reads it.")


def _any_in(objects: Objects) -> str:
    return f"IAM5[Resource::{_shown(objects, objects.bucket.bucket_arn)}/*]"


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
