"""What every engine under test offers, whatever it stands on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from types import TracebackType
from typing import Any, Self

from stepward.app.assembly import Application
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
        """End what still waits, and give back what it took."""

    @property
    @abstractmethod
    def services(self) -> Services:
        """All services of the application."""

    @abstractmethod
    def task(self, order_id: str) -> Task | None:
        """The record of an order; None if it was not accepted."""

    @abstractmethod
    def refusals(self) -> list[str]:
        """Why messages could not be accepted, a sentence for each."""

    @abstractmethod
    def post(self, queue: str, text: str) -> None:
        """Put a message into one of the queues, as it is: orders, scheduler, responses, agent-NAME."""

    def submit(self, workflow: Workflow | None, order: Mapping[str, Any]) -> Order:
        """Somebody orders; `orderId`, `submittedAt` and the queue for notices are filled in where they are missing.

        The message waits in its queue until `run`. Raises ValueError for a workflow that is not the application's.
        """
        if workflow is not getattr(self.app, "workflow", None):
            raise ValueError(f"{workflow} is not the workflow of this application, and an engine runs no other")
        order_id = str(order.get("orderId") or f"order-{next(self.names)}")
        at = datetime.fromtimestamp(self.loop.now / 1000, UTC).isoformat()
        self.post("orders", text_of({**order, "orderId": order_id}, submittedAt=at, replyTo=self.reply_to))
        return self.order(order_id)

    def order(self, order_id: str) -> Order:
        """An order by its id, however it came."""
        return self.orders.setdefault(order_id, Order(self, order_id))

    def service(self, operation: Operation) -> Service:
        """The service behind an operation of the application: say how it behaves."""
        if operation.name not in self.app.operations(operation.agent.name):
            raise ValueError(f"the application has no operation {operation.agent.name}.{operation.name}")
        return self.services.of(operation)

    @property
    def effects(self) -> list[str]:
        """The effects that took place, in order, by step, such as `reserve` or `reserve/undo`; each key once."""
        return [step for _, step in self.services.log]

    @property
    def calls(self) -> list[str]:
        """All calls of services, by step, in order."""
        return list(self.services.slots)
