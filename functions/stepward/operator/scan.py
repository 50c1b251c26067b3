"""Finds orders by reading the state store, all of it or the beginning: only for who asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from heapq import nlargest
from itertools import islice

from stepward.domain.errors import Unreadable
from stepward.domain.task.record import Task
from stepward.operator.connection import Connection
from stepward.operator.filters import Filter
from stepward.operator.rows import Row, row_of
from stepward.operator.search import AT_ONCE, MOST_READ, Page, begin, listed


def scan(connection: Connection, wish: Filter, limit: int) -> Page:
    """The newest `limit` orders of all that match: reads the whole state store."""
    corrupt: list[str] = []
    total = 0

    def rows() -> Iterator[Row]:
        nonlocal total
        for task in connection.searches.every():
            total += 1
            if isinstance(task, Task):
                yield row_of(task, connection.deployment.keys.default)
            else:
                corrupt.append(str(task))

    without = replace(wish, terms=tuple(term for term in wish.terms if term.field != "customer"))
    matching = (row for row in rows() if without.matches(row))
    if wish.names("customer"):
        matching = (row for row in _with_customers(connection, matching) if wish.matches(row))
    found = nlargest(limit + 1, matching, key=lambda row: (row.submitted, row.key))
    return Page(tuple(found[:limit]), len(found) > limit, total, "", tuple(corrupt))


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest tasks; `more` if others match, `whole` if the whole store was read: no newer one is missing."""

    tasks: tuple[Task, ...]
    more: bool
    whole: bool
    corrupt: tuple[str, ...]


def newest(connection: Connection, is_wanted: Callable[[Task], bool], limit: int, *, scan: bool = False) -> Newest:
    """The newest `limit` tasks that are wanted: of all, with `scan`; else of the first MOST_READ and the indexes'."""
    every, tasks, corrupt = connection.searches.every(), dict[str, Task](), list[str]()
    for found in every if scan else islice(every, MOST_READ):
        _take(found, tasks, corrupt)
    whole = scan or next(every, None) is None
    if not whole:
        places = listed(connection, Filter(), begin(connection.now()))
        for read in connection.searches.tasks(list(dict.fromkeys(place.key for place in islice(places, MOST_READ)))):
            _take(read[0] if isinstance(read, tuple) else read, tasks, corrupt)
    best = nlargest(limit + 1, filter(is_wanted, tasks.values()), key=lambda task: (task.created_at, task.order_id))
    return Newest(tuple(best[:limit]), len(best) > limit, whole, tuple(dict.fromkeys(corrupt)))


def _take(found: Task | Unreadable, tasks: dict[str, Task], corrupt: list[str]) -> None:
    if isinstance(found, Task):
        tasks[found.order_id] = found
    else:
        corrupt.append(str(found))


def _with_customers(connection: Connection, rows: Iterator[Row]) -> Iterator[Row]:
    for some in iter(lambda: list(islice(rows, AT_ONCE)), []):
        customers = connection.searches.customers([row.key for row in some])
        yield from (replace(row, customer=customers.get(row.key, row.customer)) for row in some)
