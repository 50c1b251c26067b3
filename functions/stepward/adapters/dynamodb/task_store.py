"""The state store: one item per task, one conditional write on its revision per change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from pynamodb.connection import Connection
from pynamodb.models import Model

from stepward.adapters.dynamodb.failures import translated
from stepward.adapters.dynamodb.indexes import PAGE, due_in, listing, needing_attention
from stepward.adapters.dynamodb.orders import DynamoOrders, body_of
from stepward.adapters.dynamodb.tables import OrderItem, find, whole
from stepward.adapters.dynamodb.task_items import RESULT_PREFIX, DynamoResults, PlanItem, TaskItem
from stepward.adapters.dynamodb.task_records import decode_history, decode_parent, encode_history, encode_parent
from stepward.adapters.dynamodb.wishes import NO_WISH, DynamoWishes, is_still, is_wish
from stepward.adapters.dynamodb.writes import TRIES, is_own, put_all_if, put_if
from stepward.domain.errors import (
    Corrupt,
    Misconfigured,
    NotUnderstood,
    Rejected,
    Transient,
    Unreadable,
    known,
    wrong_with,
)
from stepward.domain.submission import Order, Submission
from stepward.domain.task.record import Loaded, NewerPlan, ProcessState, StepRecord, Task, TimeLimit
from stepward.domain.wish import Wish
from stepward.domain.workflow.plan import Plan

PLAN_PREFIX = "~plan#"
"""No order id can begin with it."""


@dataclass(frozen=True, slots=True)
class DynamoTaskStore:
    """The state store on three models of two tables; `new_id` gives a unique id for each write."""

    orders: DynamoOrders | None
    """None for a function that needs no orders."""
    tasks: type[TaskItem]
    plans: type[PlanItem]
    results: DynamoResults
    wishes: DynamoWishes
    connection: Connection
    shards: int
    new_id: Callable[[], str]
    keep_finished: int = 0
    """DynamoDB may delete a task this many seconds after its end; 0 keeps all tasks."""
    known_plans: dict[str, Plan] = field(default_factory=dict)

    def submit(self, order: Order, task: Task, plan: Plan, *, meets: Wish | None = None) -> Submission | Wish:
        """Put order and task in one transaction, the plan before it; see the port."""
        self._store_plan(plan)
        write_id, free = self.new_id(), TaskItem.order_id.does_not_exist()
        both = (
            (self._orders.row(order, write_id, task.created_at), OrderItem.order_id.does_not_exist()),
            (self._item(task, write_id), free | is_still(meets) if meets else free),
        )
        if put_all_if(self.connection, both, f"submit {order.order_id}"):
            return Submission.ACCEPTED
        if found := self._orders.submitted_before(order, write_id) or self.wish(order.order_id):
            return found
        raise Transient(f"submit {order.order_id}: its task is there, its order is not")

    def remember(self, wish: Wish, *, replaces: Wish | None = None) -> Wish | None:
        """Put a wish under the key of the task; see the port."""
        if self._orders.find(wish.order_id) and self.load(wish.order_id, with_order=False) is None:
            raise Rejected("orderId", f"{wish.order_id!r} has ended, and its task was deleted since")
        return wish if self.wishes.put(wish, replaces) else self.wish(wish.order_id)

    def wish(self, order_id: str) -> Wish | None:
        """The wish under the key of the task; see the port."""
        return self.wishes.of(order_id)

    def drop(self, wish: Wish) -> None:
        """Leave the wish for DynamoDB to delete; see the port."""
        self.wishes.drop(wish)

    def load(self, order_id: str, *, with_order: bool = True) -> Loaded | None:
        """Task and order in one call, the plan from memory where it is known; see the port.

        The task is read consistently. An order never changes, so its row is read from a replica, at half the price, and
        again consistently only if the replica lacks it.
        """
        with translated(f"read task {order_id}"):
            found = self._read(order_id, {self.tasks: True} | ({self._orders.table: False} if with_order else {}))
            if with_order and list(found) == [self.tasks.Meta.table_name]:
                found |= self._read(order_id, {self._orders.table: True})
        if (raw_task := found.get(self.tasks.Meta.table_name)) is None or is_wish(raw_task):
            return None
        task = _task(self.tasks.from_raw_data(raw_task))
        with _naming(task):
            order = body_of(found.get(self._orders.table.Meta.table_name, {})) if with_order else {}
            return Loaded(task, self._plan_of(task), order)

    def load_many(self, order_ids: Sequence[str]) -> Iterator[tuple[Task, Plan] | Unreadable]:
        """Up to 100 tasks with their plans, in one call and in any order; those that are gone are left out.

        Raises Transient. They are read from a replica, at half the price.
        """
        with translated(f"read {len(order_ids)} tasks"):
            rows = self._read_many(order_ids, {self.tasks: False}, f"{len(order_ids)} tasks")
        yield from (self._with_plan(row) for row in rows.get(self.tasks.Meta.table_name, []) if not is_wish(row))

    @property
    def order_table(self) -> str:
        """The name of the orders table."""
        return self._orders.table.Meta.table_name

    def order_rows(self, order_ids: Sequence[str]) -> Sequence[dict[str, Any]]:
        """The rows of up to 100 orders, as `load_many` reads the tasks; raises Transient."""
        with translated(f"read {len(order_ids)} orders"):
            rows = self._read_many(order_ids, {self._orders.table: False}, f"{len(order_ids)} orders")
        return rows.get(self._orders.table.Meta.table_name, [])

    def _with_plan(self, row: dict[str, Any]) -> tuple[Task, Plan] | Unreadable:
        try:
            task = _task(self.tasks.from_raw_data(row))
            with _naming(task):
                return task, self._plan_of(task)
        except (Corrupt, NotUnderstood) as error:
            return error

    def _read(self, order_id: str, models: Mapping[type[Model], bool]) -> dict[str, dict[str, Any]]:
        """The row of each table that has one; the values say whether to read consistently."""
        rows = self._read_many([order_id], models, f"task {order_id}")
        return {table: items[0] for table, items in rows.items()}

    def _read_many(
        self, order_ids: Sequence[str], models: Mapping[type[Model], bool], what: str
    ) -> dict[str, list[dict[str, Any]]]:
        keys = [{"OrderID": {"S": order_id}} for order_id in order_ids]
        wanted: dict[str, Any] = {
            model.Meta.table_name: {"Keys": keys, "ConsistentRead": consistent} for model, consistent in models.items()
        }
        found: dict[str, list[dict[str, Any]]] = {}
        tries = 0
        while tries < TRIES:
            answer = self.connection.dispatch("BatchGetItem", {"RequestItems": wanted})
            read = {table: items for table, items in answer["Responses"].items() if items}
            for table, items in read.items():
                found.setdefault(table, []).extend(items)
            if not (wanted := answer.get("UnprocessedKeys") or {}):
                return found
            tries += not read or len(order_ids) == 1
        raise Transient(f"read {what}: throttled {TRIES} times; the message will come again")

    @property
    def _orders(self) -> DynamoOrders:
        if self.orders is None:
            raise Misconfigured("this function has no orders table; set STEPWARD_ORDERS_TABLE")
        return self.orders

    def save(self, task: Task, *, replaces: Task) -> bool:
        """Replace the item if it is still at the revision that was read; see the port."""
        self.results.keep(task, self._expires_at(task))
        write_id = self.new_id()
        unchanged = (TaskItem.revision == replaces.revision) & (TaskItem.created_at == replaces.created_at)
        if put_if(self._item(task, write_id), unchanged, f"write task {task.order_id}"):
            return True
        with translated(f"read task {task.order_id}"):
            return is_own(find(self.tasks, task.order_id), write_id)

    def result(self, record: StepRecord) -> Mapping[str, Any]:
        """The row of a step's large result; see the port."""
        return self.results.of(record)

    def due(self, shard: int, until: int) -> Iterator[str]:
        """The due tasks of one shard; see the port."""
        return due_in(self.tasks, shard, until)

    def needing_attention(self) -> Iterator[str]:
        """The tasks that wait for an operator; see the port."""
        return needing_attention(self.tasks)

    def every(self, state: ProcessState | None) -> Iterator[Task | Unreadable]:
        """Every task in `state`, page by page; see the port."""
        wanted = ~TaskItem.order_id.startswith(PLAN_PREFIX) & ~TaskItem.order_id.startswith(RESULT_PREFIX) & NO_WISH
        if state is not None:
            wanted &= TaskItem.process_state == state.value
        items = self.tasks.scan(wanted, page_size=PAGE)
        with translated("read the state store"):
            while (found := _next_task(items)) is not None:
                yield found

    def _item(self, task: Task, write_id: str) -> TaskItem:
        return self.tasks(
            task.order_id,
            process_state=task.process_state.value,
            plan_id=task.plan_id,
            created_at=task.created_at,
            revision=task.revision,
            write_id=write_id,
            fence=task.fence,
            fence_base=task.fence_base or None,
            steps=task.steps,
            history=encode_history(task.history),
            undoing=task.undoing or None,
            paused=task.paused or None,
            reply_to=task.reply_to or None,
            correlation_id=task.correlation_id or None,
            complete_by=task.complete_by,
            time_limit=task.time_limit.value or None,
            parent=encode_parent(task.parent),
            expires_at=self._expires_at(task),
            **listing(task.order_id, self.shards, due=task.due, since=task.needs_attention),
        )

    def _expires_at(self, task: Task) -> int | None:
        if not self.keep_finished or task.ended_at is None or task.parent:
            return None  # a child stays: its parent may still have to undo it
        return task.ended_at // 1000 + self.keep_finished

    def _store_plan(self, plan: Plan) -> None:
        if plan.plan_id in self.known_plans:
            return
        item = self.plans(_plan_key(plan.plan_id), body=plan.to_json())
        put_if(item, PlanItem.key.does_not_exist(), f"store plan {plan.plan_id}")
        self.known_plans[plan.plan_id] = plan

    def _plan_of(self, task: Task) -> Plan:
        plan = self.known_plans.get(task.plan_id) or self._read_plan(task.plan_id)
        self.known_plans[task.plan_id] = plan
        if lacking := {step.name for step in plan.steps} - task.steps.keys():
            raise Corrupt(f"it lacks steps of its plan: {', '.join(sorted(lacking))}")
        return plan

    def _read_plan(self, plan_id: str) -> Plan:
        with translated(f"read plan {plan_id}"):
            row = find(self.plans, _plan_key(plan_id))
        if row is None:
            raise Corrupt(f"plan {plan_id} is not in the state store")
        try:
            return Plan.from_json(row.body)
        except NotUnderstood as error:
            raise error.of(f"plan {plan_id}") from error
        except (LookupError, TypeError, ValueError) as error:
            raise Corrupt(f"plan {plan_id}: {wrong_with(error)}") from error


@contextmanager
def _naming(task: Task) -> Iterator[None]:
    """Name the order in what is raised about its plan, or about its body."""
    try:
        yield
    except Corrupt as error:
        raise Corrupt(f"{task.order_id}: {error}") from error
    except NotUnderstood as error:
        raise NewerPlan(task, error.what) from error


def _next_task(items: Iterator[TaskItem]) -> Task | Unreadable | None:
    try:
        item = next(items, None)
        return None if item is None else _task(item)
    except (Corrupt, NotUnderstood) as error:
        return error


def _plan_key(plan_id: str) -> str:
    return PLAN_PREFIX + plan_id


def _task(item: TaskItem) -> Task:
    """The task in an item; raises Corrupt with the order's id."""
    order_id = item.order_id
    attributes = item.get_attributes().items()
    if lacking := [kind.attr_name for name, kind in attributes if not kind.null and getattr(item, name) is None]:
        raise Corrupt(f"{order_id}: it lacks {', '.join(sorted(lacking))}")
    try:
        return Task(
            order_id=order_id,
            plan_id=item.plan_id,
            created_at=whole(item.created_at),
            steps={name: replace(record, order_id=order_id) for name, record in item.steps.items()},
            due=None if item.due is None else whole(item.due),
            revision=whole(item.revision),
            fence=whole(item.fence),
            fence_base=whole(item.fence_base or 0),
            history=decode_history(item.history),
            undoing=item.undoing or "",
            paused=item.paused or "",
            reply_to=item.reply_to or "",
            correlation_id=item.correlation_id or "",
            complete_by=None if item.complete_by is None else whole(item.complete_by),
            time_limit=known(TimeLimit, item.time_limit or TimeLimit.HOLDS.value, "a time limit"),
            parent=decode_parent(item.parent),
        )
    except NotUnderstood as error:
        raise error.of(order_id, None if item.due is None else whole(item.due)) from error
    except (LookupError, TypeError, ValueError) as error:
        raise Corrupt(f"{order_id}: {wrong_with(error)}") from error
