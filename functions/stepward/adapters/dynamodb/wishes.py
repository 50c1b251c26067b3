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
from stepward.domain.errors import Corrupt, NotUnderstood, Rejected, wrong_with
from stepward.domain.messages import Cancel, SignalGiven
from stepward.domain.wish import Kept, Wish
from stepward.wire.checked_text import MAX_DEPTH
from stepward.wire.strict_json import canonical, parse

_WISH = "Wish"
NO_WISH: Condition = Path(_WISH).does_not_exist()
_OF_CANCELLATION = {"who": "who", "why": "why", "customerId": "customer_id"}
_OF_SIGNAL = {
    "step": "step",
    "signalId": "signal_id",
    "data": "data",
    "refused": "refused",
    "who": "who",
    "door": "door",
    "customerId": "customer_id",
}
_RARE = ("customerId", "refused")
_DEEPEST = MAX_DEPTH + 3


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

    def put(self, wish: Wish, replaces: Wish | None) -> bool:
        """Put it if nothing is in its place, or what it replaces; whether it did."""
        free = self.items.order_id.does_not_exist()
        place = free | is_still(replaces) if replaces else free
        return put_if(self._item(wish), place, f"remember a wish about {wish.order_id}")

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
    """A single cancellation is a text that older code can read; of any other wish it says that it cannot."""
    kept = [_fields(each) for each in wish.kept]
    is_plain = len(kept) == 1 and isinstance(wish.kept[0].event, Cancel)
    return canonical(kept[0] if is_plain else {"kept": kept}, _DEEPEST)


def _fields(kept: Kept) -> dict[str, Any]:
    names = _OF_CANCELLATION if isinstance(kept.event, Cancel) else _OF_SIGNAL
    given = {key: getattr(kept.event, name) for key, name in names.items()}
    return {"at": kept.at} | {key: value for key, value in given.items() if value or key not in _RARE}


def _wish(order_id: str, text: str) -> Wish:
    try:
        content: Any = parse(text, _DEEPEST)
        return Wish(order_id, tuple(_kept(order_id, each) for each in content.get("kept", [content])))
    except (AttributeError, LookupError, TypeError, Rejected) as error:
        raise Corrupt(f"{order_id}: its wish: {wrong_with(error)}") from error


def _kept(order_id: str, content: Any) -> Kept:
    is_signal = "step" in content
    names = _OF_SIGNAL if is_signal else _OF_CANCELLATION
    if newer := sorted(content.keys() - names - {"at"}):
        raise NotUnderstood(f"{order_id}: a wish with {', '.join(newer)}")
    given = {name: content.get(key, "") if key in _RARE else content[key] for key, name in names.items()}
    return Kept(content["at"], SignalGiven(order_id, **given) if is_signal else Cancel(order_id, **given))
