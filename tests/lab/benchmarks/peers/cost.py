"""What a million orders cost on the peers, by list price, every assumption a field.

Left out for all of them, though Stepward's own figure has them in: the queue in front and who reads it, the order's
own record, alerts and alarms, and a way to resubmit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.lab.benchmarks.peers.prices import Price

GB = 1_000_000_000
HOURS_A_DAY = 24
DAYS_A_MONTH = 30
EXPRESS_CHUNK_MB = 64
EXPRESS_TICK_MS = 100
EXPRESS_LIMIT_MS = 300_000
WORK = "the steps' own time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """The order that every peer is priced for: no failure, no retry, no step beside another."""

    orders: int = 1_000_000
    steps: int = 3
    step_ms: int = 100
    """How long one step's function runs, its remote call included."""
    between_ms: int = 20
    """How long Step Functions takes from one state to the next."""
    memory_mb: int = 512
    """Of the function, on arm64."""
    written_bytes: int = 2_000
    """The order and its steps' results, as a durable function writes them down."""
    history_bytes: int = 3_000
    """The history of one workflow at Temporal; its development server measured 2,290 bytes for three empty steps."""
    event_bytes: int = 400
    """One event in the log of an Express workflow, which has no other history."""
    kept_days: int = 14
    """How long the history of an ended order is kept; the default of durable functions."""

    @property
    def busy_ms(self) -> int:
        """How long the functions of one order run."""
        return self.steps * self.step_ms

    @property
    def express_ms(self) -> int:
        """How long an Express workflow runs, in whole ticks of its bill."""
        lasts = self.busy_ms + (self.steps + 1) * self.between_ms
        return math.ceil(lasts / EXPRESS_TICK_MS) * EXPRESS_TICK_MS

    @property
    def events(self) -> int:
        """The events of an Express workflow: five for each state, one at each end."""
        return 5 * self.steps + 2


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a bill."""

    what: str
    price: str
    quantity: float
    usd: float


@dataclass(frozen=True, slots=True)
class Bill:
    """What the orders cost on one peer, and what has to be known beside it."""

    name: str
    lines: tuple[Line, ...]
    note: str

    @property
    def usd(self) -> float:
        """All lines together."""
        return sum(line.usd for line in self.lines)

    @property
    def usd_of_engine(self) -> float:
        """What is left without the time that the steps' own work takes, which costs the same whoever calls it."""
        return sum(line.usd for line in self.lines if line.what != WORK)


@dataclass(frozen=True, slots=True)
class Pricing:
    """Writes the bills of one set of assumptions with one list of prices."""

    given: Assumptions
    prices: Mapping[str, Price]

    def bills(self) -> Sequence[Bill]:
        """One bill for each peer."""
        return [self.standard(), self.durable(), self.temporal(), self.express()]

    def standard(self) -> Bill:
        """Step Functions Standard: one transition for the start and one for each state."""
        engine = self._line("state transitions", "sfn_standard_transition", self.given.steps + 1)
        return Bill(
            "Step Functions Standard",
            (engine, *self._functions(self.given.steps)),
            "one function call for each step; history kept 90 days at no charge",
        )

    def express(self) -> Bill:
        """Step Functions Express, with its log, without which nobody learns what became of an order."""
        given = self.given
        memory_gb = EXPRESS_CHUNK_MB / 1024
        lines = (
            self._line("workflow requests", "sfn_express_request", 1),
            self._line("workflow duration", "sfn_express_gb_second", given.express_ms / 1000 * memory_gb),
            self._line("log of every event", "logs_gb", given.events * given.event_bytes / GB),
            *self._functions(given.steps),
        )
        fits = given.express_ms <= EXPRESS_LIMIT_MS
        limit = "ends after five minutes" if fits else "CANNOT run it: it ends after five minutes"
        return Bill("Step Functions Express", lines, f"{limit}; not durable: steps may run again from the start")

    def durable(self) -> Bill:
        """Lambda durable functions: one operation for the start and one for each step, all in one function call."""
        given = self.given
        kept = given.written_bytes / GB * given.kept_days / DAYS_A_MONTH
        lines = (
            self._line("durable operations", "durable_operation", given.steps + 1),
            self._line("data written", "durable_gb_written", given.written_bytes / GB),
            self._line("data kept", "durable_gb_month", kept),
            *self._functions(1),
        )
        return Bill("Lambda durable functions", lines, "steps run in one function: no agent with limits of its own")

    def temporal(self) -> Bill:
        """Temporal Cloud: one action for the start and one for each activity; the workers are the customer's."""
        given = self.given
        size_gb, open_hours = given.history_bytes / GB, given.busy_ms / 3_600_000
        usage = (
            self._line("actions", "temporal_action", given.steps + 1),
            self._line("history, open", "temporal_active_gbh", size_gb * open_hours),
            self._line("history, closed", "temporal_retained_gbh", size_gb * given.kept_days * HOURS_A_DAY),
        )
        spent = sum(line.usd for line in usage) / given.orders
        support = self._line("support plan", "temporal_support", spent)
        return Bill("Temporal Cloud", (*usage, support), "without the workers, which are hosts to run day and night")

    def _functions(self, calls: int) -> tuple[Line, ...]:
        seconds = self.given.busy_ms / 1000 * self.given.memory_mb / 1024
        return (
            self._line("function calls", "lambda_request", calls),
            self._line(WORK, "lambda_arm_gb_second", seconds),
        )

    def _line(self, what: str, price: str, each: float) -> Line:
        quantity = each * self.given.orders
        return Line(what, price, quantity, self.prices[price].of(quantity))
