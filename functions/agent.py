"""The Lambda function of one agent; each agent is deployed on its own, with this handler."""

import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from orders import workflow
from stepward.adapters.lambda_batch import BatchAnswer, BatchWorker
from stepward.wiring.agent import agent


@cache
def _worker() -> BatchWorker:
    return agent(os.environ, workflow)


def handler(event: Mapping[str, Any], _context: object) -> BatchAnswer:
    """Serve each request of an SQS batch."""
    return _worker().answer(event)
