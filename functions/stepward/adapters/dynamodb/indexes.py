"""The two sparse indexes of the state store and of the lanes; both hold keys only."""

from __future__ import annotations

from pynamodb.attributes import NumberAttribute
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection

from stepward.adapters.dynamodb.tables import M


class DueIndex(GlobalSecondaryIndex[M]):  # type: ignore[no-untyped-call]
    """What somebody has to look at, by shard and time."""

    class Meta:
        """Its name in the table, and that it holds keys only."""

        index_name = "due"
        projection = KeysOnlyProjection()

    shard = NumberAttribute(hash_key=True, attr_name="Shard")
    due = NumberAttribute(range_key=True, attr_name="Due")


class AttentionIndex(GlobalSecondaryIndex[M]):  # type: ignore[no-untyped-call]
    """What waits for an operator, the oldest first."""

    class Meta:
        """Its name in the table, and that it holds keys only."""

        index_name = "attention"
        projection = KeysOnlyProjection()

    attention = NumberAttribute(hash_key=True, attr_name="Attention")
    since = NumberAttribute(range_key=True, attr_name="Since")
