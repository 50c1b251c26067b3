"""What a deployment costs at any volume of orders, from which volume it undercuts a peer, and what would save most."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stepward.cli.cost.estimate import Assumptions, Estimate, Measured, Quantities, estimate, measured
from stepward.cli.cost.load import Load, Source, in_batches, sources_of
from stepward.cli.cost.peers import DURABLE, SECONDS_A_MONTH, Bill, Peers, Work

VOLUMES = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
"""Orders a month."""
MOST = 10**9
LEAST_SAVING = 0.005
"""US dollars a month: less is not worth a word."""
TRACED = 0.05
"""Share of the runs that X-Ray records if tracing is on."""
CHEAPER: Mapping[str, tuple[Any, str]] = {
    "watching": ("lean", "alarms say less"),
    "tracing": (False, "X-Ray shows nothing"),
    "supervise_minutes": (5, "what is overdue is found up to five minutes later"),
    "agent_batch_size": (10, "requests that one run serves side by side die together"),
}
"""The cheapest value of each setting that stops nothing, and what it takes away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """Orders of one workflow under `settings`, those of a file in infra/environments; `batch` replaces the model."""

    load: Load
    settings: Mapping[str, Any]
    assumed: Assumptions
    batch: int = 0
    recoveries: float = 0
    paced: int = 0

    @property
    def found(self) -> Measured:
        """The counts of the stack, as it is watched."""
        counts = measured()
        return replace(counts, stack=counts.full) if self.settings.get("watching") == "full" else counts

    @property
    def sources(self) -> Mapping[str, Source]:
        """How its queues are taken from."""
        size, of_agents = (self.settings.get(name, 0) for name in ("batch_size", "agent_batch_size"))
        return in_batches(sources_of(self.found.stack), engine=size, agents=of_agents)

    def batches(self, orders: float) -> Mapping[str, float]:
        """Messages in a run of each queue, if so many orders come a month."""
        if self.batch:
            return dict.fromkeys(self.load.takings, float(self.batch))
        return self.load.batches(orders / SECONDS_A_MONTH, self.sources, self.assumed)

    def counted(self, orders: float) -> Quantities:
        """What an order takes, if so many come a month."""
        found = self.load.order(self.batches(orders))
        return {**found, **self.load.cold(orders / SECONDS_A_MONTH, found, self.assumed)}

    def estimate(self, orders: float) -> Estimate:
        """The bill, if so many orders come a month."""
        assumed = replace(
            self.assumed,
            traced=TRACED if self.settings.get("tracing") else 0,
            minutes_between_sweeps=self.settings.get("supervise_minutes", 1),
        )
        return estimate(self.counted(orders), self.found, recoveries=self.recoveries, assumed=assumed, paced=self.paced)

    def usd(self, orders: float) -> float:
        """US dollars for a month with so many orders."""
        bill = self.estimate(orders)
        return bill.order_usd * orders + bill.month_usd

    def peers(self, work: Work, orders: float) -> Sequence[Bill]:
        """What the same orders cost elsewhere."""
        return Peers(work, self.assumed, orders).bills()

    def cheaper_from(self, work: Work, name: str = DURABLE) -> int | None:
        """From how many orders a month on it costs less than a peer, to two digits; None if never."""

        def cheaper(orders: float) -> bool:
            theirs = {each.name: each for each in self.peers(work, orders)}
            return name in theirs and self.usd(orders) < theirs[name].usd(orders)

        if not cheaper(MOST):
            return None
        low, high = 1.0, float(MOST)
        while high / low > 1.01:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if cheaper(middle) else (middle, high)
        return round(int(high), 2 - len(str(int(high))))

    def savings(self, orders: float) -> Sequence[tuple[float, str]]:
        """What each setting would save a month at its cheapest value, and which; the largest saving first."""
        now = self.usd(orders)
        others = {name: replace(self, settings={**self.settings, name: to}) for name, (to, _) in CHEAPER.items()}
        found = [(now - other.usd(orders), name) for name, other in others.items()]
        return sorted((each for each in found if each[0] >= LEAST_SAVING), reverse=True)
