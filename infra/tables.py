"""The tables: orders, the state store, and what could not be accepted."""

from __future__ import annotations

from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

from infra.queues import removal
from infra.settings import Settings

DUE_INDEX = "due"


class Tables(Construct):
    """On demand, restorable to any second of the last 35 days, and in production protected from deletion."""

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self.orders = self._table("Orders", settings, partition_key=_text("OrderID"))
        self.rejects = self._table("Rejects", settings, partition_key=_text("Day"), sort_key=_text("Key"))
        self.tasks = self._table("Tasks", settings, partition_key=_text("OrderID"))
        self.tasks.add_global_secondary_index(
            index_name=DUE_INDEX,
            partition_key=_number("Shard"),
            sort_key=_number("Due"),
            projection_type=dynamodb.ProjectionType.KEYS_ONLY,
        )

    def _table(
        self,
        construct_id: str,
        settings: Settings,
        *,
        partition_key: dynamodb.Attribute,
        sort_key: dynamodb.Attribute | None = None,
    ) -> dynamodb.Table:
        return dynamodb.Table(
            self,
            construct_id,
            partition_key=partition_key,
            sort_key=sort_key,
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            encryption=dynamodb.TableEncryption.AWS_MANAGED,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            deletion_protection=settings.lasting,
            removal_policy=removal(settings),
        )


def _text(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)


def _number(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.NUMBER)
