"""Every call of a port may go wrong by chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from stepward.testing.faults.gate import Gate
from stepward.testing.faults.profile import PAUSES
from stepward.testing.faults.pulse import Fault, Kind, Pulse

Do = Callable[[], Any]


@dataclass(slots=True, kw_only=True)
class Mishaps(Pulse):
    """Decides by chance what becomes of each call; `wait` lets milliseconds pass, in which others act."""

    gate: Gate
    wait: Callable[[int], object] = lambda _: None
    made: Counter[tuple[str, str]] = field(default_factory=Counter)

    def pass_on(self, name: str, args: Sequence[Any], do: Do, fault: Fault, half: Do | None) -> Any:
        """One call; what goes wrong has a name of its own, by the order that the call is about."""
        gate, about = self.gate, _order(name, args) or self.gate.here.about
        gate.diary.counts["port calls"] += 1
        gate.here.called_at = gate.loop.now
        self.made[about, name] += 1
        dice = gate.chances.happens(f"{about}: {name} #{self.made[about, name]}", gate.profile.ports)
        if dice is None:
            return do()
        kind = Kind(gate.profile.pick(dice, gate.profile.mishaps))
        gate.diary.counts[kind] += 1
        gate.diary.note(about, f"{gate.here.instance} calls {name}: {kind}")
        if half is None and args and isinstance(args[0], list | tuple):
            half = tuple  # of one message, half is none
        hold_up = partial(self.hold_up, dice)
        return self.go_wrong(kind, do, partial(fault, f"{name}: {kind}"), half or do, hold_up)

    def hold_up(self, dice: Random) -> None:
        """Let time pass, in which others act."""
        self.wait(dice.choice(PAUSES))


def _order(name: str, args: Sequence[Any]) -> str:
    """The order that a call is about; "" if none in particular."""
    first = args[0] if args else None
    if isinstance(first, list | tuple):
        first = first[0]
    if isinstance(first, str):
        return first if name.endswith((".load", ".rows")) else ""
    return getattr(first, "order_id", "")
