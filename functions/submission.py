"""The Lambda function that accepts orders from their queue."""

import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from orders import workflow
from orders.messages import OrderSubmitted
from stepward.adapters.lambda_batch import BatchAnswer, BatchWorker
from stepward.wiring.submission import submission


@cache
def _worker() -> BatchWorker:
    return submission(os.environ, workflow, OrderSubmitted)


def handler(event: Mapping[str, Any], _context: object) -> BatchAnswer:
    """Accept each order of an SQS batch."""
    return _worker().answer(event)
