"""Which of AWS's published limits a rate of orders meets first: counted requests, second by second for an hour."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stepward.cli.cost.counting import SHARDS
from stepward.cli.cost.estimate import run_ms
from stepward.cli.cost.load import mean_batch, source_of
from stepward.cli.cost.volumes import Deployment

HOUR_S, DOUBLED_AFTER_S = 3600, 1800
RATES = (100, 1000)
AT_ONCE, NEW_TABLE, TABLE, KEY = 1000, 4000, 40_000, 1000
"""Functions of an account at once; write units a second of a new table, of any table by default, and of one key."""


@dataclass(frozen=True, slots=True)
class Part:
    """What takes `each` for an order, and its limit: a table's doubles half an hour after its peak, up to its quota."""

    name: str
    each: float
    first: float
    grows: bool = False

    def limit(self, second: int) -> float:
        doubled: int = 2 ** (second // DOUBLED_AFTER_S)
        return min(TABLE, self.first * doubled) if self.grows else self.first

    def waiting(self, rate: float) -> float:
        """Orders that wait after an hour, if what is over the limit waits."""
        left = 0.0
        for second in range(HOUR_S):
            left = max(0.0, left + rate - self.limit(second) / self.each)
        return left


def parts(deployment: Deployment, rate: float) -> Iterator[Part]:
    """All that has a limit."""
    load, assumed, sources = deployment.load, deployment.assumed, deployment.sources
    for queue, taking in load.takings.items():
        source = source_of(queue, sources)
        batch = mean_batch(rate * taking.one["messages"], source, taking, assumed)
        functions = taking.one["messages"] * taking.run_s(batch, assumed) / batch
        yield Part(f"functions behind {queue}", functions, source.most)
    yield Part("functions of the account", run_ms(load.alone, assumed) / 1000, AT_ONCE)
    yield Part("write units, state store", load.alone["write units"] - 2, NEW_TABLE, grows=True)
    yield Part("write units, orders", 2, NEW_TABLE, grows=True)
    yield Part("write units, a shard of the due index", 2 / SHARDS, KEY)


def table(deployment: Deployment) -> str:
    """What each part needs at each rate, its limit, and the orders that wait after an hour."""
    head = [
        "a second",
        *(f"at {rate:,} orders" for rate in RATES),
        "limit",
        *(f"waiting at {rate:,}" for rate in RATES),
    ]
    rows = [head, ["---", *["---:"] * (len(head) - 1)], *_rows(deployment)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _rows(deployment: Deployment) -> Iterator[Sequence[str]]:
    for found in zip(*(parts(deployment, rate) for rate in RATES), strict=True):
        needs = (f"{part.each * rate:,.0f}" for part, rate in zip(found, RATES, strict=True))
        waits = (f"{part.waiting(rate):,.0f}" for part, rate in zip(found, RATES, strict=True))
        yield found[0].name, *needs, f"{found[0].first:,.0f}", *waits
