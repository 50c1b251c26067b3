"""The time limits of the demonstration: how long an attempt has on this machine, and what ran out of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from time import monotonic

from orders.fulfilment import fulfilment
from stepward.domain.history import HistoryKind
from stepward.domain.task.record import ProcessState, StepRecord, Task

ATTEMPT_MS = 4_000
CLAIM_MS = 2_000
LANE_S = 5
START = "import boto3; boto3.client('sqs', region_name='x'); boto3.client('dynamodb', region_name='x')"
"""What takes most of a function's start."""
QUIET_START_S = 0.4
SLOWEST = 5.0
"""A service that hangs does so for 30 s, which must be longer than an attempt."""
_THRESHOLDS = {step.name: step.threshold for step in fulfilment.plan().steps}


def slowness() -> float:
    """How many times as long as on a quiet machine the start of two functions takes here now, from 1 to 5."""
    began = monotonic()
    starts = [subprocess.Popen([sys.executable, "-c", START]) for _ in range(2)]  # noqa: S603 - our own interpreter
    for start in starts:
        start.wait()
    return times_quiet(monotonic() - began)


def times_quiet(took_s: float) -> float:
    """The same, if it took so long; machines that are quiet differ by half."""
    return 1.0 if took_s <= 1.5 * QUIET_START_S else min(took_s / QUIET_START_S, SLOWEST)


def limits(slow: float, complete_within_ms: int = 0) -> Mapping[str, int]:
    """The settings of a deployment on a machine so slow; `complete_within_ms` replaces that of an attempt."""
    return {
        "complete_within_ms": complete_within_ms or 1000 * round(ATTEMPT_MS * slow / 1000),
        "claim_within_ms": round(CLAIM_MS * slow),
        "lane_timeout_s": round(LANE_S * slow),
    }


def out_of_time(task: Task) -> str:
    """The step whose last attempt had no answer by its complete-by, if that alone is why the order ended; else empty.

    An answer that was a refusal or an error is another reason, and so is a cancellation.
    """
    if task.process_state is ProcessState.UNDONE:
        return next((record.name for record in task.steps.values() if _gave_up(task, record)), "")
    failed = [record for record in task.steps.values() if record.process_state is ProcessState.ERROR]
    return failed[0].name if failed and all(ran_out(task, record) for record in failed) else ""


def ran_out(task: Task, record: StepRecord) -> bool:
    """Whether the step is in Error since its last attempt had no answer, and its operator is alerted to that."""
    overdue = any(
        entry.kind is HistoryKind.FAILED and entry.step == record.name and entry.value > 0 for entry in task.history
    )
    alerted = record.process_state is ProcessState.ERROR and record.alert_by is None
    return alerted and record.raised is None and overdue


def _gave_up(task: Task, record: StepRecord) -> bool:
    named = task.undoing.partition(":")[0] == record.name
    return named and record.raised is None and record.failure_count >= _THRESHOLDS[record.name]
