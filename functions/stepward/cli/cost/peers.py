"""What orders cost on the peers, by list price; each peer also at its cheapest documented setting.

The figures leave out, in the peers' favour, what Stepward's own include: the order's own record, alarms, and a way to
resubmit; and the queue in front, where the name does not say that there is one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stepward.cli.cost.estimate import MINUTES_A_MONTH, Assumptions, Line, line
from stepward.cli.cost.load import cold_starts
from stepward.cli.cost.priced import Priced, kind_of
from stepward.domain.workflow.plan import PlannedStep, StepKind

SECONDS_A_MONTH = MINUTES_A_MONTH * 60
DURABLE = "Lambda durable functions"
TIERS = ((5e6, 50), (5e6, 45), (10e6, 40), (30e6, 35), (50e6, 30), (100e6, 25))
"""Temporal's Business plan: so many actions a month, and dollars for a million of them; the last price goes on."""
BUSINESS_FREE, BUSINESS_LEAST = 2.5e6, 500
_EXPRESS_MB, _EXPRESS_TICK_MS, _EXPRESS_LIMIT_MS = 64, 100, 300_000


@dataclass(frozen=True, slots=True)
class Units:
    """What one step is billed as: operations of a durable function, transitions, actions; and function calls."""

    operations: float = 1
    transitions: float = 1
    actions: float = 1
    calls: float = 0


UNITS: Mapping[str, Units] = {
    "call": Units(calls=1),
    "checked call": Units(calls=1),
    "call answered later": Units(operations=3, calls=1),
    "signal": Units(operations=3),
    "timer": Units(),
    "child": Units(actions=2),
    "each": Units(),
    "skipped": Units(operations=0, actions=0),
}
"""By kind of step: a durable function's callback is three operations; a condition is a transition of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """An order as the peers run it: no failure, no retry; `waits` if a step is more than a call."""

    operations: float
    transitions: float
    actions: float
    calls: float
    functions: int
    waits: bool = False
    written_bytes: int = 2_000
    """The order and its steps' results, as a durable function stores them."""
    history_bytes: int = 3_000
    """A workflow's history at Temporal; its development server measured 2,290 bytes for three empty steps."""
    event_bytes: int = 400
    """An event in the log of an Express workflow, which is its only history."""
    stored_days: int = 14
    """How long a history is stored; the default of durable functions."""
    between_ms: int = 20
    """How long Step Functions takes from one state to the next."""

    @classmethod
    def of(cls, priced: Priced) -> Work:
        """The same order as Stepward's; each starts with a unit more."""
        found = list(_units(priced, priced.plan.steps))
        agents = {agent for agent, _ in priced.plan.operations()}
        return cls(
            operations=1 + sum(each.operations for each in found),
            transitions=1 + sum(each.transitions for each in found),
            actions=1 + sum(each.actions for each in found),
            calls=sum(each.calls for each in found),
            functions=len(agents),
            waits=any(kind_of(step) in {"call answered later", "signal", "timer"} for step in priced.steps),
        )


def _units(priced: Priced, steps: Sequence[PlannedStep]) -> Iterator[Units]:
    for step in steps:
        skipped = step.name in priced.skipped
        yield UNITS["skipped" if skipped else kind_of(step)]
        if not skipped:
            times = priced.items if step.kind is StepKind.EACH else 1
            for _ in range(times):
                yield from _units(priced, step.parts)
            yield from _units(priced, step.child.steps) if step.child else ()


@dataclass(frozen=True, slots=True)
class Bill:
    """What an order costs on a peer, and a month there without orders; `note` qualifies it."""

    name: str
    lines: tuple[Line, ...]
    note: str = ""
    month: tuple[Line, ...] = ()
    cold: int = 0
    """Functions that start one after another if none is warm; Temporal's workers are left out."""

    @property
    def order_usd(self) -> float:
        """US dollars for one order, at small volumes."""
        return sum(each.usd for each in self.lines)

    def usd(self, orders: float) -> float:
        """US dollars for so many orders in a month."""
        return self.order_usd * orders + sum(each.usd for each in self.month)


@dataclass(frozen=True, slots=True)
class Peers:
    """The bills of the peers for this order, if so many come a month."""

    work: Work
    assumed: Assumptions
    orders: float

    def bills(self) -> Sequence[Bill]:
        """All of them, durable functions first."""
        found = [self.durable(), self.queued(), self.standard(), self.temporal()]
        if not self.work.waits:
            found += [self.nested(), self.local(), self.express()]
        return found

    def durable(self) -> Bill:
        """One operation for the start and one for each step, all in one run of a function."""
        return Bill(DURABLE, self._durable(), "steps run in one function: no agent with limits of its own", cold=1)

    def queued(self) -> Bill:
        """The same behind a queue, as Stepward stands: an order then lasts at most 15 minutes in all."""
        message = line("a message sent, received, deleted", 3, "sqs request")
        polled = self.assumed.pollers * self.assumed.empty_receives_a_minute * MINUTES_A_MONTH
        idle = line("Empty receives", polled, "sqs request")
        note = "an order lasts at most 15 minutes in all, waits included"
        return Bill("Durable, fed by a queue", (*self._durable(), message), note, (idle,), 1)

    def _durable(self) -> tuple[Line, ...]:
        gigabytes, work = self.work.written_bytes / 1e9, self.work
        return (
            line("durable operations", work.operations, "durable operation"),
            line("data written", gigabytes, "durable gigabyte written"),
            line("data stored", gigabytes * work.stored_days / 30, "durable gigabyte kept"),
            *self._functions(1, 1),
        )

    def standard(self) -> Bill:
        """Step Functions Standard: one transition for the start and one for each state, a function call for each."""
        used = line("state transitions", self.work.transitions, "state transition")
        note = "HTTP tasks in place of functions save the functions' part"
        return Bill(
            "Step Functions Standard",
            (used, *self._functions(self.work.calls, self.work.functions)),
            note,
            cold=self.work.functions,
        )

    def nested(self) -> Bill:
        """Standard that holds one state: an Express workflow with all steps."""
        used = line("state transitions", 2, "state transition")
        note = "steps end within five minutes, and may all run again"
        return Bill("Standard + nested Express", (used, *self._express()), note, cold=self.work.functions)

    def express(self) -> Bill:
        """Express alone, with its log: nothing else says how an order ended."""
        fits = self._express_ms <= _EXPRESS_LIMIT_MS
        return Bill(
            "Step Functions Express",
            self._express(),
            "ends after five minutes; not durable" if fits else "CANNOT run it: it ends after five minutes",
            cold=self.work.functions,
        )

    @property
    def _express_ms(self) -> float:
        lasts = self.work.calls * self.assumed.operation_ms + self.work.transitions * self.work.between_ms
        return math.ceil(lasts / _EXPRESS_TICK_MS) * _EXPRESS_TICK_MS

    def _express(self) -> tuple[Line, ...]:
        seconds, events = self._express_ms / 1000, 5 * (self.work.transitions - 1) + 2
        return (
            line("workflow requests", 1, "express request"),
            line("workflow duration", seconds * _EXPRESS_MB / 1024, "express gigabyte-second"),
            line("log of every event", events * self.work.event_bytes / 1e9, "log gigabyte"),
            *self._functions(self.work.calls, self.work.functions),
        )

    def temporal(self) -> Bill:
        """Temporal Cloud: one action for the start and one for each activity."""
        return self._temporal("Temporal Cloud", self.work.actions, "without its workers")

    def local(self) -> Bill:
        """The same with local activities: those of one workflow task are one action."""
        return self._temporal("Temporal, local activities", 2, "without its workers; steps of a few seconds")

    def _temporal(self, name: str, actions: float, note: str) -> Bill:
        hours, size = self.work.calls * self.assumed.operation_ms / 3_600_000, self.work.history_bytes / 1e9
        usage = (
            line("actions", actions, "temporal action"),
            line("history, open", size * hours, "temporal open gigabyte-hour"),
            line("history, closed", size * self.work.stored_days * 24, "temporal closed gigabyte-hour"),
        )
        stored, all_actions = (usage[1].usd + usage[2].usd) * self.orders, actions * self.orders
        developer = (stored + usage[0].usd * self.orders) * 1.1
        spent = stored + business_usd(all_actions)
        if spent + max(BUSINESS_LEAST, spent / 10) < developer:
            each = (spent + max(BUSINESS_LEAST, spent / 10)) / self.orders
            return Bill(name, (Line("Business plan", 1, "temporal action", each),), note)
        plan = line("Developer plan", sum(each.usd for each in usage), "temporal plan")
        return Bill(name, (*usage, plan), note)

    def _functions(self, calls: float, functions: int) -> tuple[Line, ...]:
        seconds = self.work.calls * self.assumed.operation_ms / 1000
        cold = cold_starts(self.orders / SECONDS_A_MONTH, functions, calls, self.assumed)
        return (
            line("function calls", calls, "invocation"),
            line("the steps' own time", seconds * self.assumed.memory_mb / 1024, "gigabyte-second"),
            line("cold starts", cold * self.assumed.init_s_gb, "gigabyte-second"),
        )


def business_usd(actions: float) -> float:
    """US dollars for so many actions in a month on Temporal's Business plan, without the plan itself."""
    usd, left = 0.0, max(0.0, actions - BUSINESS_FREE)
    for size, price in (*TIERS[:-1], (math.inf, TIERS[-1][1])):
        usd += min(left, size) / 1e6 * price
        left -= min(left, size)
    return usd
