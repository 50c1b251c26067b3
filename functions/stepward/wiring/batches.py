"""What answers a batch of messages, each for itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stepward.adapters.lambda_batch import BatchWorker
from stepward.adapters.outbox import Outbox
from stepward.app.intake import Intake
from stepward.wiring.parts import Parts


def worker(parts: Parts, handle: Callable[[str], None], outbox: Outbox, **how: Any) -> BatchWorker:
    """Hands each message to `handle`, and sends what came together in `outbox`."""
    return BatchWorker(Intake(handle, parts.rejects(), parts.telemetry), parts.telemetry, outbox=outbox, **how)
