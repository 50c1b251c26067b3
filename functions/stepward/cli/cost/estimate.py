"""Estimates what orders cost on AWS, from counted requests, dated prices and named assumptions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from typing import Any

GIGABYTE = 1024**3
MILLION = 1_000_000
MINUTES_A_MONTH = 43_800
MOST_SHOWN = 50
"""Metrics on a dashboard that AWS's free tier covers."""

Quantities = Mapping[str, float]
A_SLOT: Quantities = dict.fromkeys(("write units", "read units", "writes waited for", "reads waited for"), 1)
"""What a call of an agent with a rate costs besides; the calls of a batch share it. `test_paced_serving` counts it."""


@dataclass(frozen=True, slots=True)
class Assumptions:
    """The quantities that cannot be measured without an account; all times in milliseconds."""

    memory_mb: int = 512
    run_ms: float = 2
    """Overhead of each run of a function."""
    message_ms: float = 7
    """Computing time for each message, with the share of a CPU that 512 MB buy."""
    read_ms: float = 5
    write_ms: float = 6
    transaction_ms: float = 12
    send_ms: float = 10
    """How long a function waits for one call."""
    operation_ms: float = 0
    """How long an agent's operation waits for its service; 0 leaves the workflow's own work out."""
    platform_log_bytes: int = 0
    """What Lambda itself logs about a run: nothing for a successful one, as the stack admits only its warnings."""
    traced: float = 0
    """Share of the runs that X-Ray records, each as its own trace; 0.05 with `-c tracing=true`."""
    pollers: int = 5
    """Lambda's pollers for each queue."""
    empty_receives_a_minute: float = 3
    """Of each poller, if the queue is idle: one long poll takes 20 s."""
    init_ms: float = 1000
    """How long a cold start is billed, of any function that loads the SDK: ours, and the peers'."""
    idle_s: float = 300
    """After how many seconds without a run Lambda ends a function; AWS does not say."""
    cold_share: float = 0.01
    """Share of all other runs that start cold; AWS tells of less than 1% (its blog, 29 April 2025)."""
    minutes_between_sweeps: float = 1
    minutes_between_counts: float = 2
    """How often the Supervisor counts what is in queues that have no alarm of their own."""

    @property
    def init_s_gb(self) -> float:
        """GB-seconds of a cold start."""
        return self.init_ms / 1000 * self.memory_mb / 1024


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a bill: a quantity of the item that `price` names, and its cost in US dollars."""

    name: str
    quantity: float
    price: str
    usd: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """The bill of one order, that of a month without orders, and that of storing one order for a month."""

    per_order: tuple[Line, ...]
    per_month: tuple[Line, ...]
    storage: tuple[Line, ...]

    @property
    def order_usd(self) -> float:
        """US dollars for one order."""
        return sum(each.usd for each in self.per_order)

    @property
    def month_usd(self) -> float:
        """US dollars for a month without orders."""
        return sum(each.usd for each in self.per_month)

    @property
    def month_beyond_free_usd(self) -> float:
        """The same in an account that uses AWS's always-free tier for nothing else."""
        used = {each.price: 0.0 for each in self.per_month}
        for each in self.per_month:
            used[each.price] += each.quantity
        beyond = {name: max(0, quantity - prices()[name].get("free", 0)) for name, quantity in used.items()}
        return sum(line("", quantity, name).usd for name, quantity in beyond.items())


@dataclass(frozen=True, slots=True)
class Measured:
    """The benchmark's counts: of one recovery, of one sweep, and of the stack, also if it is watched in full."""

    recovery: Quantities
    sweep: Quantities
    stack: Quantities
    full: Quantities = field(default_factory=dict)


@cache
def prices() -> Mapping[str, Mapping[str, Any]]:
    """The dated prices of us-east-1, each with its source."""
    found: Mapping[str, Mapping[str, Any]] = json.loads(_read("prices.json"))
    return found


@cache
def measured() -> Measured:
    """The benchmark's counts, from its file."""
    return Measured(**json.loads(_read("measured.json")))


def estimate(
    counted: Quantities, found: Measured, *, recoveries: float = 0, assumed: Assumptions | None = None, paced: int = 0
) -> Estimate:
    """The bill of an order that takes what was `counted`; `paced` of its calls are those of an agent with a rate.

    `recoveries` is the share of orders in which a step runs again.
    """
    assumed = assumed or Assumptions()
    parts = [(counted, 1.0), (found.recovery, recoveries), (A_SLOT, paced)]
    names = dict.fromkeys(name for part, _ in parts for name in part)
    total = {name: sum(part.get(name, 0) * times for part, times in parts) for name in names}
    gigabytes = total["stored bytes"] / GIGABYTE
    storage = (line("Stored", gigabytes, "stored gigabyte"), line("Restorable", gigabytes, "restorable gigabyte"))
    return Estimate(tuple(_order_lines(total, assumed)), tuple(_month_lines(found, assumed)), storage)


def _order_lines(counted: Quantities, assumed: Assumptions) -> list[Line]:
    seconds = run_ms(counted, assumed) / 1000
    runs = counted["invocations"]
    logged = counted["log bytes"] + counted["metric bytes"] + runs * assumed.platform_log_bytes
    return [
        line("DynamoDB writes", counted["write units"], "write unit"),
        line("DynamoDB reads", counted["read units"], "read unit"),
        line("SQS requests", counted["sqs requests"], "sqs request"),
        line("SQS fair queues", counted["fair requests"], "fair request"),
        line("Lambda requests", runs, "invocation"),
        line("Lambda time", seconds * assumed.memory_mb / 1024, "gigabyte-second"),
        line("Cold starts", counted.get("cold starts", 0) * assumed.init_s_gb, "gigabyte-second"),
        line("Logs", logged / GIGABYTE, "log gigabyte"),
        line("Traces", runs * assumed.traced, "trace"),
    ]


def run_ms(counted: Quantities, assumed: Assumptions) -> float:
    """The functions' run time in milliseconds: their calls one after another, computing, and operations' waits."""
    waits = {
        "reads waited for": assumed.read_ms,
        "writes waited for": assumed.write_ms,
        "transactions waited for": assumed.transaction_ms,
        "sends waited for": assumed.send_ms,
        "invocations": assumed.run_ms,
        "messages": assumed.message_ms,
        "invocations of agent": assumed.operation_ms,
    }
    return sum(counted.get(name, 0) * each for name, each in waits.items())


def _month_lines(found: Measured, assumed: Assumptions) -> list[Line]:
    stack, sweep = found.stack, found.sweep
    of_a_queue = assumed.pollers * assumed.empty_receives_a_minute * MINUTES_A_MONTH
    counts = (
        stack["counted queues"] * MINUTES_A_MONTH / max(assumed.minutes_between_counts, assumed.minutes_between_sweeps)
    )
    sweeps = MINUTES_A_MONTH / assumed.minutes_between_sweeps
    seconds = run_ms(sweep, assumed) / 1000 * sweeps
    logged = (sweep["log bytes"] + sweep["metric bytes"] + assumed.platform_log_bytes) * sweeps
    return [
        line("Alarms", stack["alarms"], "alarm"),
        line("Custom metrics", stack["metrics"], "metric"),
        line("Dashboard", stack["dashboards"], "dashboard" if stack["shown"] <= MOST_SHOWN else "large dashboard"),
        line("Key of the alerts", stack["keys"], "key"),
        line("Empty receives", stack["queues"] * of_a_queue, "sqs request"),
        line("Empty receives, FIFO", stack["fifo queues"] * of_a_queue, "fifo request"),
        line("Supervisor, queues", counts, "sqs request"),
        line("Supervisor, writes", sweep["write units"] * sweeps, "write unit"),
        line("Supervisor, reads", sweep["read units"] * sweeps, "read unit"),
        line("Supervisor, requests", sweeps, "invocation"),
        line("Supervisor, time", seconds * assumed.memory_mb / 1024, "gigabyte-second"),
        line("Supervisor, logs", logged / GIGABYTE, "log gigabyte"),
    ]


def line(name: str, quantity: float, price: str) -> Line:
    """A line of a bill."""
    known = prices()[price]
    return Line(name, quantity, price, quantity * known["usd"] / known["per"])


def assumptions_by_name(assumed: Assumptions) -> Mapping[str, float]:
    """The value of each assumption."""
    return {each.name: getattr(assumed, each.name) for each in fields(assumed)}


def _read(name: str) -> str:
    return files("stepward.cli.cost").joinpath(name).read_text(encoding="utf-8")
