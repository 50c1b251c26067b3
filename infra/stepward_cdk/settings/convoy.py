"""What a deployment chooses for its convoy: its rules for order events, and who has an own ledger queue."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stepward.domain.errors import Misconfigured
from stepward_cdk.settings.checks import matches, one_of, within

MAX_CUSTOMERS = 12  # each has a queue, a function and their alarms; a stack takes 500 resources
FIFO_BATCH = 10  # SQS takes no more from a FIFO queue
LEAST_LEDGER_S = 30  # the ledger processor stops 10 s before its end, and must have made progress by then
LONGEST_LEDGER_S = 900
LEAST_LANE_S, LONGEST_LANE_S = 5, 60
_CUSTOMER = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]{0,38}[A-Za-z0-9])?")
_MONTH_MS = 31 * 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvoySettings:
    """Times in the unit that their names end with.

    `customers` have a queue and a function of their own; those of `draining` go once they are empty.
    """

    sequences: str
    gap_ms: int
    idle_ms: int
    attempts: int
    lane_timeout_s: int
    ledger_timeout_s: int
    ledger_concurrency: int
    ledger_days: int
    customers: Sequence[str]
    draining: Sequence[str]

    @property
    def queues(self) -> Sequence[str]:
        """The customers whose queues and functions are there."""
        return (*self.customers, *self.draining)

    def check(self) -> None:
        """Refuse a value that cannot work, by the name of its setting."""
        one_of("sequences", self.sequences, "required", "optional")
        within("gap_ms", self.gap_ms, 1000, _MONTH_MS)
        if self.idle_ms:
            within("idle_ms", self.idle_ms, 60_000, 12 * _MONTH_MS)
        within("event_attempts", self.attempts, 1, 1000)
        within("lane_timeout_s", self.lane_timeout_s, LEAST_LANE_S, LONGEST_LANE_S)
        within("ledger_timeout_s", self.ledger_timeout_s, LEAST_LEDGER_S, LONGEST_LEDGER_S)
        within("ledger_concurrency", self.ledger_concurrency, 2, 1000)
        within("ledger_days", self.ledger_days, 1, 3650)
        for name, customers in (("ledger_customers", self.customers), ("draining_customers", self.draining)):
            for customer in customers:
                meaning = "an id of up to 40 letters, digits, '-' and '_', with a letter or digit at both ends"
                matches(name, customer, _CUSTOMER, meaning)
        if both := set(self.customers) & set(self.draining):
            name = min(both)
            raise Misconfigured(f"draining_customers: {name} is in ledger_customers, too; take it out of one of them")
        if (many := len(self.queues)) > MAX_CUSTOMERS:
            raise Misconfigured(f"ledger_customers: {many} customers; {MAX_CUSTOMERS} can have a queue of their own")

    @property
    def rules(self) -> Mapping[str, str]:
        """The variables with the rules for lanes."""
        return {
            "STEPWARD_SEQUENCES": self.sequences,
            "STEPWARD_GAP_MS": str(self.gap_ms),
            "STEPWARD_IDLE_MS": str(self.idle_ms),
            "STEPWARD_EVENT_ATTEMPTS": str(self.attempts),
        }
