"""How long each function takes to start: whole processes on the bundle that is deployed, beside plain ones."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from time import perf_counter

from stepward.project import Project
from stepward_cdk.functions.bundling import bundle

BESIDE = "boto3 with two clients"
ENVIRONMENT: Mapping[str, str] = {
    "AWS_LAMBDA_FUNCTION_NAME": "measured",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_EC2_METADATA_DISABLED": "true",
    "STEPWARD_ORDERS_TABLE": "orders",
    "STEPWARD_TASKS_TABLE": "tasks",
    "STEPWARD_REJECTS_TABLE": "rejects",
    "STEPWARD_SHARED_RECORDS_TABLE": "shared_records",
    "STEPWARD_SCHEDULER_QUEUE": "https://sqs.us-east-1.amazonaws.com/111122223333/scheduler",
    "STEPWARD_RESPONSES_QUEUE": "https://sqs.us-east-1.amazonaws.com/111122223333/responses",
    "STEPWARD_REQUESTS_QUEUE": "https://sqs.us-east-1.amazonaws.com/111122223333/agent-payments",
    "STEPWARD_AGENT_QUEUES": '{"payments":"https://sqs.us-east-1.amazonaws.com/111122223333/agent-payments"}',
    "STEPWARD_ALERTS_TOPIC": "arn:aws:sns:us-east-1:111122223333:alerts",
    "STEPWARD_AGENT": "payments",
    "STEPWARD_LANES_TABLE": "lanes",
    "STEPWARD_LANES_QUEUE": "https://sqs.us-east-1.amazonaws.com/111122223333/order-events.fifo",
    "STEPWARD_LEDGERS_BUCKET": "ledgers",
    "POWERTOOLS_SERVICE_NAME": "stepward",
    "POWERTOOLS_METRICS_NAMESPACE": "Stepward",
}
PROGRAMS: Mapping[str, str] = {
    "an empty Python": "pass",
    BESIDE: "import boto3; boto3.client('dynamodb'); boto3.client('sqs')",
    "submission": "import submission; submission.handler.worker",
    "scheduler": "import scheduler; scheduler.handler.worker",
    "agent": "import agent; agent.handler.worker",
    "supervisor": "import supervisor; supervisor.handler.worker",
    "ledger": "import ledger; ledger.handler.worker",
    "convoy": "import convoy; convoy.handler.worker",
}
"""Each up to the point where it could take its first message."""


@dataclass(frozen=True, slots=True)
class Started:
    """Milliseconds from a program's start to its end: `ms` by the clock, `cpu_ms` of computing."""

    name: str
    ms: float
    cpu_ms: float
    beside: float
    """`cpu_ms` as a multiple of that of boto3 with two clients."""


def measure(times: int, progress: Callable[[str], None]) -> Sequence[Started]:
    """Start every program `times` times, in turns, so that other work of the machine slows all of them alike."""
    progress("building the bundle")
    code = bundle("local", Project.here()).path
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in PROGRAMS}
    for turn in range(times + 1):
        progress(f"starting every function, {turn} of {times}")
        for name, program in PROGRAMS.items():
            once = _start(program, code)
            if turn:  # the first one reads the files from the disk
                taken[name].append(once)
    medians = {name: [statistics.median(column) for column in zip(*each, strict=True)] for name, each in taken.items()}
    return [Started(name, wall, cpu, cpu / medians[BESIDE][1]) for name, (wall, cpu) in medians.items()]


def sizes() -> Mapping[str, float]:
    """The bundle that all functions share, in megabytes: as a folder, and as the archive that is uploaded."""
    code = bundle("local", Project.here()).path
    files = [path for path in sorted(code.rglob("*")) if path.is_file()]
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in files:
            packed.write(path, path.relative_to(code))
    unpacked = sum(path.stat().st_size for path in files)
    return {"unpacked": round(unpacked / 1e6, 1), "archive": round(len(archive.getvalue()) / 1e6, 1)}


def _start(program: str, code: Path) -> tuple[float, float]:
    before, began = _children(), perf_counter()
    text = f"import sys; sys.path.insert(0, {str(code)!r}); {program}"
    environment = {**ENVIRONMENT, "PATH": os.environ["PATH"]}
    subprocess.run([sys.executable, "-S", "-c", text], env=environment, check=True)  # noqa: S603 - our own words
    return (perf_counter() - began) * 1000, (_children() - before) * 1000


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
