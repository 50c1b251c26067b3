"""Wishes about orders that have not come yet, in the state store's table: each under the key of its order's task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.operand import Path

from stepward.adapters.dynamodb.failures import translated
from stepward.adapters.dynamodb.indexes import IndexedItem, listing
from stepward.adapters.dynamodb.tables import find
from stepward.adapters.dynamodb.writes import put_if
from stepward.domain.errors import Corrupt, Rejected, wrong_with
from stepward.domain.wish import Wish
from stepward.wire.strict_json import canonical, parse

_WISH = "Wish"
NO_WISH: Condition = Path(_WISH).does_not_exist()


class WishItem(IndexedItem):
    """A wish; `expires_at` (epoch seconds) is set once it has expired."""

    wish = UnicodeAttribute(attr_name=_WISH, null=True)
    expires_at = NumberAttribute(attr_name="ExpiresAt", null=True)

    @classmethod
    def from_raw_data(cls, data: dict[str, Any]) -> Self:
        """The item in DynamoDB's JSON; it may be a task, whose own attributes are passed over."""
        return super(IndexedItem, cls).from_raw_data(data)


@dataclass(frozen=True, slots=True)
class DynamoWishes:
    """The wishes in the table of the tasks."""

    items: type[WishItem]
    shards: int
    new_id: Callable[[], str]

    def of(self, order_id: str) -> Wish | None:
        """The wish about this order, read consistently; None if there is none. Raises Transient or Corrupt."""
        with translated(f"read the wish about {order_id}"):
            item = find(self.items, order_id)
        return _wish(order_id, item.wish) if item and item.wish else None

    def put(self, wish: Wish) -> bool:
        """Put it if nothing is in its place; whether it did."""
        return put_if(self._item(wish), self.items.order_id.does_not_exist(), f"remember a wish about {wish.order_id}")

    def drop(self, wish: Wish) -> None:
        """Leave it for DynamoDB to delete, and list it as due no more, unless the order has come."""
        put_if(self._item(wish, dropped=True), is_still(wish), f"drop the wish about {wish.order_id}")

    def _item(self, wish: Wish, *, dropped: bool = False) -> WishItem:
        due = None if dropped else wish.due
        return self.items(
            wish.order_id,
            revision=0,
            write_id=self.new_id(),
            wish=_text(wish),
            expires_at=wish.due // 1000 if dropped else None,
            **listing(wish.order_id, self.shards, due=due, since=None),
        )


def is_wish(raw: Mapping[str, Any]) -> bool:
    """Whether an item in DynamoDB's JSON is a wish and no task."""
    return _WISH in raw


def is_still(wish: Wish) -> Condition:
    """Whether this very wish is still in its place."""
    return WishItem.wish == _text(wish)


def _text(wish: Wish) -> str:
    customer = {"customerId": wish.customer_id} if wish.customer_id else {}
    return canonical({"who": wish.who, "why": wish.why, "at": wish.at, **customer})


def _wish(order_id: str, text: str) -> Wish:
    try:
        content: Any = parse(text)
        return Wish(order_id, content["who"], content["why"], content["at"], content.get("customerId", ""))
    except (LookupError, TypeError, Rejected) as error:
        raise Corrupt(f"{order_id}: its wish: {wrong_with(error)}") from error
