"""The state store, the orders and the rejects in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any

from stepward.domain.errors import Rejected
from stepward.domain.rejects import Reject
from stepward.domain.submission import Order, Submission
from stepward.domain.task.record import Loaded, NewerPlan, ProcessState, StepRecord, Task
from stepward.domain.wish import Wish
from stepward.domain.workflow.plan import Plan
from stepward.wire.strict_json import parse


@dataclass(slots=True)
class MemoryTaskStore:
    """Orders, tasks and plans in dictionaries, with the same conditions on each write; safe under threads.

    A write that is repeated after a lost answer knows its own: the very object is there. `newer` are the ids of plans
    that this code does not know.
    """

    shard_of: Callable[[str], int]
    orders: dict[str, Order] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)
    plans: dict[str, Plan] = field(default_factory=dict)
    lock: RLock = field(default_factory=RLock)
    wishes: dict[str, Wish] = field(default_factory=dict, kw_only=True)
    results: dict[tuple[str, str, int], Mapping[str, Any]] = field(default_factory=dict, kw_only=True)
    written: dict[str, Task] = field(default_factory=dict, kw_only=True)
    newer: set[str] = field(default_factory=set, kw_only=True)

    def find(self, order_id: str) -> Order | None:
        """The order under this id; None if there is none."""
        return self.orders.get(order_id)

    def submit(self, order: Order, task: Task, plan: Plan, *, meets: Wish | None = None) -> Submission | Wish:
        """Store order and task, or neither; see the port."""
        with self.lock:
            before = self.orders.get(order.order_id)
            if before is order:
                return Submission.ACCEPTED
            if before is not None:
                same = before.content_hash == order.content_hash
                return Submission.DUPLICATE if same else Submission.CONFLICT
            if (wish := self.wishes.get(order.order_id)) and wish != meets:
                return wish
            self.wishes.pop(order.order_id, None)
            self.plans[plan.plan_id] = plan
            self.orders[order.order_id] = order
            self.tasks[order.order_id] = task
            return Submission.ACCEPTED

    def load(self, order_id: str, *, with_order: bool = True) -> Loaded | None:
        """Task, plan and order at their latest revision; see the port."""
        with self.lock:
            task = self.tasks.get(order_id)
            if task is None:
                return None
            if task.plan_id in self.newer:
                raise NewerPlan(task, f"plan {task.plan_id}")
            body = parse(self.orders[order_id].body) if with_order else {}
            return Loaded(task, self.plans[task.plan_id], body if isinstance(body, dict) else {})

    def save(self, task: Task, *, replaces: Task) -> bool:
        """Replace the task at the revision that was read; see the port."""
        with self.lock:
            now = self.tasks.get(task.order_id)
            if now is task or self.written.get(task.order_id) is task:
                return True
            if now is None or (now.revision, now.created_at) != (replaces.revision, replaces.created_at):
                return False
            self.tasks[task.order_id] = self._without_large_results(task)
            return True

    def _without_large_results(self, task: Task) -> Task:
        """The task, whose new large results are kept by themselves."""
        new = {name: record for name, record in task.steps.items() if record.size and record.result is not None}
        for record in new.values():
            self.results[record.order_id, record.name, record.attempt] = record.result or {}
        if not new:
            return task
        self.written[task.order_id] = task
        return replace(task, steps={**task.steps, **{name: replace(each, result=None) for name, each in new.items()}})

    def result(self, record: StepRecord) -> Mapping[str, Any]:
        """The large result of a step; see the port."""
        return self.results[record.order_id, record.name, record.attempt]

    def remember(self, wish: Wish, *, replaces: Wish | None = None) -> Wish | None:
        """Store a wish where nothing is, or what it replaces; see the port."""
        with self.lock:
            if wish.order_id in self.tasks:
                return None
            if wish.order_id in self.orders:
                raise Rejected("orderId", f"{wish.order_id!r} has ended, and its task was deleted since")
            if self.wishes.get(wish.order_id) == replaces:
                self.wishes[wish.order_id] = wish
            return self.wishes.setdefault(wish.order_id, wish)

    def wish(self, order_id: str) -> Wish | None:
        """The wish that waits for this order; see the port."""
        return self.wishes.get(order_id)

    def drop(self, wish: Wish) -> None:
        """Drop a wish that has expired; see the port."""
        with self.lock:
            if self.wishes.get(wish.order_id) == wish:
                del self.wishes[wish.order_id]

    def due(self, shard: int, until: int) -> Iterator[str]:
        """The due tasks of one shard, oldest first; see the port."""
        with self.lock:
            found: list[Task | Wish] = [*self.tasks.values(), *self.wishes.values()]
            waiting = [(one.due, one.order_id) for one in found if one.due is not None]
        yield from (order_id for due, order_id in sorted(waiting) if due <= until and self.shard_of(order_id) == shard)

    def needing_attention(self) -> Iterator[str]:
        """The tasks that wait for an operator, oldest first; see the port."""
        waiting = [(task.needs_attention, task.order_id) for task in self.tasks.values() if task.needs_attention]
        yield from [order_id for _, order_id in sorted(waiting)]

    def every(self, state: ProcessState | None) -> Iterator[Task]:
        """Every task in `state`; see the port."""
        yield from [task for task in self.tasks.values() if state in (None, task.process_state)]


@dataclass(slots=True)
class MemoryRejects:
    """The rejects in memory."""

    kept: dict[tuple[int, str], Reject] = field(default_factory=dict)

    def keep(self, reject: Reject) -> None:
        """Store it under its arrival and id; see the port."""
        self.kept[reject.received_at, reject.message_id] = reject

    def newest(self, limit: int) -> list[Reject]:
        """The newest rejects, newest first; see the port."""
        return [self.kept[key] for key in sorted(self.kept, reverse=True)[:limit]]

    def whole(self, reject: Reject) -> Reject:
        """The reject itself; see the port."""
        return reject
