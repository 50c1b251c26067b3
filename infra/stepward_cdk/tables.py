"""The tables: orders, tasks, lanes, rejects and shared records."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

from stepward_cdk.queues import removal
from stepward_cdk.settings.settings import Settings

DUE_INDEX, ATTENTION_INDEX, CUSTOMER_INDEX = "due", "attention", "customer"
EXPIRY = "ExpiresAt"
_RESTORABLE = dynamodb.PointInTimeRecoverySpecification(point_in_time_recovery_enabled=True)


class Tables(Construct):
    """On demand, restorable to any second of the last 35 days, and in production protected from deletion.

    Orders, tasks, lanes and rejects have replicas if the deployment names regions for them. Shared records never have
    any: leases and breakers belong to one region.
    """

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self._settings = settings
        waiting = [
            _keys_only(DUE_INDEX, _number("Shard"), _number("Due")),
            _keys_only(ATTENTION_INDEX, _number("Attention"), _number("Since")),
        ]
        by_customer = _keys_only(CUSTOMER_INDEX, _text("Customer"), _number("Submitted"))
        found_by = [by_customer] if settings.customer_index_since else []
        orders = self._lasting("Orders", partition_key=_text("OrderID"), indexes=found_by)
        rejects = self._lasting("Rejects", partition_key=_text("Day"), sort_key=_text("Key"))
        tasks = self._lasting("Tasks", partition_key=_text("OrderID"), expiry=EXPIRY, indexes=waiting)
        lanes = self._lasting("Lanes", partition_key=_text("OrderID"), sort_key=_text("Position"), indexes=waiting)
        self.orders = self._restored("orders", CUSTOMER_INDEX) or orders
        self.rejects = self._restored("rejects") or rejects
        self.tasks = self._restored("tasks", DUE_INDEX, ATTENTION_INDEX) or tasks
        self.lanes = self._restored("lanes", DUE_INDEX, ATTENTION_INDEX) or lanes
        self.shared_records = self._table("SharedRecords", partition_key=_text("Name"))

    def _restored(self, name: str, *indexes: str) -> dynamodb.ITable | None:
        """The table that the deployment names in place of its own. Its own stays, as the way back."""
        if not (table := self._settings.restored.get(name)):
            return None
        return dynamodb.Table.from_table_attributes(
            self, f"Restored-{name}", table_name=table, global_indexes=list(indexes)
        )

    def _lasting(
        self,
        construct_id: str,
        *,
        partition_key: dynamodb.Attribute,
        sort_key: dynamodb.Attribute | None = None,
        expiry: str | None = None,
        indexes: Sequence[dynamodb.GlobalSecondaryIndexPropsV2] = (),
    ) -> dynamodb.ITable:
        if self._settings.replica_regions:
            return self._global_table(
                construct_id, partition_key=partition_key, sort_key=sort_key, expiry=expiry, indexes=indexes
            )
        table = self._table(construct_id, partition_key=partition_key, sort_key=sort_key, expiry=expiry)
        for index in indexes:
            table.add_global_secondary_index(
                index_name=index.index_name,
                partition_key=index.partition_key,
                sort_key=index.sort_key,
                projection_type=index.projection_type,
            )
        return table

    def _table(
        self,
        construct_id: str,
        *,
        partition_key: dynamodb.Attribute,
        sort_key: dynamodb.Attribute | None = None,
        expiry: str | None = None,
    ) -> dynamodb.Table:
        return dynamodb.Table(
            self,
            construct_id,
            partition_key=partition_key,
            sort_key=sort_key,
            time_to_live_attribute=expiry,
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            encryption=dynamodb.TableEncryption.AWS_MANAGED,
            point_in_time_recovery_specification=_RESTORABLE,
            deletion_protection=self._settings.lasting,
            removal_policy=removal(self._settings),
        )

    def _global_table(
        self,
        construct_id: str,
        *,
        partition_key: dynamodb.Attribute,
        sort_key: dynamodb.Attribute | None,
        expiry: str | None,
        indexes: Sequence[dynamodb.GlobalSecondaryIndexPropsV2],
    ) -> dynamodb.TableV2:
        return dynamodb.TableV2(
            self,
            construct_id,
            partition_key=partition_key,
            sort_key=sort_key,
            time_to_live_attribute=expiry,
            global_secondary_indexes=list(indexes),
            billing=dynamodb.Billing.on_demand(),
            encryption=dynamodb.TableEncryptionV2.aws_managed_key(),
            point_in_time_recovery_specification=_RESTORABLE,
            deletion_protection=self._settings.lasting,
            removal_policy=removal(self._settings),
            replicas=[dynamodb.ReplicaTableProps(region=region) for region in self._settings.replica_regions],
        )


def _keys_only(
    name: str, partition_key: dynamodb.Attribute, sort_key: dynamodb.Attribute
) -> dynamodb.GlobalSecondaryIndexPropsV2:
    return dynamodb.GlobalSecondaryIndexPropsV2(
        index_name=name,
        partition_key=partition_key,
        sort_key=sort_key,
        projection_type=dynamodb.ProjectionType.KEYS_ONLY,
    )


def _text(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)


def _number(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.NUMBER)
