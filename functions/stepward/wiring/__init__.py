"""The composition root: a module for each Lambda function, which chooses its adapters.

Each also imports its use cases, so that Lambda loads them before the first event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar


class Worker(Protocol):
    """What answers the events of one function."""

    def answer(self, event: Mapping[str, Any], remaining: Callable[[], int], /) -> Any:
        """Work on one event, with `remaining` milliseconds to the end of the invocation."""


W = TypeVar("W", bound=Worker)


@dataclass
class Handler(Generic[W]):
    """What Lambda calls. It wires itself at its first event, since only then the environment has to be complete."""

    make: Callable[[], W]

    @cached_property
    def worker(self) -> W:
        """The worker of this process; raises Misconfigured if a setting is missing."""
        return self.make()

    def __call__(self, event: Mapping[str, Any], context: Any) -> Any:
        """Work on one event of Lambda's; its `context` says how much time is left."""
        return self.worker.answer(event, lambda: int(context.get_remaining_time_in_millis()))
