"""How many single alerts people get in an outage; the rest come in one summary."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

MOST_SINGLES = 10
SPAN = 5 * 60_000
MOST_HEARD = 2_000
"""The most alerts that are known to have reached people only; people hear of an older one again."""


@dataclass(frozen=True, slots=True)
class AlertRecord:
    """When single alerts went out, and the names of those that people have heard of and machines have not."""

    times: tuple[int, ...] = ()
    heard: tuple[str, ...] = ()

    def hear(self, names: Collection[str]) -> AlertRecord:
        """With these among the heard ones, of which the latest are kept."""
        return replace(self, heard=(*(name for name in self.heard if name not in names), *names)[-MOST_HEARD:])

    def forget(self, names: Collection[str]) -> AlertRecord:
        """Without these: machines have them as well."""
        return replace(self, heard=tuple(name for name in self.heard if name not in names))


def admitted(times: Sequence[int], now: int) -> tuple[int, ...] | None:
    """The times of the latest single alerts with one more at `now` (epoch ms); None if it is one too many.

    There may be `MOST_SINGLES` in a `SPAN`. A time that is further ahead than that is ignored, so a clock that was once
    wrong silences nobody.
    """
    recent = tuple(time for time in times if abs(now - time) < SPAN)
    return None if len(recent) >= MOST_SINGLES else (*recent, now)
