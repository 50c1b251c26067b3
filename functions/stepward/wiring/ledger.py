"""The function that splits ledgers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from stepward.adapters.lambda_groups import GroupWorker
from stepward.adapters.s3_ledgers import S3Ledgers
from stepward.adapters.sqs_lanes import SqsLaneQueue
from stepward.adapters.sqs_visibility import SqsVisibility
from stepward.app.ledger_intake import LedgerIntake
from stepward.app.ledgers import Split
from stepward.config import Config
from stepward.wire.order_event import Source
from stepward.wiring.clock import now
from stepward.wiring.parts import Parts

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


def ledger(env: Mapping[str, str], sources: Sequence[Source]) -> GroupWorker:
    """Splits ledgers whose entries may be written as one of `sources` knows it."""
    parts = Parts(Config(env))
    config, sqs = parts.config, parts.sqs()
    split = Split(
        lanes=SqsLaneQueue(sqs, config.lanes_queue),
        ledgers=S3Ledgers(_s3(parts), config.ledgers_bucket),
        controls=parts.controls(),
        rejects=parts.rejects(),
        telemetry=parts.telemetry,
        sources=sources,
        now=now,
        customer=config.ledger_customer,
    )
    intake = LedgerIntake(split, parts.rejects(), parts.telemetry)
    return GroupWorker(intake.take, parts.telemetry, SqsVisibility(sqs, config.lanes_queue))


def _s3(parts: Parts) -> Callable[[], S3Client]:
    """Makes the client when the first ledger needs it: it takes time to make, and few ledgers do."""
    return cache(lambda: parts.client("s3"))
