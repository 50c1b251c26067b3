"""The Lambda function that runs the steps of every task in their order."""

import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from stepward.adapters.lambda_batch import BatchAnswer, BatchWorker
from stepward.wiring.scheduler import scheduler


@cache
def _worker() -> BatchWorker:
    return scheduler(os.environ)


def handler(event: Mapping[str, Any], _context: object) -> BatchAnswer:
    """Apply each message of an SQS batch, told to the Scheduler or answered by an agent."""
    return _worker().answer(event)
