"""The faults of a run and their times, the same for the same seed."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stepward.local.proxy import Rule
from tests.lab.chaos.mischief import EVERY_SERVICE, Mischief, rules

DRIZZLE = 0.015
"""The share of requests that meets each kind of fault, at all times."""
VICTIMS = ("Submission", "Scheduler", "Agent", "Supervisor", "Ledger", "Convoy")
"""Kinds of functions, by a part of their names."""
_OFTEN = (1, 3, 4, 1, 2, 3)
SERVICES = ("dynamodb", "sqs")
ONLY_OF = {Mischief.CONFLICT: "dynamodb", Mischief.DOUBLED: "sqs"}


@dataclass(frozen=True, slots=True)
class Storm:
    """From `at` to `until` (seconds), a large share of the requests to a service meets one kind of fault."""

    at: float
    until: float
    kind: Mischief
    service: str
    chance: float


@dataclass(frozen=True, slots=True)
class Kill:
    """At `at` (seconds), one process of a kind of function is killed, `wait` seconds after it was seen at work."""

    at: float
    victim: str
    wait: float


@dataclass(frozen=True, slots=True)
class Plan:
    """All faults of a run of `seconds`."""

    seconds: float
    storms: Sequence[Storm]
    kills: Sequence[Kill]


def plan(seconds: float, seed: int) -> Plan:
    """Storms and kills for `seconds`."""
    chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
    return Plan(seconds, tuple(_storms(seconds, chance)), tuple(_kills(seconds, chance)))


def drizzle() -> list[Rule]:
    """The rules at all times."""
    return [rule for kind in Mischief for rule in rules(kind, EVERY_SERVICE, DRIZZLE)]


def weather(storm: Storm) -> list[Rule]:
    """The rules during a storm."""
    return [*rules(storm.kind, storm.service, storm.chance), *drizzle()]


def _storms(seconds: float, chance: random.Random) -> Iterator[Storm]:
    at = chance.uniform(4, 8)
    while at < seconds:
        until = min(seconds, at + chance.uniform(1.5, 4))
        kind = chance.choice(list(Mischief))
        yield Storm(at, until, kind, ONLY_OF.get(kind) or chance.choice(SERVICES), chance.uniform(0.3, 0.8))
        at = until + chance.uniform(4, 8)


def _kills(seconds: float, chance: random.Random) -> Iterator[Kill]:
    at = chance.uniform(3, 6)
    while at < seconds:
        yield Kill(at, chance.choices(VICTIMS, _OFTEN)[0], chance.uniform(0, 0.15))
        at += chance.uniform(1.5, 4)
