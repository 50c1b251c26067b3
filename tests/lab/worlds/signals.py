"""Those who answer the signals of a world: early, late, twice, otherwise, by either door, or never."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random

from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.key import TaskKey
from stepward.domain.messages import OPERATORS, SignalGiven
from stepward.testing.faults.broken import Broken
from stepward.testing.faults.gate import Gate
from stepward.testing.pump import Handle
from stepward.testing.seeded.instances import Instances
from stepward.testing.seeded.people import CUSTOMERS, LATER, STRANGER
from stepward.testing.sqs.messages import Received
from stepward.wire.messages import encode
from tests.factories import MINUTE
from tests.lab.worlds.plans import APPROVAL

TIMES = [*LATER, 40 * MINUTE, 90 * MINUTE]
GIVEN = 0.85
"""The share of orders whose signal somebody gives."""


@dataclass(slots=True)
class Signals:
    """They `post` to the queues; `given` holds each signal by its id, with its order, `heard` those that got there."""

    gate: Gate
    within: int
    post: Callable[[str, str], object] = field(init=False)
    given: dict[str, str] = field(default_factory=dict)
    heard: set[str] = field(default_factory=set)

    def begin(self, parts: Instances, orders: Iterable[str]) -> None:
        """Answer for these orders, and note what reaches a Scheduler."""
        self.post, line = parts.post, parts.pump.lines["scheduler"]
        line.handle = partial(self._read, line.handle)
        for order_id in orders:
            self.answer(order_id)

    def _read(self, handle: Handle, instance: str, batch: Sequence[Received]) -> Iterator[int | Exception]:
        self.heard |= {json.loads(each.body).get("signalId", "") for each in batch}
        yield from handle(instance, batch)

    def answer(self, order_id: str) -> None:
        """Somebody answers for an order, perhaps before it comes, and perhaps somebody else does, too."""
        for turn in ("first", "second"):
            name = f"{order_id}: its {turn} signal"
            if dice := self.gate.chances.happens(name, GIVEN if turn == "first" else self.gate.profile.people):
                at = dice.randrange(self.within) + dice.choice(TIMES)
                self._give(order_id, f"{order_id}-{turn}", dice, at)

    def _give(self, order_id: str, signal_id: str, dice: Random, at: int) -> None:
        refused = f"no to {signal_id}" if dice.random() < 0.2 else ""
        answer = {"refused": refused} if refused else {"data": {"by": signal_id}}
        customer_id = dice.choice([CUSTOMERS[0], "", STRANGER]) if not TaskKey.read(order_id).customer_id else ""
        known = {**TaskKey.read(order_id).fields, **({"customerId": customer_id} if customer_id else {})}
        text = json.dumps({"type": "order.signal", **known, "name": APPROVAL, "signalId": signal_id, **answer})
        queue = dice.choice(["orders", "scheduler"])
        if queue == "scheduler":
            data = {} if refused else {"by": signal_id}
            text = encode(SignalGiven(order_id, APPROVAL, signal_id, data, refused, "ada", OPERATORS))
        self.given[signal_id] = order_id
        times = dice.choice([1, 1, 2])
        self.gate.diary.counts["signals, given twice"] += times - 1
        for _ in range(times):
            self.gate.loop.later(at, lambda: self.post(queue, text))

    def verdict(self, parts: Instances) -> None:
        """I11: each signal counted, or whoever gave it was told; the figures say how they came."""
        signalled = [entry for _, entry in parts.telemetry.history if entry.kind is HistoryKind.SIGNALLED]
        counts = self.gate.diary.counts
        counts["signals, given"] += len(self.given)
        counts["signals, kept early"] += sum(not entry.attempt for entry in signalled)
        counts["signals, that ended a step"] += sum(bool(entry.attempt) for entry in signalled)
        counts["signals, that refused"] += sum(entry.note.startswith("no to ") for entry in signalled)
        rejects = [reject.body for reject in parts.rejects.kept.values()]
        refused = {key for key, entry in parts.telemetry.history if entry.kind is HistoryKind.REFUSED}
        stood = dict[str, set[HistoryEntry]]()  # ever: a task keeps its newest troubles only
        for (key, _), reached in parts.judge.reached.items():
            stood.setdefault(key, set()).update(reached.history)
        for signal_id, order_id in ((each, self.given[each]) for each in sorted(self.heard & self.given.keys())):
            task = parts.judge.tasks.tasks[order_id]
            record = task.steps.get(APPROVAL)
            counted = record is not None and signal_id in (record.token, record.early and record.early.signal_id)
            notes = [entry.note for entry in stood[order_id] if entry.kind is HistoryKind.SIGNALLED]
            kept = any(signal_id in note for note in notes)
            told = any(f'"{signal_id}"' in body for body in rejects) or order_id in refused
            counts["signals, too late, second, or by the wrong door"] += told
            if not (counted or kept or told):
                raise Broken("I11", order_id, f"the signal {signal_id} was lost")
