"""How long each function takes to start: whole processes on the bundle that is deployed, beside plain ones."""

import os
import resource
import statistics
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from stepward.project import Project
from stepward.testing.aws.stack import CREDENTIALS, TABLES, Stack
from stepward_cdk.functions.bundling import Needs, bundle, find_uv
from stepward_cdk.functions.compiling import compile_bundle
from tests.lab.results import Progress, Result, table

BESIDE = "boto3 with two clients"
PRUNED = "the same, with the bundle's endpoints and models"
STARTS = 9
_SQS = "https://sqs.us-east-1.amazonaws.com/111122223333"
_QUEUES = {"scheduler": "scheduler", "responses": "responses", "order-events": "order-events.fifo"}
_URLS = {name: f"{_SQS}/{queue}" for name, queue in {**_QUEUES, "agent-payments": "agent-payments"}.items()}
ENVIRONMENT: Mapping[str, str] = {
    **CREDENTIALS,
    **Stack({name: name for name in TABLES}, _URLS, "arn:aws:sns:us-east-1:111122223333:alerts", "stepward").env(),
    "AWS_LAMBDA_FUNCTION_NAME": "measured",
    "AWS_EC2_METADATA_DISABLED": "true",
    "STEPWARD_AGENT": "payments",
    "STEPWARD_REQUESTS_QUEUE": _URLS["agent-payments"],
}
_BOTO3 = "import boto3; boto3.client('dynamodb'); boto3.client('sqs')"
PROGRAMS: Mapping[str, str] = {
    "an empty Python": "pass",
    BESIDE: _BOTO3,
    PRUNED: _BOTO3,
    **{
        name: f"import {name}; {name}.handler.worker"
        for name in ("submission", "scheduler", "agent", "supervisor", "ledger", "convoy")
    },
}
"""Each up to the point where it could take its first message."""
LEAVE = "os._exit(0)"
"""Lambda never ends a process in an orderly way, which takes longer without our `gc.freeze` than with it."""


@dataclass(frozen=True, slots=True)
class Started:
    """Milliseconds from a program's start to its end: `ms` by the clock, `cpu_ms` of computing."""

    name: str
    ms: float
    cpu_ms: float
    beside: float
    """`cpu_ms` as a multiple of that of boto3 with two clients."""


def measure(progress: Progress) -> Result:
    progress("building the bundle")
    project = Project.here()
    code = bundle("local", project).path
    with TemporaryDirectory() as folder:
        found, sizes = _started(code, _as_installed(project, Path(folder)), STARTS, progress), _sizes(code)
    made = table(
        f"Start-up, whole process (bundle: {sizes['unpacked']} MB, {sizes['archive']} MB as an archive)",
        *("", "ms", "CPU ms", "times boto3 with two clients"),
        rows=[(it.name, f"{it.ms:,.0f}", f"{it.cpu_ms:,.0f}", f"{it.beside:.2f}") for it in found],
        boxed=False,
    )
    return {"started": found, "bundle": sizes}, [made]


def _as_installed(project: Project, made: Path) -> Path:
    """The packages of the bundle as a user would deploy them: whole, and byte-compiled as the bundle is."""
    packages = made / "packages"
    Needs.of(project).install(packages, made, find_uv(project.root), "local")
    compile_bundle(packages, str(packages))
    return packages


def _started(code: Path, as_installed: Path, times: int, progress: Progress) -> Sequence[Started]:
    """Start every program `times` times, in turns, so that other work of the machine slows all of them alike."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in PROGRAMS}
    for turn in range(times + 1):
        progress(f"starting every function, {turn} of {times}")
        for name, program in PROGRAMS.items():
            once = _start(program, as_installed if name == BESIDE else code)
            if turn:  # the first one reads the files from the disk
                taken[name].append(once)
    medians = {name: [statistics.median(column) for column in zip(*each, strict=True)] for name, each in taken.items()}
    return [Started(name, wall, cpu, cpu / medians[BESIDE][1]) for name, (wall, cpu) in medians.items()]


def _sizes(code: Path) -> Mapping[str, float]:
    """The bundle that all functions share, in megabytes: as a folder, and as the archive that is uploaded."""
    files = [path for path in sorted(code.rglob("*")) if path.is_file()]
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in files:
            packed.write(path, path.relative_to(code))
    unpacked = sum(path.stat().st_size for path in files)
    return {"unpacked": round(unpacked / 1e6, 1), "archive": round(len(archive.getvalue()) / 1e6, 1)}


def _start(program: str, code: Path) -> tuple[float, float]:
    before, began = _children(), perf_counter()
    start(program, code)
    return (perf_counter() - began) * 1000, (_children() - before) * 1000


def start(program: str, code: Path, *options: str) -> str:
    """Run a program on the bundle; what it prints as errors."""
    text = f"import os, sys; sys.path.insert(0, {str(code)!r}); {program}; {LEAVE}"
    environment = {**ENVIRONMENT, "PATH": os.environ["PATH"]}
    command = [sys.executable, *options, "-S", "-c", text]
    told = subprocess.PIPE if options else None
    done = subprocess.run(command, env=environment, check=True, stderr=told, text=True)  # noqa: S603 - our own words
    return done.stderr


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
