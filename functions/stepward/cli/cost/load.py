"""How full batches are at a rate of orders, and so what an order takes: a model of Lambda's pollers.

A poller waits for a message, gathers more for the batching window, runs the function, and waits again. A queue has
five, and Lambda adds more, up to the queue's most, as soon as messages have to wait. So without a window a batch holds
one message until all pollers are busy; then what has gathered meanwhile fills it. Orders come evenly.

Source: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html (five at first, up to 300 a minute more
while messages wait). No account has confirmed the model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from stepward.cli.cost.billing import SENDS_TO
from stepward.cli.cost.counting import count_queues
from stepward.cli.cost.estimate import Assumptions, Quantities, run_ms
from stepward.cli.cost.functions import QUEUES
from stepward.cli.cost.priced import Priced

FULL = 10
"""The largest batch that is counted."""
COLD = "cold starts"
_OF_A_RUN = (
    "read units",
    "sqs receives and deletes",
    "invocations",
    "invocations of agent",
    "reads waited for",
    "metric bytes",
)
"""What messages of one run share. Writes may be shared as well, if answers for one task meet, which is left out."""


@dataclass(frozen=True, slots=True)
class Source:
    """How Lambda takes messages from a queue: at most `size` in a batch, `most` functions at once."""

    size: float
    most: float
    window: float = 0


@dataclass(frozen=True, slots=True)
class Taking:
    """What the runs behind one queue take for an order, with single messages and in full batches."""

    one: Quantities
    full: Quantities

    def at(self, batch: float) -> Quantities:
        """The same in batches of so many on average."""
        shared = (1 - 1 / batch) / (1 - 1 / FULL)
        found = {name: one + (self.full.get(name, 0) - one) * shared for name, one in self.one.items()}
        runs, messages = found["invocations"], self.one["messages"]
        sends = runs * sum(1 - (1 - min(1, each / messages)) ** batch for each in self._targets)
        before = self.one.get("sqs sends", 0)
        more = max(sends, found.get("sqs sends", 0)) - before
        fair = self.one.get("fair requests", 0) * (1 + more / before) if before else 0
        waited = self.one.get("sends waited for", 0) + more
        return found | {"sqs sends": before + more, "fair requests": fair, "sends waited for": waited}

    @property
    def _targets(self) -> list[float]:
        return [each for name, each in self.one.items() if name.startswith(SENDS_TO)]

    def run_s(self, batch: float, assumed: Assumptions) -> float:
        """How long a run takes that has so many messages."""
        found = self.at(batch)
        return run_ms(found, assumed) / found["invocations"] / 1000


@dataclass(frozen=True, slots=True)
class Load:
    """What an order takes in all if each message comes alone, and behind which queue."""

    alone: Quantities
    takings: Mapping[str, Taking]

    @classmethod
    def of(cls, priced: Priced) -> Load:
        """Count it; raises Misconfigured."""
        (alone, one), (_, full) = (count_queues(priced, batch) for batch in (1, FULL))
        return cls(alone, {queue: Taking(took, full[queue]) for queue, took in one.items()})

    @property
    def functions(self) -> set[str]:
        """The functions that an order passes through, which are all cold if no order came for long."""
        return {QUEUES.get(queue, queue) for queue in self.takings}

    def batches(self, rate: float, sources: Mapping[str, Source], assumed: Assumptions) -> Mapping[str, float]:
        """How many messages a run of each queue has on average, at so many orders a second."""
        return {
            queue: mean_batch(rate * taking.one["messages"], source_of(queue, sources), taking, assumed)
            for queue, taking in self.takings.items()
        }

    def order(self, batches: Mapping[str, float]) -> dict[str, float]:
        """What an order takes in such batches."""
        found = dict(self.alone)
        for queue, taking in self.takings.items():
            now = taking.at(batches[queue])
            for name in (*_OF_A_RUN, "fair requests", "sends waited for"):
                found[name] = found.get(name, 0) + now.get(name, 0) - taking.one.get(name, 0)
            requests = ("sqs sends", "sqs receives and deletes")
            found["sqs requests"] += sum(now.get(name, 0) - taking.one.get(name, 0) for name in requests)
        return found

    def cold(self, rate: float, found: Quantities, assumed: Assumptions) -> Quantities:
        """The cold starts of such an order."""
        return {COLD: cold_starts(rate, len(self.functions), found["invocations"], assumed)}


def cold_starts(rate: float, functions: int, runs: float, assumed: Assumptions) -> float:
    """Cold starts of an order: of each function if none came for so long that Lambda has ended it, and of few runs."""
    alone = math.exp(-rate * assumed.idle_s)
    return functions * alone + runs * assumed.cold_share * (1 - alone)


def mean_batch(rate: float, source: Source, taking: Taking, assumed: Assumptions) -> float:
    """Messages in a batch, at so many a second."""
    first = min(assumed.pollers, source.most)
    for pollers in range(int(first), int(source.most) + 1):
        batch = min(source.size, 1 + rate * source.window / pollers)
        if rate / batch * taking.run_s(batch, assumed) <= pollers:
            return batch
    low, high = 1.0, source.size
    for _ in range(30):
        middle = (low + high) / 2
        keeps_up = rate / middle * taking.run_s(middle, assumed) <= source.most
        low, high = (low, middle) if keeps_up else (middle, high)
    return high


def sources_of(stack: Quantities) -> Mapping[str, Source]:
    """How the queues are taken from by default, as the template has it."""
    return {
        name: Source(stack[f"batch of {name}"], stack[f"at once of {name}"], stack[f"window of {name}"])
        for name in (*QUEUES, "agent")
    }


def source_of(queue: str, sources: Mapping[str, Source]) -> Source:
    """That of one queue; all agents' are alike."""
    return sources[queue if queue in QUEUES else "agent"]


def in_batches(sources: Mapping[str, Source], *, engine: float = 0, agents: float = 0) -> Mapping[str, Source]:
    """The same with other batch sizes, if they are given."""
    return {
        name: replace(source, size=(agents if name == "agent" else engine) or source.size)
        for name, source in sources.items()
    }
