"""Shard leases: Supervisors share the shards, and none does another's work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stepward.domain.coordination.shared_record import Control
from stepward.domain.errors import StepwardError
from stepward.domain.facts import Fact, FactKind
from stepward.domain.lease import given_back, lease_of, take
from stepward.ports import Controls, Telemetry


@dataclass(frozen=True, slots=True)
class Hold:
    """A shard that may be swept until `until` (epoch ms); without `control` no lease stands for it."""

    until: int
    control: Control | None = None


@dataclass(frozen=True, slots=True)
class Leases:
    """Takes shards on behalf of `holder`, each for `length` milliseconds.

    A lease saves work, and no more: every recovery is conditional. So a lease that can be neither read nor written
    keeps nobody from sweeping.
    """

    controls: Controls
    telemetry: Telemetry
    holder: str
    length: int
    skew_margin: int
    now: Callable[[], int]

    def take(self, shard: int) -> Hold | None:
        """The shard, if nobody else holds it."""
        # The lease begins before it is asked for, so it never lasts longer than its holder believes.
        now = self.now()
        try:
            return self._take(f"lease/{shard}", now)
        except StepwardError as error:
            self._unleased(shard, f"swept without a lease: {error}")
            return Hold(now + self.length)

    def give_back(self, shard: int, hold: Hold) -> None:
        """Leave the shard to anybody; a lease that cannot be given back runs out."""
        lease = lease_of(hold.control.body) if hold.control else None
        if hold.control is None or lease is None:
            return
        try:
            left = Control.following(hold.control, hold.control.name, given_back(lease).to_body())
            self.controls.write(left, replaces=hold.control)
        except StepwardError as error:
            self._unleased(shard, f"not given back: {error}")

    def _take(self, name: str, now: int) -> Hold | None:
        before = self.controls.read(name)
        found = lease_of(before.body) if before else None
        lease = take(found, self.holder, now=now, length=self.length, skew_margin=self.skew_margin)
        if lease is None:
            return None
        control = Control.following(before, name, lease.to_body())
        return Hold(lease.until, control) if self.controls.write(control, replaces=before) else None

    def _unleased(self, shard: int, note: str) -> None:
        self.telemetry.record("", Fact(self.now(), FactKind.UNLEASED, by=self.holder, note=f"shard {shard} {note}"))
