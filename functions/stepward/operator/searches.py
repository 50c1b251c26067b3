"""What a search needs of the stores: the indexes backwards, and the tasks of many keys at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from stepward.domain.errors import Unreadable
from stepward.domain.task.record import Task
from stepward.domain.workflow.plan import Plan

Listed = tuple[int, str]
"""When an index lists an order (epoch ms), and its key."""


class Searches(Protocol):
    """The orders as operators find them. Each method raises Transient; what an index lists may be stale or doubled."""

    def in_flight(self, first: int, last: int) -> Iterator[Listed]:
        """The tasks that wait for something due from `first` to `last`, the latest due first."""

    def attention(self, last: int) -> Iterator[Listed]:
        """The tasks that have waited for an operator since `last` or longer, the latest first."""

    def of_customer(self, customer: str, last: int) -> Iterator[Listed]:
        """The orders of this customer submitted up to `last`, the latest first, if the deployment has that index."""

    def tasks(self, keys: Sequence[str]) -> Iterator[tuple[Task, Plan] | Unreadable]:
        """The tasks of these keys with their plans, in any order; those that are gone are left out."""

    def every(self) -> Iterator[Task | Unreadable]:
        """Every task, in no order: a scan of the whole store."""

    def customers(self, keys: Sequence[str]) -> Mapping[str, str]:
        """The customer of each of these orders, by key; those that name none are left out."""
