"""The Lambda function that applies order events, each order's in their sequence."""

import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from orders import workflow
from orders.messages import OrderEvent, OrderSubmitted
from orders.shops.sources import SOURCES
from stepward.adapters.lambda_batch import BatchAnswer
from stepward.adapters.lambda_context import Context
from stepward.adapters.lambda_groups import GroupWorker
from stepward.wiring.convoy import convoy


@cache
def _worker() -> GroupWorker:
    return convoy(os.environ, workflow, OrderSubmitted, OrderEvent, SOURCES)


def handler(event: Mapping[str, Any], context: Context) -> BatchAnswer:
    """Apply the events and commands of an SQS batch."""
    return _worker().answer(event, context.get_remaining_time_in_millis)
