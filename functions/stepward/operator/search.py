"""Finds orders by the indexes: the newest first, page by page, at a cost that does not grow with their number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from heapq import merge
from itertools import chain, dropwhile, islice

from stepward.domain.errors import Rejected, Unreadable
from stepward.domain.task.record import ENDED, IN_ERROR
from stepward.operator.connection import Connection
from stepward.operator.filters import Filter
from stepward.operator.rows import Row, row_of
from stepward.operator.searches import Listed

MOST_READ = 1_000
"""Orders that one search reads before it says that there may be more."""
AT_ONCE = 100
SOON_MS = 900_000
"""A new order is due within this time, unless its Supervisor has found it waiting for something later."""
LATEST, _LAST = 2**53, "\U0010ffff"


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the orders found, the newest first; `more` if there may be others, which begin `after` this.

    `read` counts the orders that were read, `corrupt` says what is wrong with those that cannot be.
    """

    rows: tuple[Row, ...]
    more: bool
    read: int
    after: str = ""
    corrupt: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """How far a search has come: `of` 0 for what is due soon or waits for an operator, 1 for what is due later.

    `waits` if the index of those that wait for an operator lists it there.
    """

    of: int
    soon: int
    at: int
    key: str
    waits: bool = False

    @staticmethod
    def read(text: str) -> Place:
        """The place that `str` wrote; raises Rejected."""
        try:
            of, soon, at, key = text.split(" ", 3)
            return Place(int(of), int(soon), int(at), key)
        except ValueError as error:
            raise Rejected(
                "after", f"{text!r} is no place where a search ended; copy it from what that search printed"
            ) from error

    def __str__(self) -> str:
        return f"{self.of} {self.soon} {self.at} {self.key}"


def search(
    connection: Connection,
    wish: Filter,
    limit: int = 50,
    after: str = "",
    *,
    most_read: int = MOST_READ,
    only_waiting: bool = False,
) -> Page:
    """The orders that match `wish`, at most `limit`, from where a page before ended; raises Rejected or Transient.

    They are those in flight, unless it is about `only_waiting`, and those that wait for an operator. Rejected says what
    no index can answer.
    """
    if wish.equal("id"):
        return _exact(connection, wish)
    check_answerable(connection, wish)
    begun = Place.read(after) if after else begin(connection.now())
    corrupt: list[str] = []
    found = _found(
        connection, listed(connection, wish, begun, only_waiting=only_waiting), wish, corrupt, min(AT_ONCE, limit + 1)
    )
    rows: list[Row] = []
    read, place = 0, begun
    for at, row in islice(found, most_read):
        read, place = read + 1, at
        rows += [row] if row else []
        if len(rows) == limit:
            break
    more = (len(rows) == limit or read == most_read) and next(found, None) is not None
    return Page(tuple(sorted(rows, key=_newest)), more, read, str(place) if more else "", tuple(corrupt))


def matching(connection: Connection, wish: Filter, corrupt: list[str]) -> Iterator[Row]:
    """Every order that matches, however many there are, each once: what a command for many is for."""
    if wish.equal("id"):
        yield from _exact(connection, wish).rows
        return
    check_answerable(connection, wish)
    places = listed(connection, wish, begin(connection.now()))
    yield from (row for _, row in _found(connection, places, wish, corrupt, AT_ONCE) if row)


def _found(
    connection: Connection, listed: Iterator[Place], wish: Filter, corrupt: list[str], at_once: int
) -> Iterator[tuple[Place, Row | None]]:
    """What is listed, each with its row if it matches and was not found before.

    An order that waits for an operator may be due, too: only one of the two indexes counts, on whatever page.
    """
    seen: set[str] = set()
    for some in iter(lambda: list(islice(listed, at_once)), []):
        rows = read_rows(connection, [*{place.key for place in some} - seen], wish, corrupt)
        for place in some:
            row = rows.get(place.key)
            if row is None or (row.waits and not place.waits) or not wish.matches(row):
                yield place, None
                continue
            seen.add(place.key)
            yield place, rows.pop(place.key)


def read_rows(connection: Connection, keys: list[str], wish: Filter, corrupt: list[str]) -> dict[str, Row]:
    """The rows of these orders as they are now, with their customers if the wish is about them."""
    customers: Mapping[str, str] = connection.searches.customers(keys) if wish.names("customer") else {}
    rows: dict[str, Row] = {}
    for found in connection.searches.tasks(keys):
        if isinstance(found, Unreadable):
            corrupt.append(str(found))
            continue
        task = found[0]
        rows[task.order_id] = row_of(task, connection.deployment.keys.default, customers.get(task.order_id, ""))
    return rows


def check_answerable(connection: Connection, wish: Filter) -> None:
    """Raise Rejected if no index lists what the wish is about."""
    if (state := wish.equal("state")) in ENDED and not _by_customer(connection, wish):
        reason = f"no index lists the orders that are {state}; add --scan, which reads the whole state store"
        raise Rejected("where", reason)


def unanswered(connection: Connection, wish: Filter) -> str:
    """What a search leaves out that the wish may mean, in a sentence; "" if nothing."""
    if since := _by_customer(connection, wish):
        return (
            f"The index of customers has the orders that were submitted since {since}; older ones were not looked at."
        )
    if wish.equal("id") or wish.equal("state"):
        return ""
    if wish.names("customer"):
        return "Only orders in flight or waiting for an operator were looked at: no index lists all of a customer's."
    return "Orders that have ended are in no index, and were not looked at."


def _by_customer(connection: Connection, wish: Filter) -> str:
    """Since when an index lists all that the wish is about; "" if none does."""
    return connection.deployment.customer_index_since if wish.equal("customer") else ""


def _exact(connection: Connection, wish: Filter) -> Page:
    named = wish.equal("id")
    keys = connection.deployment.keys
    key = named if "~" in named or "#" in named else keys.key(named, wish.equal("customer"), wish.equal("workflow"))
    corrupt: list[str] = []
    found = [row for row in read_rows(connection, [key], wish, corrupt).values() if wish.matches(row)]
    return Page(tuple(found), more=False, read=1, corrupt=tuple(corrupt))


def begin(now: int) -> Place:
    """Where a search begins."""
    return Place(0, now + SOON_MS, LATEST, _LAST)


def listed(connection: Connection, wish: Filter, place: Place, *, only_waiting: bool = False) -> Iterator[Place]:
    """Everything that the indexes list and that the wish may mean, from `place` on."""
    searches, state = connection.searches, wish.equal("state")
    waiting = () if place.of else searches.attention(place.at)
    if _by_customer(connection, wish):
        return _from(place, searches.of_customer(wish.equal("customer"), place.at), waits=True)
    if only_waiting or state in IN_ERROR:
        return _from(place, waiting, waits=True)
    soon = () if place.of else searches.in_flight(0, min(place.soon, place.at))
    later = searches.in_flight(place.soon + 1, place.at if place.of else LATEST)
    begun = merge(
        _from(place, waiting, waits=True), _from(place, soon), key=lambda each: (each.at, each.key), reverse=True
    )
    return chain(begun, _from(place if place.of else replace(place, of=1, at=LATEST, key=_LAST), later))


def _from(place: Place, listed: Iterator[Listed] | tuple[()], *, waits: bool = False) -> Iterator[Place]:
    rest = dropwhile(lambda each: each >= (place.at, place.key), listed)
    return (Place(place.of, place.soon, at, key, waits) for at, key in rest)


def _newest(row: Row) -> tuple[int, str]:
    return -row.since, row.key
