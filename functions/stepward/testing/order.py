"""An order under test, and what a submitter or an operator does with it."""

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
    """One order in an engine under test; it always shows what stands there now."""

    engine: Harness
    order_id: str

    @property
    def task(self) -> Task:
        """Its record; AssertionError if it was not accepted (yet: messages move in `engine.run()`)."""
        task = self.engine.task(self.order_id)
        if task is None:
            why = "; ".join(self.engine.refusals())
            raise AssertionError(f"{self.order_id} was not accepted: {why or 'call engine.run() first'}")
        return task

    @property
    def state(self) -> str:
        """Its state: Pending, Processing, Processed, Error, Undoing, Undone or UndoFailed."""
        return str(self.task.process_state)

    def step(self, operation: Operation | str) -> StepRecord:
        """The record of a step, named by its operation or its name; that of an undo is called `charge/undo`."""
        return self.task.steps[_name(operation)]

    def result(self, operation: Operation | str) -> Mapping[str, Any]:
        """What a step brought; empty if it has none."""
        return self.step(operation).result or {}

    @property
    def effects(self) -> list[str]:
        """The effects that took place for it, in order; see `Engine.effects`."""
        return [step for order_id, step in self.engine.services.log if order_id == self.order_id]

    @property
    def story(self) -> str:
        """What happened to it, a line for each thing, with the time since the test began."""
        return "\n".join(self.engine.diary.of(self.order_id))

    def cancel(self, reason: str = "no longer wanted") -> None:
        """Its submitter takes it back."""
        message = {"type": "order.cancelled", "orderId": self.order_id, "reason": reason}
        self.engine.post("orders", json.dumps(message))

    def undo(self, why: str = "as the test wants", who: str = "operator") -> None:
        """An operator has it undone."""
        self._command(Undo(self.order_id, who, why))

    def pause(self, why: str = "as the test wants", who: str = "operator") -> None:
        """An operator halts it: what runs may end, nothing new begins."""
        self._command(Pause(self.order_id, who, why, self.engine.loop.now))

    def resume(self, why: str = "as the test wants", who: str = "operator") -> None:
        """An operator lets it go on."""
        self._command(Resume(self.order_id, who, why, self.engine.loop.now))

    def resubmit(self, step: Operation | str, why: str = "as the test wants", who: str = "operator") -> None:
        """An operator has a step that ended in Error tried again."""
        name = _name(step)
        self._command(Resubmit(self.order_id, name, self.step(name).attempt, who, why))

    def _command(self, command: Command) -> None:
        self.engine.post("scheduler", encode(command))


def text_of(order: Mapping[str, Any], **defaults: Any) -> str:
    """The message that submits an order: what it says, and what it leaves out."""
    return json.dumps({"type": "order.submitted", "version": 1, **defaults, **order})


def _name(step: Operation | str) -> str:
    return step if isinstance(step, str) else step.name
