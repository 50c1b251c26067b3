"""How fast each peer, in its smallest usual form, runs an order of three steps that do nothing.

Each has a Python environment, made at its first use from pinned and hash-checked packages.
"""

import hashlib
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.lab.benchmarks.peers.measuring import SECONDS, Measured
from tests.lab.results import ROOT, Progress

UV = ROOT / ".venv-tools" / "bin" / "uv"
MADE_WITHIN_S = 300
LOCK = "python -m tests.lab.benchmarks.peers --lock"
NAMES = ("durable", "dbos", "temporal", "moto")


class Unavailable(Exception):
    """A peer cannot be installed or run here; the message says why."""


def python_of(name: str) -> Path:
    """The interpreter of the environment of peer `name`, with its pinned packages; raises Unavailable."""
    folder, pinned = ROOT / "build" / "peers" / name, _pinned(name)
    if not pinned.exists():
        raise Unavailable(f"{pinned.relative_to(ROOT)} is missing; make it with `{LOCK}`")
    python, ready = folder / "bin" / "python", folder / ".ready"
    if ready.exists() and ready.read_text() == _fingerprint(pinned):
        return python
    if not UV.exists():
        raise Unavailable("uv is not installed; run `make env` first")
    if not python.exists():
        _run("venv", "--python", str(UV.with_name("python")), str(folder))
    _run("pip", "sync", "--python", str(python), "--require-hashes", str(pinned))
    ready.write_text(_fingerprint(pinned))
    return python


def pin() -> None:
    """Pin the newest allowed versions of every peer's packages, with their hashes."""
    options = ["--universal", "--python-version", "3.11", "--generate-hashes", "--upgrade"]
    for name in NAMES:
        pinned = _pinned(name).relative_to(ROOT)
        command = ["--custom-compile-command", LOCK, str(pinned.with_suffix(".in")), "-o", str(pinned)]
        _run("pip", "compile", *options, *command)


def _pinned(name: str) -> Path:
    return ROOT / "requirements" / f"peers-{name}.txt"


def _fingerprint(pinned: Path) -> str:
    return hashlib.sha256(pinned.read_bytes()).hexdigest()


def _run(*words: str) -> None:
    output_of([str(UV), "--quiet", *words], MADE_WITHIN_S, f"uv {words[0]}")


def output_of(command: Sequence[str], seconds: float, what: str, env: Mapping[str, str] | None = None) -> str:
    """What a program prints; raises Unavailable with the last line of its complaint."""
    piped: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    try:
        done = subprocess.run(command, cwd=ROOT, env=env, timeout=seconds, check=True, **piped)  # noqa: S603 - our own
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{what} did not end within {seconds:g} s") from error
    except subprocess.CalledProcessError as error:
        *_, why = str(error.stderr).strip().splitlines() or [f"exit code {error.returncode}"]
        raise Unavailable(f"{what} failed: {why.strip()}") from error
    return str(done.stdout)


RUN_WITHIN_S = 180


@dataclass(frozen=True, slots=True)
class Peer:
    """An engine that can be installed: its environment, the module that measures it, and what its figures include."""

    name: str
    environment: str
    module: str
    includes: str


PEERS = (
    Peer(
        "durable",
        "durable",
        "durable",
        "AWS durable execution SDK, its testing runner, threads; state in memory, no network. An execution ends "
        "with up to 100 ms that the SDK waits for its own checkpoint thread",
    ),
    Peer("dbos", "dbos", "dbos_sqlite", "DBOS in process, threads; every step committed to a SQLite file, no network"),
    Peer(
        "temporal",
        "temporal",
        "temporal_server",
        "Temporal's development server, a process of its own, one worker, gRPC over loopback; in memory, and in a "
        "SQLite file (`on disk`)",
    ),
    Peer(
        "step functions on moto",
        "moto",
        "step_functions",
        "an emulator of Step Functions in process, Pass states, polled each 2 ms; in memory, no network. It says "
        "nothing about the speed of the service itself",
    ),
)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A peer that could not be measured here, and the reason."""

    name: str
    reason: str


def measure(peers: Sequence[Peer], seconds: float, progress: Progress) -> Iterator[Measured | Skipped]:
    """Measure each peer for `seconds` at each concurrency, one peer after another; skip those unavailable."""
    own = ("AWS_", "PYTHON", "VIRTUAL_ENV")
    env = {name: value for name, value in os.environ.items() if not name.startswith(own)} | {SECONDS: str(seconds)}
    for peer in peers:
        try:
            progress(f"{peer.name}: its environment")
            python = python_of(peer.environment)
            progress(f"{peer.name}: orders, {seconds:g} s at each concurrency")
            command = [str(python), "-m", f"tests.lab.benchmarks.peers.runs.{peer.module}"]
            yield from figures(output_of(command, RUN_WITHIN_S, "its run", env))
        except Unavailable as unavailable:
            yield Skipped(peer.name, str(unavailable))


def figures(output: str) -> Iterator[Measured]:
    """The measurements among all that a run, or a server that it started, printed."""
    for line in output.splitlines():
        if line.startswith("{"):
            yield Measured(**json.loads(line))
