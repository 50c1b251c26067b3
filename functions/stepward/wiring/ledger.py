"""The function that splits ledgers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import stepward.app.ledger.split  # noqa: F401
from stepward.adapters.lambda_.groups import GroupWorker
from stepward.adapters.s3_ledgers import S3Ledgers
from stepward.adapters.sqs.lane_queue import SqsLaneQueue
from stepward.adapters.sqs.visibility import SqsVisibility
from stepward.domain.workflow.application import App
from stepward.wiring import Handler
from stepward.wiring.parts import Parts


def ledger(app: App, env: Mapping[str, str] = os.environ) -> Handler[GroupWorker]:
    """Splits ledgers, whose entries may be in the format of any source of `app`."""
    return Handler(partial(_worker, app, env))


def _worker(app: App, env: Mapping[str, str]) -> GroupWorker:
    parts = Parts.of(env)
    sqs = parts.sqs()
    assembly = replace(
        parts.assembly,
        app=app,
        rejects=parts.rejects(),
        shared_records=parts.shared_records(),
        lane_queue=SqsLaneQueue(sqs, parts.config.lanes_queue),
        ledgers=S3Ledgers(parts.s3, parts.config.ledgers_bucket),
    )
    return GroupWorker(assembly.ledger().take, parts.telemetry, SqsVisibility(sqs, parts.config.lanes_queue))
