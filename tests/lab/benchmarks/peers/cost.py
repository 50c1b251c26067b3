"""What a million orders cost on the peers, by list price; every assumption is a field.

All of their figures omit what Stepward's own figure includes: the queue in front and its consumer, the order's
own record, alerts and alarms, and a way to resubmit.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("prices.json")
"""The public list prices of the peers (us-east-1, before any free tier), each with its source and its date."""
GB = 1_000_000_000
HOURS_A_DAY = 24
DAYS_A_MONTH = 30
EXPRESS_CHUNK_MB = 64
EXPRESS_TICK_MS = 100
EXPRESS_LIMIT_MS = 300_000
WORK = "the steps' own time"


@dataclass(frozen=True, slots=True)
class Price:
    """`usd` buy `per` of `unit`; read in `source` on `date`."""

    usd: float
    per: float
    unit: str
    source: str
    date: str

    def of(self, quantity: float) -> float:
        """The price of `quantity` units, in US dollars."""
        return self.usd * quantity / self.per


def prices() -> Mapping[str, Price]:
    """Every price by its name."""
    return {name: Price(**raw) for name, raw in json.loads(FILE.read_text()).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """The order that every peer is priced for: no failure, no retry, no steps side by side."""

    orders: int = 1_000_000
    steps: int = 3
    step_ms: int = 100
    """How long one step's function runs, its remote call included."""
    between_ms: int = 20
    """How long Step Functions takes from one state to the next."""
    memory_mb: int = 512
    """Of the function, on arm64."""
    written_bytes: int = 2_000
    """The order and its steps' results, as a durable function stores them."""
    history_bytes: int = 3_000
    """The history of one workflow at Temporal; its development server measured 2,290 bytes for three empty steps."""
    event_bytes: int = 400
    """One event in the log of an Express workflow, its only history."""
    stored_days: int = 14
    """How long the history of an ended order is stored; the default of durable functions."""

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
    """What the orders cost on one peer, and a note that qualifies it."""

    name: str
    lines: tuple[Line, ...]
    note: str

    @property
    def usd(self) -> float:
        return sum(line.usd for line in self.lines)

    @property
    def usd_of_engine(self) -> float:
        """The sum without the steps' own time, which costs the same on every engine."""
        return sum(line.usd for line in self.lines if line.what != WORK)


@dataclass(frozen=True, slots=True)
class Pricing:
    """The bills for one set of assumptions, at one list of prices."""

    given: Assumptions
    prices: Mapping[str, Price]

    def bills(self) -> Sequence[Bill]:
        """One bill for each peer."""
        return [self.standard(), self.durable(), self.temporal(), self.express()]

    def standard(self) -> Bill:
        """Step Functions Standard: one transition for the start and one for each state."""
        engine = self._line("state transitions", "sfn_standard_transition", self.given.steps + 1)
        note = "one function call for each step; history stored for 90 days at no charge"
        return Bill("Step Functions Standard", (engine, *self._functions(self.given.steps)), note)

    def express(self) -> Bill:
        """Step Functions Express, with its log: nothing else says how an order ended."""
        given, memory_gb = self.given, EXPRESS_CHUNK_MB / 1024
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
        stored = given.written_bytes / GB * given.stored_days / DAYS_A_MONTH
        lines = (
            self._line("durable operations", "durable_operation", given.steps + 1),
            self._line("data written", "durable_gb_written", given.written_bytes / GB),
            self._line("data stored", "durable_gb_month", stored),
            *self._functions(1),
        )
        return Bill("Lambda durable functions", lines, "steps run in one function: no agent with limits of its own")

    def temporal(self) -> Bill:
        """Temporal Cloud: one action for the start and one for each activity; the customer runs the workers."""
        given = self.given
        size_gb, open_hours = given.history_bytes / GB, given.busy_ms / 3_600_000
        usage = (
            self._line("actions", "temporal_action", given.steps + 1),
            self._line("history, open", "temporal_active_gbh", size_gb * open_hours),
            self._line("history, closed", "temporal_retained_gbh", size_gb * given.stored_days * HOURS_A_DAY),
        )
        spent = sum(line.usd for line in usage) / given.orders
        support = self._line("support plan", "temporal_support", spent)
        return Bill("Temporal Cloud", (*usage, support), "without the workers, which are hosts to run day and night")

    def _functions(self, calls: int) -> tuple[Line, ...]:
        seconds = self.given.busy_ms / 1000 * self.given.memory_mb / 1024
        return self._line("function calls", "lambda_request", calls), self._line(WORK, "lambda_arm_gb_second", seconds)

    def _line(self, what: str, price: str, each: float) -> Line:
        quantity = each * self.given.orders
        return Line(what, price, quantity, self.prices[price].of(quantity))
