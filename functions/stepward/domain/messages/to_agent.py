"""Messages to Agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class StepRequest:
    """To an Agent: run one attempt of a step.

    `complete_by` is epoch milliseconds by the Scheduler's clock; `budget` is the milliseconds that were left
    when the request was made, so that an agent whose clock is behind does not overrun by the difference.
    """

    order_id: str
    step: str
    agent: str
    operation: str
    attempt: int
    token: str
    fence: int
    idempotency_key: str
    complete_by: int
    budget: int
    results: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    order: Mapping[str, Any] = field(default_factory=dict)
    priority: str = "normal"
    tenant: str = ""
    callback: str = ""
    """The token with which the service may answer later; empty if the step does not let it."""
    delay: int = 0
    """Milliseconds for which the queue holds it back."""


@dataclass(frozen=True, slots=True)
class CheckedRequest(StepRequest):
    """To an Agent: run one attempt of a step, or of its undo, whose service honours no idempotency key.

    The operation `check` tells whether an earlier call had its effect. It is a message of its own, so that code that
    knows no checks puts it back, and never calls twice.
    """

    check: str = ""


@dataclass(frozen=True, slots=True)
class ItemRequest(CheckedRequest):
    """To an Agent: run one attempt of a step, or of its undo, for one item of a list; `check` may be empty.

    `item` is that item, and the order comes without the list. Code that knows no items puts the message back.
    """

    item: Any = None
