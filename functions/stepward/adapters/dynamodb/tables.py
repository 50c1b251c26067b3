"""The models of the smaller tables, and the access to all; each table name gets a model class, so nothing is global."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, TypeVar

from pynamodb.attributes import BinaryAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.connection import Connection
from pynamodb.exceptions import AttributeDeserializationError, DoesNotExist
from pynamodb.indexes import GlobalSecondaryIndex
from pynamodb.models import Model

from stepward.domain.errors import Corrupt, NotUnderstood

M = TypeVar("M", bound=Model)
T = TypeVar("T")
Indexes = Mapping[str, Callable[[], GlobalSecondaryIndex[Any]]]

MOST_CONNECTIONS = 40
"""A thread of a function that finds none free would make one for a single call."""
RETRIES = 2
"""Of the SDK's standard mode; pynamodb passes no other retry setting from a model to its client."""


@dataclass(frozen=True, slots=True)
class Access:
    """Where DynamoDB is and how long a call may take; no `endpoint` means AWS's own.

    The worst case of a call, 3 tries of 1 s + 5 s, fits the shortest function timeout.
    """

    region: str
    endpoint: str | None = None
    credentials: tuple[str, str] | None = None
    """Key id and secret, for an emulator; None takes what the environment provides."""
    connection: Connection = field(init=False, compare=False, repr=False)
    """One for all tables: each further one would load the SDK's description of DynamoDB again."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "connection", Connection(host=self.endpoint, **self._settings()))

    def connect(self) -> None:
        """Make the client now: threads that need it at the same moment would each make one, each in its own session."""
        _ = self.connection.client

    def meta(self, table: str) -> type:
        """The pynamodb settings of one table."""
        return type("Meta", (), {"table_name": table, **self._settings(), "host": self.endpoint})

    def _settings(self) -> dict[str, Any]:
        key_id, secret = self.credentials or (None, None)
        return {
            "aws_access_key_id": key_id,
            "aws_secret_access_key": secret,
            "region": self.region,
            "connect_timeout_seconds": 1,
            "read_timeout_seconds": 5,
            "max_retry_attempts": RETRIES,
            "max_pool_connections": MOST_CONNECTIONS,
        }


class OrderItem(Model):
    """A row of the orders table; `customer` and `submitted` (epoch ms) list it, if the deployment has that index."""

    order_id = UnicodeAttribute(hash_key=True, attr_name="OrderID")
    body = UnicodeAttribute(attr_name="Body")
    content_hash = UnicodeAttribute(attr_name="ContentHash")
    write_id = UnicodeAttribute(attr_name="WriteId")
    customer = UnicodeAttribute(attr_name="Customer", null=True)
    submitted = NumberAttribute(attr_name="Submitted", null=True)


class RejectItem(Model):
    """One part of a rejected message.

    `day` is its UTC date and shard, `key` its arrival, message id and part number; `kept_at` the key of the object that
    is its body, if that is large.
    """

    day = UnicodeAttribute(hash_key=True, attr_name="Day")
    key = UnicodeAttribute(range_key=True, attr_name="Key")
    source = UnicodeAttribute(attr_name="Source")
    field = UnicodeAttribute(attr_name="Field")
    reason = UnicodeAttribute(attr_name="Reason")
    order_id = UnicodeAttribute(attr_name="OrderID", null=True)
    body = BinaryAttribute(attr_name="Body", legacy_encoding=False)
    kept_at = UnicodeAttribute(attr_name="BodyKey", null=True)


class SharedRecordItem(Model):
    """A small record that all instances share."""

    name = UnicodeAttribute(hash_key=True, attr_name="Name")
    revision = NumberAttribute(attr_name="Revision")
    write_id = UnicodeAttribute(attr_name="WriteId")
    body = UnicodeAttribute(attr_name="Body")


def readable(model: type[Model], from_raw_data: Callable[[dict[str, Any]], M], data: dict[str, Any]) -> M:
    """What `from_raw_data` makes of an item of `model` in DynamoDB's JSON.

    Raises Corrupt with the order's id, or NotUnderstood for an attribute that only newer code knows: who writes the
    item again would drop it.
    """
    try:
        _check_known(model, data)
        return from_raw_data(data)
    except NotUnderstood as error:
        due = data.get("Due", {}).get("N")
        raise error.of(data["OrderID"]["S"], int(due) if due else None) from error
    except (AttributeDeserializationError, Corrupt, LookupError, AttributeError, ValueError) as error:
        raise Corrupt(f"{data['OrderID']['S']}: {error}") from error


def _check_known(model: type[Model], data: dict[str, Any]) -> None:
    if newer := sorted(data.keys() - {each.attr_name for each in model.get_attributes().values()}):
        raise NotUnderstood(f"an item with {', '.join(newer)}")


def _indexes(model: type[Model]) -> dict[str, GlobalSecondaryIndex[Any]]:
    """A model's own indexes: those in a class body would be shared, and read the table bound last."""
    kinds: Indexes = getattr(model, "INDEXES", {})
    return {name: kind() for name, kind in kinds.items()}


def bound(model: type[M], table: str, access: Access) -> type[M]:
    """`model` on the table named `table`."""
    made: type[M] = type(model.__name__, (model,), {"Meta": access.meta(table), **_indexes(model)})
    reached = made._get_connection()  # noqa: SLF001 - pynamodb offers no other way to share a connection
    with suppress(ValueError):  # the keys of a table that two models share are known already
        access.connection.add_meta_table(reached.get_meta_table())
    reached.connection = access.connection
    return made


def find(model: type[M], key: str, range_key: str | None = None) -> M | None:
    """The row under `key`, read consistently; None if there is none."""
    try:
        return model.get(key, range_key, consistent_read=True)
    except DoesNotExist:
        return None


def whole(number: float) -> int:
    """The number as an int; raises ValueError if it has a fraction."""
    if number != int(number):
        raise ValueError(f"{number} is not a whole number")
    return int(number)


def merged(
    sorted_parts: Iterable[Iterator[T]], key: Callable[[T], Any] | None = None, *, reverse: bool = False
) -> Iterator[T]:
    """All of these in one order; the beginning of each is read side by side, the rest when its turn comes."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only people's lists need it
    from heapq import merge  # noqa: PLC0415

    parts = list(sorted_parts)
    with ThreadPoolExecutor(len(parts)) as threads:
        begun = list(threads.map(lambda part: list(islice(part, 1)), parts))
    yield from merge(*map(chain, begun, parts), key=key, reverse=reverse)
