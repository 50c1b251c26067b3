"""How fast each peer, in its smallest usual form, runs an order of three steps that do nothing."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.lab.benchmarks.peers.environments import Unavailable, output_of, python_of
from tests.lab.benchmarks.peers.measuring import SECONDS, Measured
from tests.lab.results import Progress

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
