"""What the engine in memory and the engine on moto share: the orders, the services, and how both are used."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from types import TracebackType
from typing import Any, Self

from stepward.app.assembly import Application
from stepward.domain.errors import Rejected
from stepward.domain.key import TaskKey
from stepward.domain.messages import DOORS, OPERATORS, SUBMITTERS, Command, Pause, Resubmit, Resume, SignalGiven, Undo
from stepward.domain.rejects import Reject
from stepward.domain.task.record import StepRecord, Task
from stepward.domain.task.results import whole
from stepward.domain.workflow.agents import Operation
from stepward.domain.workflow.definition import Workflow
from stepward.domain.workflow.values import UNREAD
from stepward.testing.application import agents_of
from stepward.testing.faults.diary import Diary
from stepward.testing.faults.loop import Loop
from stepward.testing.services import Service, Services
from stepward.wire.messages import encode
from stepward.wire.order import check_signal


@dataclass(repr=False)
class Harness(ABC):
    """One deployment of an application under test; use it as a context manager, or by its fixture."""

    app: Application
    reply_to: str = field(default="", init=False)
    services: Services = field(init=False)

    def __post_init__(self) -> None:
        self.loop = Loop()
        self.diary = Diary(self.loop, is_kept=True)
        self.orders: dict[str, Order] = {}
        self.names = count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """End what still waits, and undo every change to the process."""

    @abstractmethod
    def run(self, until: Callable[[], bool] = lambda: False) -> None:
        """Let everything happen until nothing moves, or `until` is true; AssertionError if there is no end."""

    @property
    @abstractmethod
    def rejects(self) -> Sequence[Reject]:
        """The messages that could not be accepted, oldest first."""

    @abstractmethod
    def task(self, order_id: str) -> Task | None:
        """The record of an order; None if it was not accepted."""

    @abstractmethod
    def large_result(self, record: StepRecord) -> Mapping[str, Any]:
        """The result of a step that is kept in a row of its own."""

    @abstractmethod
    def post(self, queue: str, text: str) -> None:
        """Put a message into one of the queues, as it is: orders, scheduler, responses, agent-NAME."""

    def submit(self, workflow: Workflow | None, order: Mapping[str, Any]) -> Order:
        """Submit an order; a missing `type`, `orderId`, `submittedAt` or `replyTo` is filled in.

        Without a workflow, the order's `type` says which one it is for. The message waits in its queue until `run`.
        Raises ValueError for a workflow that is not the application's.
        """
        if isinstance(workflow, str):
            raise TypeError(f"submit({workflow!r}, ...): pass the workflow itself, not its name")
        if workflow and workflow not in getattr(self.app, "workflows", ()):
            raise ValueError(f"{workflow} is no workflow of this application, and an engine runs no other")
        keys = self.app.keys
        type_ = str(order.get("type") or keys.type_of(workflow.name if workflow else ""))
        order_id = str(order.get("orderId") or f"order-{next(self.names)}")
        at = datetime.fromtimestamp(self.loop.now / 1000, UTC).isoformat()
        named = {**order, "orderId": order_id, "type": type_}
        self.post("orders", text_of(named, submittedAt=at, replyTo=self.reply_to))
        workflow_name = keys.submitted(type_) if type_ in keys.types else ""
        return self.order(self.addressed({**named, "workflow": workflow_name}))

    def order(self, order_id: str, customer_id: str = "", workflow: str = "") -> Order:
        """An order by its id, however it was submitted; with its workflow, unless that is the default one.

        If the workflow tells customers apart, also with its customer.
        """
        key = self.key(order_id, customer_id, workflow)
        return self.orders.setdefault(key, Order(self, key))

    def addressed(self, message: Mapping[str, Any]) -> str:
        """The key of the task that a message addresses; of one that will be rejected, the order's id."""
        order_id, *others = (str(message.get(name) or "") for name in ("orderId", "customerId", "workflow"))
        with suppress(Rejected):
            return self.key(order_id, *others)
        return order_id

    def key(self, order_id: str, customer_id: str = "", workflow: str = "") -> str:
        """The key of an order's task, by which `task` and everything that the engine sends name it."""
        return self.app.keys.key(order_id, customer_id, workflow) if customer_id or workflow else order_id

    def service(self, operation: Operation) -> Service:
        """The service behind an operation of the application; set its behaviour with the methods of `Service`."""
        if not isinstance(operation, Operation):
            raise TypeError(f"service({operation!r}): pass the operation itself, not its name")
        if operation.name not in self.app.operations(operation.agent.name):
            raise ValueError(f"the application has no operation {operation.agent.name}.{operation.name}")
        return self.services.of(operation)

    def stand_in(self) -> None:
        """Have every service work, and no operation run: it answers `{"reference": "charge-1"}`, as locally.

        A check finds the effect that stands. A test then says what goes wrong.
        """
        for agent in agents_of(self.app.plans()):
            for name, operation in self.app.operations(agent).items():
                service = self.services.of(operation)
                if self.services.asks(operation):
                    service.finds()
                else:
                    service.returns({"reference": f"{name}-1"})

    @property
    def effects(self) -> list[str]:
        """The effects that took place, in order, such as `reserve` or `reserve/undo`; each idempotency key once."""
        return [step for _, step in self.services.log]

    @property
    def calls(self) -> list[str]:
        """All calls of services, in order, named as the effects are."""
        return list(self.services.calls)


class NotAccepted(AssertionError):
    """An order has no record; the message says why."""


@dataclass(frozen=True, slots=True)
class Order:
    """One order in an engine under test, in its present state; `order_id` is the key of its task."""

    engine: Harness
    order_id: str

    @property
    def task(self) -> Task:
        """Its record; AssertionError if it was not accepted, or `engine.run()` has not been called yet."""
        task = self.engine.task(self.order_id)
        if task is None:
            why = "; ".join(f"{reject.field}: {reject.reason}" for reject in self.engine.rejects)
            raise NotAccepted(f"{self.order_id} was not accepted: {why or 'call engine.run() first'}")
        return task

    @property
    def state(self) -> str:
        """Its state: Pending, Processing, Processed, Error, Undoing, Undone or UndoFailed."""
        return str(self.task.process_state)

    def step(self, operation: Operation | str) -> StepRecord:
        """The record of a step, by its operation or its name; the undo of `charge` is `charge/undo`."""
        return self.task.steps[_name(operation)]

    def is_at(self, step: Operation | str) -> bool:
        """Whether this step runs or waits now, such as for a signal: `engine.run(until=lambda: order.is_at(...))`."""
        record = self.task.steps.get(_name(step))
        return record is not None and record.runs

    def result(self, operation: Operation | str) -> Mapping[str, Any]:
        """The result of a step; empty if it has none."""
        record, plans = self.step(operation), self.engine.app.plans().values()
        if each := next(
            (step for plan in plans for step in plan.steps if step.parts and step.name == record.name), None
        ):
            large = {name: self.engine.large_result(item) for name, item in self.task.steps.items() if item.size}
            found = whole(each, self.task.steps, large)
            return {} if found is UNREAD else found
        return self.engine.large_result(record) if record.size else record.result or {}

    @property
    def effects(self) -> list[str]:
        """Its effects, in order; see `Engine.effects`."""
        return [step for order_id, step in self.engine.services.log if order_id == self.order_id]

    @property
    def timeline(self) -> str:
        """A line for each thing that happened to it, with the time since the test began."""
        return "\n".join(self.engine.diary.of(self.order_id))

    def cancel(self, reason: str = "no longer wanted") -> None:
        """Cancel it, as its submitter does."""
        message = {"type": "order.cancelled", **TaskKey.read(self.order_id).fields, "reason": reason}
        self.engine.post("orders", json.dumps(message))

    def signal(
        self,
        name: str,
        data: Mapping[str, Any] | None = None,
        *,
        refused: str = "",
        id: str = "",  # noqa: A002
        by: str = SUBMITTERS,
    ) -> None:
        """Give it a signal, or refuse it; `id` is the sender's own name for the signal.

        `by` is the door: that of its "submitters", or of "operators", who use `stepward signal`. That command, too,
        checks the data first; raises Rejected.
        """
        if by not in DOORS:
            raise ValueError(f"by={by!r} is no door; write one of {', '.join(DOORS)}")
        signal_id = id or f"signal-{next(self.engine.names)}"
        if by == OPERATORS:
            given = SignalGiven(self.order_id, name, signal_id, data or {}, refused, "operator", OPERATORS)
            check_signal(given, self.engine.app.signals(self.order_id).get(name))
            self._command(given)
            return
        answer = {"refused": refused} if refused else {"data": data or {}}
        named = {"name": name, "signalId": signal_id, **answer}
        self.engine.post("orders", json.dumps({"type": "order.signal", **TaskKey.read(self.order_id).fields, **named}))

    def answer(
        self, step: Operation | str, result: Mapping[str, Any] | None = None, *, error: str = "", attempt: int = 0
    ) -> None:
        """Have the service answer that took a step over, with the token of its latest call or of `attempt`."""
        token = self.engine.services.callbacks[self.order_id, _name(step)][attempt - 1]
        done = {"type": "step.failed", "error": error} if error else {"type": "step.completed", "result": result or {}}
        self.engine.post("orders", json.dumps({**done, "callback": token}))

    def undo(self, why: str = "as the test wants", who: str = "operator") -> None:
        """Undo it, as an operator does."""
        self._command(Undo(self.order_id, who, why))

    def pause(self, why: str = "as the test wants", who: str = "operator") -> None:
        """Pause it, as an operator does: running steps may end, no other begins."""
        self._command(Pause(self.order_id, who, why, self.engine.loop.now))

    def resume(self, why: str = "as the test wants", who: str = "operator") -> None:
        """Resume it, as an operator does."""
        self._command(Resume(self.order_id, who, why, self.engine.loop.now))

    def resubmit(self, step: Operation | str, why: str = "as the test wants", who: str = "operator") -> None:
        """Run a step that ended in Error again, as an operator does."""
        name = _name(step)
        self._command(Resubmit(self.order_id, name, self.step(name).attempt, who, why))

    def _command(self, command: Command) -> None:
        self.engine.post("scheduler", encode(command))


def text_of(order: Mapping[str, Any], **defaults: Any) -> str:
    """The message that submits an order; `defaults` fill in what the order leaves out."""
    return json.dumps({"type": "order.submitted", "version": 1, **defaults, **order})


def _name(step: Operation | str) -> str:
    return step if isinstance(step, str) else step.name
