"""What the demonstration sends, what shall go wrong with it, and how each order must end."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepward.domain.task import ProcessState
from stepward.local.services import Fault, FaultKind

SERVICES = ("inventory", "payments", "shipping")
HANG_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Kind:
    """One sort of trouble: what happens to an order of it, how often (None: always), and how the order must end."""

    name: str
    fault: FaultKind | None = None
    times: int | None = 1
    ends: ProcessState = ProcessState.PROCESSED
    copies: int = 1
    conflicting: bool = False


KINDS = (
    Kind("plain"),
    Kind("the service fails twice, then works", FaultKind.FAIL, times=2),
    Kind("the service hangs past complete-by", FaultKind.HANG),
    Kind("the agent is killed after the effect", FaultKind.DIE_AFTER_EFFECT),
    Kind("the answer is lost after the effect", FaultKind.CUT_AFTER_EFFECT),
    Kind("the service declines for good", FaultKind.DECLINE, times=None, ends=ProcessState.ERROR),
    Kind("sent twice", copies=2),
    Kind("sent again with other content", conflicting=True),
)
_HOW_MANY = (12, 3, 2, 2, 2, 2, 2, 1)
"""How often each kind comes up, beside the one of each that a demonstration always has."""


@dataclass(frozen=True, slots=True)
class Expected:
    """One order of the demonstration: the messages that bring it and how it must end."""

    order_id: str
    kind: Kind
    messages: tuple[str, ...]
    fault: Fault | None = None

    @property
    def ends(self) -> ProcessState:
        """The state it must end in."""
        return self.kind.ends


@dataclass(frozen=True, slots=True)
class Scenario:
    """All orders, and the messages that must be rejected and kept."""

    orders: tuple[Expected, ...]
    rejected: tuple[str, ...]

    @property
    def first_messages(self) -> Sequence[str]:
        """What is sent first: every order once, and what cannot be accepted, mixed."""
        return _shuffled([order.messages[0] for order in self.orders] + list(self.malformed), len(self.orders))

    @property
    def later_messages(self) -> Sequence[str]:
        """What is sent once those have arrived: the duplicates and the conflicts."""
        return [message for order in self.orders for message in order.messages[1:]]

    @property
    def malformed(self) -> Sequence[str]:
        """The messages that belong to no order."""
        sent = {message for order in self.orders for message in order.messages}
        return [message for message in self.rejected if message not in sent]


def scenario(orders: int, seed: int, samples: Path) -> Scenario:
    """`orders` orders made from those in `samples`, the same for the same `seed`."""
    chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
    template = json.loads((samples / "order.json").read_text())
    kinds = list(KINDS[:orders])
    kinds += chance.choices(KINDS, _HOW_MANY, k=orders - len(kinds))
    chance.shuffle(kinds)
    expected = tuple(
        _order(f"demo-{seed}-{number:03d}", kind, template, chance) for number, kind in enumerate(kinds, start=1)
    )
    malformed = [path.read_text() for path in sorted((samples / "malformed").iterdir())]
    conflicts = [order.messages[-1] for order in expected if order.kind.conflicting]
    return Scenario(expected, (*malformed, *conflicts))


def _order(order_id: str, kind: Kind, template: Mapping[str, Any], chance: random.Random) -> Expected:
    order = {**template, "orderId": order_id}
    messages = [json.dumps(order)] * kind.copies
    if kind.conflicting:
        messages.append(json.dumps({**order, "currency": "USD"}))
    fault = None
    if kind.fault:
        service = "payments" if kind.fault is FaultKind.DECLINE else chance.choice(SERVICES)
        fault = Fault(service, order_id, kind.fault, times=kind.times, seconds=HANG_SECONDS)
    return Expected(order_id, kind, tuple(messages), fault)


def _shuffled(messages: list[str], seed: int) -> list[str]:
    random.Random(seed).shuffle(messages)  # noqa: S311 - repeatable on purpose
    return messages


def kinds_of(orders: Sequence[Expected]) -> Iterator[tuple[str, int]]:
    """How many orders there are of each kind, in the order of the kinds."""
    for kind in KINDS:
        if count := sum(order.kind is kind for order in orders):
            yield kind.name, count
