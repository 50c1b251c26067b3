"""What a million orders cost on the peers and on Stepward, by list price; every assumption is a field.

All figures of the peers omit what Stepward's own figure includes: the queue in front and its consumer, the order's
own record, alerts and alarms, and a way to resubmit.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stepward.cli.cost import estimate
from stepward.cli.cost.counting import count
from stepward.cli.cost.estimate import Line
from stepward.cli.cost.priced import Priced, calls_in_a_row

FILE = Path(__file__).with_name("prices.json")
"""The public list prices of the peers (us-east-1, before any free tier), each with its source and its date."""
GB = 1_000_000_000
HOURS_A_DAY = 24
DAYS_A_MONTH = 30
EXPRESS_CHUNK_MB = 64
EXPRESS_TICK_MS = 100
EXPRESS_LIMIT_MS = 300_000
WORK = "the steps' own time"
BATCHES = (10, 1)
MONTH = "a month, whatever the orders"
NOTE = "with the queue in front, the order's record, alarms and metrics"


@dataclass(frozen=True, slots=True)
class Price:
    """`usd` buy `per` of `unit`; read in `source` on `date`."""

    usd: float
    per: float
    unit: str
    source: str
    date: str

    def of(self, quantity: float) -> float:
        return self.usd * quantity / self.per


def prices() -> Mapping[str, Price]:
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
        return sum(line.usd for line in self.lines if line.name != WORK)


@dataclass(frozen=True, slots=True)
class Pricing:
    """The bills for one set of assumptions, at one list of prices."""

    given: Assumptions
    prices: Mapping[str, Price]

    def bills(self) -> Sequence[Bill]:
        return [self.standard(), self.durable(), self.temporal(), self.express()]

    def standard(self) -> Bill:
        """Step Functions Standard: one transition for the start and one for each state."""
        uses = {"state transitions": ("sfn_standard_transition", self.given.steps + 1)}
        note = "one function call for each step; history stored for 90 days at no charge"
        return Bill("Step Functions Standard", self._lines(uses, calls=self.given.steps), note)

    def express(self) -> Bill:
        """Step Functions Express, with its log: nothing else says how an order ended."""
        given = self.given
        uses = {
            "workflow requests": ("sfn_express_request", 1),
            "workflow duration": ("sfn_express_gb_second", given.express_ms / 1000 * EXPRESS_CHUNK_MB / 1024),
            "log of every event": ("logs_gb", given.events * given.event_bytes / GB),
        }
        fits = given.express_ms <= EXPRESS_LIMIT_MS
        limit = "ends after five minutes" if fits else "CANNOT run it: it ends after five minutes"
        note = f"{limit}; not durable: steps may run again from the start"
        return Bill("Step Functions Express", self._lines(uses, calls=given.steps), note)

    def durable(self) -> Bill:
        """Lambda durable functions: one operation for the start and one for each step, all in one function call."""
        given = self.given
        uses = {
            "durable operations": ("durable_operation", given.steps + 1),
            "data written": ("durable_gb_written", given.written_bytes / GB),
            "data stored": ("durable_gb_month", given.written_bytes / GB * given.stored_days / DAYS_A_MONTH),
        }
        note = "steps run in one function: no agent with limits of its own"
        return Bill("Lambda durable functions", self._lines(uses, calls=1), note)

    def temporal(self) -> Bill:
        """Temporal Cloud: one action for the start and one for each activity; the customer runs the workers."""
        given = self.given
        size_gb, open_hours = given.history_bytes / GB, given.busy_ms / 3_600_000
        uses = {
            "actions": ("temporal_action", given.steps + 1),
            "history, open": ("temporal_active_gbh", size_gb * open_hours),
            "history, closed": ("temporal_retained_gbh", size_gb * given.stored_days * HOURS_A_DAY),
        }
        usage = self._lines(uses)
        support = {"support plan": ("temporal_support", sum(line.usd for line in usage) / given.orders)}
        note = "without the workers, which are hosts to run day and night"
        return Bill("Temporal Cloud", usage + self._lines(support), note)

    def _lines(self, uses: Mapping[str, tuple[str, float]], calls: int = 0) -> tuple[Line, ...]:
        """What each order uses, priced for all of them, with the functions that run in so many calls."""
        seconds = self.given.busy_ms / 1000 * self.given.memory_mb / 1024
        functions = {"function calls": ("lambda_request", calls), WORK: ("lambda_arm_gb_second", seconds)}
        return tuple(
            Line(name, each * self.given.orders, price, self.prices[price].of(each * self.given.orders))
            for name, (price, each) in {**uses, **(functions if calls else {})}.items()
        )


def own_bills(given: Assumptions) -> Sequence[Bill]:
    """Stepward's bill for full batches and for single messages, each with one month's fixed costs."""
    return [_bill(given, batch) for batch in BATCHES]


def break_even(own: Bill, peer: Bill, orders: int) -> int | None:
    """From how many orders a month `own` is cheaper, where both bill `orders` in a month; None if never."""
    fixed = sum(line.usd for line in own.lines if line.name == MONTH)
    saved = (peer.usd - (own.usd - fixed)) / orders
    return math.ceil(fixed / saved) if saved > 0 else None


def _bill(given: Assumptions, batch: int) -> Bill:
    worked, idle = (_estimate(given, batch, wait) for wait in (given.step_ms, 0))
    work = (worked.order_usd - idle.order_usd) * given.orders
    lines = [replace(it, quantity=it.quantity * given.orders, usd=it.usd * given.orders) for it in idle.per_order]
    of_work = Line(WORK, work / estimate.prices()["gigabyte-second"]["usd"], "gigabyte-second", work)
    of_month = Line(MONTH, 1, "", worked.month_usd)
    return Bill(f"Stepward, batches of {batch}", (*lines, of_work, of_month), NOTE)


def _estimate(given: Assumptions, batch: int, operation_ms: float) -> estimate.Estimate:
    assumed = replace(estimate.Assumptions(), memory_mb=given.memory_mb, operation_ms=operation_ms)
    return estimate.estimate(count(Priced(calls_in_a_row(given.steps)), batch), estimate.measured(), assumed=assumed)
