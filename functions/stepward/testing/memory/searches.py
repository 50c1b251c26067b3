"""The indexes of the state store in memory, as operators search them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stepward.domain.task.record import Task
from stepward.domain.workflow.plan import Plan
from stepward.testing.memory.task_store import MemoryTaskStore
from stepward.wire.strict_json import parse

Listed = tuple[int, str]


@dataclass(frozen=True, slots=True)
class MemorySearches:
    """Sorts what the indexes would list."""

    store: MemoryTaskStore

    def in_flight(self, first: int, last: int) -> Iterator[Listed]:
        """The tasks due from `first` to `last`, the latest due first."""
        listed = [(task.due, key) for key, task in self.store.tasks.items() if task.due and first <= task.due <= last]
        yield from sorted(listed, reverse=True)

    def attention(self, last: int) -> Iterator[Listed]:
        """The tasks that have waited for an operator since `last` or longer, the latest first."""
        found = ((task.needs_attention, key) for key, task in self.store.tasks.items())
        yield from sorted(((at, key) for at, key in found if at is not None and at <= last), reverse=True)

    def of_customer(self, customer: str, last: int) -> Iterator[Listed]:
        """The orders of this customer that were submitted up to `last`, the latest first."""
        of = self.customers(list(self.store.tasks))
        found = [(task.created_at, key) for key, task in self.store.tasks.items() if of.get(key) == customer]
        yield from sorted((each for each in found if each[0] <= last), reverse=True)

    def tasks(self, keys: Sequence[str]) -> Iterator[tuple[Task, Plan]]:
        """The tasks of these keys with their plans."""
        found = (self.store.tasks.get(key) for key in keys)
        yield from ((task, self.store.plans[task.plan_id]) for task in found if task)

    def every(self) -> Iterator[Task]:
        """Every task."""
        return self.store.every(None)

    def customers(self, keys: Sequence[str]) -> Mapping[str, str]:
        """The customer of each of these orders, if it names one."""
        orders = {key: parse(self.store.orders[key].body) for key in keys if key in self.store.orders}
        named = {key: order.get("customerId") for key, order in orders.items() if isinstance(order, dict)}
        return {key: str(customer) for key, customer in named.items() if customer}
