"""What functions may do with tables and queues, by AWS's names: exactly what their code calls.

CDK's own grants also allow what nobody here calls, such as writing to an index, or asking for a queue's address.
"""

from __future__ import annotations

from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs

READ_ONE, READ_MANY, QUERY = "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"
WRITE = "dynamodb:PutItem"  # transactions of puts need it, too; nothing is ever updated in place or deleted
WRITE_MANY = "dynamodb:BatchWriteItem"  # it could delete as well, so only the rows of lanes are written by it
SEND, COUNT = "sqs:SendMessage", "sqs:GetQueueAttributes"


def allow(function: lambda_.Function, table: dynamodb.ITable, *actions: str) -> None:
    """Let a function do this with the items of a table."""
    _allow(function, table.table_arn, *actions)


def allow_query(function: lambda_.Function, table: dynamodb.ITable, index: str) -> None:
    """Let a function query one index of a table."""
    _allow(function, f"{table.table_arn}/index/{index}", QUERY)


def allow_queue(function: lambda_.Function, queue: sqs.Queue, *actions: str) -> None:
    """Let a function do this with a queue."""
    _allow(function, queue.queue_arn, *actions)


def allow_secret(function: lambda_.Function, arn: str) -> None:
    """Let a function read this secret."""
    _allow(function, arn, "secretsmanager:GetSecretValue")


def _allow(function: lambda_.Function, arn: str, *actions: str) -> None:
    function.add_to_role_policy(iam.PolicyStatement(actions=list(actions), resources=[arn]))
