"""The public list prices of the peers (us-east-1, before any free tier), each with its source and its date."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("prices.json")


@dataclass(frozen=True, slots=True)
class Price:
    """`usd` buy `per` of `unit`; read in `source` on `date`."""

    usd: float
    per: float
    unit: str
    source: str
    date: str

    def of(self, quantity: float) -> float:
        """What so many units cost, in US dollars."""
        return self.usd * quantity / self.per


def prices() -> Mapping[str, Price]:
    """Every price by its name."""
    return {name: Price(**raw) for name, raw in json.loads(FILE.read_text()).items()}
