"""The composition root: a module for each Lambda function, which chooses its adapters.

Each also imports its use cases, so that Lambda loads them before the first event. The garbage collector rests
meanwhile: it would search all that is loaded again and again, a sixth of a start-up, and find nothing.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar


class Worker(Protocol):
    """What answers the events of one function."""

    def answer(self, event: Mapping[str, Any], remaining: Callable[[], int], /) -> Any:
        """Work on one event, with `remaining` milliseconds to the end of the invocation."""


W = TypeVar("W", bound=Worker)

if "AWS_LAMBDA_FUNCTION_NAME" in os.environ:  # elsewhere no handler need follow, which has it work again
    gc.disable()


@dataclass
class Handler(Generic[W]):
    """What Lambda calls. It wires itself at its first event, since only then the environment has to be complete."""

    make: Callable[[], W]

    @cached_property
    def worker(self) -> W:
        """The worker of this process; raises Misconfigured if a setting is missing."""
        try:
            return self.make()
        finally:
            gc.freeze()
            gc.enable()

    def __call__(self, event: Mapping[str, Any], context: Any) -> Any:
        """Work on one event of Lambda's; its `context` says how much time is left."""
        return self.worker.answer(event, lambda: int(context.get_remaining_time_in_millis()))
