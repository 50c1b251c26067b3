"""The Lambda function that splits ledgers into the lanes of their orders."""

import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from orders.shops.sources import SOURCES
from stepward.adapters.lambda_batch import BatchAnswer
from stepward.adapters.lambda_context import Context
from stepward.adapters.lambda_groups import GroupWorker
from stepward.wiring.ledger import ledger


@cache
def _worker() -> GroupWorker:
    return ledger(os.environ, SOURCES)


def handler(event: Mapping[str, Any], context: Context) -> BatchAnswer:
    """Split each ledger of an SQS batch, as far as the time reaches."""
    return _worker().answer(event, context.get_remaining_time_in_millis)
