"""An order under test, with what a submitter or an operator does to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stepward.domain.messages import Command, Pause, Resubmit, Resume, Undo
from stepward.domain.task.record import StepRecord, Task
from stepward.domain.workflow.definition import Operation
from stepward.wire.messages import encode

if TYPE_CHECKING:
    from stepward.testing.harness import Harness


@dataclass(frozen=True, slots=True)
class Order:
    """One order in an engine under test, in its present state."""

    engine: Harness
    order_id: str

    @property
    def task(self) -> Task:
        """Its record; AssertionError if it was not accepted, or `engine.run()` has not been called yet."""
        task = self.engine.task(self.order_id)
        if task is None:
            why = "; ".join(f"{reject.field}: {reject.reason}" for reject in self.engine.rejects)
            raise AssertionError(f"{self.order_id} was not accepted: {why or 'call engine.run() first'}")
        return task

    @property
    def state(self) -> str:
        """Its state: Pending, Processing, Processed, Error, Undoing, Undone or UndoFailed."""
        return str(self.task.process_state)

    def step(self, operation: Operation | str) -> StepRecord:
        """The record of a step, by its operation or its name; the undo of `charge` is `charge/undo`."""
        return self.task.steps[_name(operation)]

    def result(self, operation: Operation | str) -> Mapping[str, Any]:
        """The result of a step; empty if it has none."""
        return self.step(operation).result or {}

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
        message = {"type": "order.cancelled", "orderId": self.order_id, "reason": reason}
        self.engine.post("orders", json.dumps(message))

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
