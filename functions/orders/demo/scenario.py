"""The scenario of the demonstration: its messages, their faults, and how each order must end."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepward.domain.history import HistoryKind
from stepward.domain.task.record import ProcessState
from stepward.local.services import EVERYONE, Fault, FaultKind

SERVICES = ("inventory", "payments", "shipping")
HANG_SECONDS = 30.0
OUTAGE = Fault("inventory", EVERYONE, FaultKind.FAIL, times=None)
"""It lasts until the breaker of the agent is open: orders that are not late may call meanwhile, and fail as well."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A fault of an order: its kind, how often, and at which call; an empty `service` is one chosen at random."""

    fault: FaultKind
    times: int | None = 1
    service: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of order: what goes wrong with it, and how it must end.

    An operator resubmits the `resubmitted` ones when they are UndoFailed, the submitter cancels the `cancelled` ones
    while they run, and the `late` ones arrive while the inventory service is down. The `story` has a sentence for what
    can happen to such an order, and for its ends.
    """

    name: str
    troubles: tuple[Trouble, ...] = ()
    ends: ProcessState = ProcessState.PROCESSED
    copies: int = 1
    conflicting: bool = False
    resubmitted: bool = False
    cancelled: bool = False
    late: bool = False
    story: Mapping[HistoryKind | ProcessState, str] = field(default_factory=dict, hash=False)


ONCE = {ProcessState.PROCESSED: "is Processed: each service had its effect once"}
BACK = {ProcessState.UNDONE: "is Undone: its effects are compensated, the last one first"}
NEVER_SHIPS = Trouble(FaultKind.HANG, times=None, service="shipping", key="ship")
KINDS = (
    Kind("nothing"),
    Kind("the service fails twice, then works", (Trouble(FaultKind.FAIL, times=2),)),
    Kind(
        "the service hangs past complete-by",
        (Trouble(FaultKind.HANG),),
        story={HistoryKind.RECOVERED: "a service hangs: past complete-by the Supervisor has the step run again"} | ONCE,
    ),
    Kind(
        "the agent is killed after the effect",
        (Trouble(FaultKind.DIE_AFTER_EFFECT),),
        story={HistoryKind.RECOVERED: "its agent was killed in mid-call: the Supervisor has the step run again"} | ONCE,
    ),
    Kind("the answer is lost after the effect", (Trouble(FaultKind.CUT_AFTER_EFFECT),)),
    Kind(
        "the service declines it permanently",
        (Trouble(FaultKind.DECLINE, times=None, service="payments", key="charge"),),
        ends=ProcessState.ERROR,
        story={HistoryKind.FAILED: "payments declines it: it ends in Error, and the operators are alerted"},
    ),
    Kind("it is sent twice", copies=2),
    Kind("it is sent again with other content", conflicting=True),
    Kind(
        "shipping never answers",
        (NEVER_SHIPS,),
        ends=ProcessState.UNDONE,
        story={HistoryKind.UNDO_BEGUN: "shipping used up its attempts: its policy undoes the order"} | BACK,
    ),
    Kind(
        "the refund of an undo is declined",
        (NEVER_SHIPS, Trouble(FaultKind.DECLINE, service="payments", key="charge/undo")),
        ends=ProcessState.UNDONE,
        resubmitted=True,
        story={HistoryKind.FAILED: "its refund is declined: the operators are alerted"} | BACK,
    ),
    Kind(
        "its submitter cancels it while it runs",
        (Trouble(FaultKind.HANG, times=None, service="payments", key="charge"),),
        ends=ProcessState.UNDONE,
        cancelled=True,
    ),
)
LATE = Kind("it arrives while inventory is down", late=True)
LATE_ORDERS = 5
"""As many as open a breaker: with fewer, the orders that shipping never answers could open that of shipping, and what
nobody answers does not count until a breaker has been closed for two minutes."""
_HOW_MANY = (12, 3, 2, 2, 2, 2, 2, 1, 1, 0, 1)
"""The weight of each kind, beside the one order of each kind that every demonstration has."""


@dataclass(frozen=True, slots=True)
class Expected:
    """An order of the demonstration: its messages, its faults, and how it must end."""

    order_id: str
    kind: Kind
    messages: tuple[str, ...]
    faults: tuple[Fault, ...] = ()

    @property
    def ends(self) -> ProcessState:
        """The state it must end in."""
        return self.kind.ends


@dataclass(frozen=True, slots=True)
class Scenario:
    """All orders, and the messages that must be rejected."""

    orders: tuple[Expected, ...]
    rejected: tuple[str, ...]

    @property
    def first_messages(self) -> Sequence[str]:
        """The first messages: every order once, mixed with malformed messages."""
        prompt = [order.messages[0] for order in self.orders if not order.kind.late]
        return _shuffled(prompt + list(self.malformed), len(self.orders))

    @property
    def late_messages(self) -> Sequence[str]:
        """The orders that arrive while the inventory service is down."""
        return [order.messages[0] for order in self.orders if order.kind.late]

    @property
    def repeated_messages(self) -> Sequence[str]:
        """The duplicates and conflicts, to send once all orders have arrived."""
        return [message for order in self.orders for message in order.messages[1:]]

    @property
    def malformed(self) -> Sequence[str]:
        """The messages that belong to no order."""
        sent = {message for order in self.orders for message in order.messages}
        return [message for message in self.rejected if message not in sent]


def scenario(orders: int, seed: int, samples: Path, reply_to: str = "") -> Scenario:
    """`orders` orders made from those in `samples`, the same for the same `seed`.

    `reply_to` is the reply queue of their submitter.
    """
    chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
    template = json.loads((samples / "order.json").read_text())
    template = {**template, "replyTo": reply_to} if reply_to else {k: v for k, v in template.items() if k != "replyTo"}
    kinds = [*KINDS, *[LATE] * LATE_ORDERS][:orders]
    kinds += chance.choices(KINDS, _HOW_MANY, k=orders - len(kinds))
    chance.shuffle(kinds)
    expected = tuple(
        _order(f"demo-{seed}-{number:03d}", kind, template, chance) for number, kind in enumerate(kinds, start=1)
    )
    malformed = [path.read_text() for path in sorted((samples / "malformed").iterdir())]
    conflicts = [order.messages[-1] for order in expected if order.kind.conflicting]
    return Scenario(expected, (*malformed, *conflicts))


def cancellation(order_id: str) -> str:
    """The message by which a submitter cancels an order."""
    return json.dumps({"type": "order.cancelled", "orderId": order_id, "reason": "bought elsewhere"})


def _order(order_id: str, kind: Kind, template: Mapping[str, Any], chance: random.Random) -> Expected:
    order = {**template, "orderId": order_id, "correlationId": f"checkout-{order_id}"}
    messages = [json.dumps(order)] * kind.copies
    if kind.conflicting:
        messages.append(json.dumps({**order, "currency": "USD"}))
    faults = [
        Fault(
            trouble.service or chance.choice(SERVICES),
            f"{order_id}/{trouble.key}" if trouble.key else order_id,
            trouble.fault,
            times=trouble.times,
            seconds=HANG_SECONDS,
        )
        for trouble in kind.troubles
    ]
    return Expected(order_id, kind, tuple(messages), tuple(faults))


def _shuffled(messages: list[str], seed: int) -> list[str]:
    random.Random(seed).shuffle(messages)  # noqa: S311 - repeatable on purpose
    return messages


def by_kind(orders: Sequence[Expected]) -> Mapping[str, Sequence[Expected]]:
    """The orders of each kind that occurs."""
    found = {kind.name: [order for order in orders if order.kind is kind] for kind in (*KINDS, LATE)}
    return {name: those for name, those in found.items() if those}
