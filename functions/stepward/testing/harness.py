"""What the engine in memory and the engine on moto have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from types import TracebackType
from typing import Any, Self

from stepward.app.assembly import Application
from stepward.domain.rejects import Reject
from stepward.domain.task.record import Task
from stepward.domain.workflow.definition import Operation, Workflow
from stepward.testing.faults.diary import Diary
from stepward.testing.faults.loop import Loop
from stepward.testing.order import Order, text_of
from stepward.testing.services import Service, Services


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
    def post(self, queue: str, text: str) -> None:
        """Put a message into one of the queues, as it is: orders, scheduler, responses, agent-NAME."""

    def submit(self, workflow: Workflow | None, order: Mapping[str, Any]) -> Order:
        """Submit an order; a missing `orderId`, `submittedAt` or `replyTo` is filled in.

        The message waits in its queue until `run`. Raises ValueError for a workflow that is not the application's.
        """
        if workflow is not getattr(self.app, "workflow", None):
            raise ValueError(f"{workflow} is not the workflow of this application, and an engine runs no other")
        order_id = str(order.get("orderId") or f"order-{next(self.names)}")
        at = datetime.fromtimestamp(self.loop.now / 1000, UTC).isoformat()
        self.post("orders", text_of({**order, "orderId": order_id}, submittedAt=at, replyTo=self.reply_to))
        return self.order(order_id)

    def order(self, order_id: str) -> Order:
        """An order by its id, however it was submitted."""
        return self.orders.setdefault(order_id, Order(self, order_id))

    def service(self, operation: Operation) -> Service:
        """The service behind an operation of the application; set its behaviour with the methods of `Service`."""
        if operation.name not in self.app.operations(operation.agent.name):
            raise ValueError(f"the application has no operation {operation.agent.name}.{operation.name}")
        return self.services.of(operation)

    @property
    def effects(self) -> list[str]:
        """The effects that took place, in order, such as `reserve` or `reserve/undo`; each idempotency key once."""
        return [step for _, step in self.services.log]

    @property
    def calls(self) -> list[str]:
        """All calls of services, in order, named as the effects are."""
        return list(self.services.calls)
