"""How hard a world is: each seed leaves some kinds of accident out and has more of others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random

from stepward.testing.faults.loop import MINUTE, SECOND
from stepward.testing.faults.pulse import Kind


class Mood(StrEnum):
    """What can go wrong around one call of a remote service."""

    FAILS = "refuses the connection"
    DECLINES = "declines"
    BREAKS = "answers with a broken connection, after the effect,"
    DIES_BEFORE = "sees its caller die before the effect"
    DIES_AFTER = "sees its caller die after the effect"
    HANGS = "hangs"
    ANSWERS_LATE = "answers late"
    EXECUTES_LATE = "times out, and executes later,"
    EXECUTES_TWICE = "executes twice"


class Delivery(StrEnum):
    """What can go wrong with one message on its way."""

    LATE = "late"
    DOUBLED = "twice"
    LOST = "never"


Weights = dict[str, int]
PAUSES = [20, SECOND, 10 * SECOND, 40 * SECOND, 90 * SECOND, 10 * MINUTE]
DELAYS = [200, 5 * SECOND, 35 * SECOND, 2 * MINUTE, 10 * MINUTE, 45 * MINUTE]


@dataclass(frozen=True, slots=True)
class Profile:
    """How often accidents happen (per port call, service call, message, order), and which kinds of them.

    An `honest` service refuses stale fences and what was undone; the other kind knows neither. In a `skewed` world
    clocks differ by minutes instead of by the margin. In a `quiet` world, people act and code is deployed, and nothing
    else goes wrong.
    """

    ports: float
    calls: float
    mail: float
    people: float
    mishaps: Weights
    moods: Weights
    deliveries: Weights
    honest: bool
    skewed: bool
    quiet: bool = False

    def pick(self, dice: Random, weights: Weights) -> str:
        """One of the kinds."""
        return dice.choices(list(weights), list(weights.values()))[0]


def profile(dice: Random) -> Profile:
    """The profile that the dice make."""
    made = Profile(
        ports=dice.choice([0, 0.005, 0.02, 0.05]),
        calls=dice.choice([0, 0.05, 0.15, 0.35]),
        mail=dice.choice([0, 0.01, 0.05, 0.15]),
        people=dice.choice([0, 0.1, 0.4, 0.8]),
        mishaps=_some(dice, [kind for kind in Kind if kind is not Kind.SUPERSEDED]),
        moods=_some(dice, Mood),
        deliveries=_some(dice, Delivery),
        honest=dice.random() < 0.75,
        skewed=dice.random() < 0.15,
    )
    quiet = dice.random() < 0.15
    return replace(made, ports=0, calls=0, mail=0, honest=True, skewed=False, quiet=True) if quiet else made


def _some(dice: Random, kinds: Iterable[StrEnum]) -> Weights:
    weights = {str(kind): dice.choice([0, 1, 1, 4]) for kind in kinds}
    return weights if any(weights.values()) else dict.fromkeys(weights, 1)


CALM = Profile(0, 0, 0, 0, {}, {}, {}, honest=True, skewed=False)
"""Nothing goes wrong by chance."""
