"""Which Supervisor may sweep a shard for now, as pure functions over one small record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

USUAL_LENGTH = 90_000


@dataclass(frozen=True, slots=True)
class Lease:
    """`holder` may work until `until` (epoch ms by its own clock); `fence` rises each time the lease is taken.

    `until` is 0 once the lease has been given back.
    """

    holder: str
    fence: int
    until: int

    def to_body(self) -> dict[str, Any]:
        """The lease as plain data."""
        return asdict(self)


def lease_of(body: Mapping[str, Any]) -> Lease | None:
    """The lease that `to_body` wrote; None for anything else, so a corrupt record holds nobody up."""
    match body:
        case {"holder": str(holder), "fence": int(fence), "until": int(until)}:
            return Lease(holder, fence, until)
        case _:
            return None


def take(lease: Lease | None, holder: str, *, now: int, length: int, skew_margin: int) -> Lease | None:
    """The lease that `holder` takes at `now` for `length` milliseconds; None while somebody else holds it.

    A lease that ends later than any that could be taken now comes from a wrong clock, and counts as free.
    """
    fence = lease.fence if lease else 0
    if lease and lease.holder != holder and now - skew_margin < lease.until <= now + length + skew_margin:
        return None
    return Lease(holder, fence + 1, now + length)


def given_back(lease: Lease) -> Lease:
    """The lease, free for anybody at once."""
    return replace(lease, until=0)
