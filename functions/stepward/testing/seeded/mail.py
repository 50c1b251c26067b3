"""Queues that deliver by chance late, twice or never; and what was acknowledged may come again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from stepward.testing.faults.gate import Gate
from stepward.testing.faults.loop import SECOND
from stepward.testing.faults.profile import DELAYS, Delivery
from stepward.testing.sqs.fifo_queue import MemoryFifoQueue
from stepward.testing.sqs.messages import Stored
from stepward.testing.sqs.queue import MemoryQueue
from stepward.testing.sqs.rules import Entry
from stepward.wire.order import order_id_hint

LATENCY = 30
HIDDEN = 20
"""Seconds for which a received message stays hidden."""
HELD = 20 * SECOND
"""Up to so long a queue to the Scheduler holds an order's messages, which then come together."""
NEVER_LOST = ("orders", "ledgers.fifo", "events.fifo")
"""Queues whose messages nobody can send again; other queues may lose a message before it is first read."""
TO_SCHEDULER = ("scheduler", "responses")


@dataclass(kw_only=True)
class UnreliableQueue(MemoryQueue):
    """A standard queue; each accident with a message is named by the order and the number of its message."""

    gate: Gate
    sent: Counter[str] = field(default_factory=Counter)
    names: dict[int, str] = field(default_factory=dict)
    acknowledged: Counter[str] = field(default_factory=Counter)

    def delete(self, handle: str) -> None:
        """Delete the message of this handle; see MemoryQueue."""
        stored = self._find(handle)
        super().delete(handle)
        if stored is None or stored.number in self._messages:
            return
        name = self.names.pop(stored.number, "")
        self.acknowledged[name] += 1
        if dice := self.gate.chances.happens(f"{name} again {self.acknowledged[name]}", self.gate.profile.mail / 2):
            self.gate.diary.note(name.partition(":")[0], f"a message in {self.name} comes again, though acknowledged")
            self._send_stray(stored, dice.choice(DELAYS), name)

    def _accept(self, entry: Entry, visible_at: int) -> Stored:
        about = (entry.group if self.fifo else "") or order_id_hint(entry.body)
        self.sent[about] += 1
        name, chances, profile = (
            f"{about}: message {self.sent[about]} to {self.name}",
            self.gate.chances,
            self.gate.profile,
        )
        dice = chances.happens(name, profile.mail)
        accident = Delivery(profile.pick(dice, profile.deliveries)) if dice else None
        comes_at = visible_at + (dice.choice(DELAYS) if dice else LATENCY)
        stored = self._store(entry, self._held(about, comes_at) if self.name in TO_SCHEDULER else comes_at)
        self.names[stored.number] = name
        if dice is None:
            return stored
        self.gate.diary.counts[f"delivered {accident}"] += 1
        self.gate.diary.note(about, f"a message to {self.name} comes {accident}")
        if accident is Delivery.LOST and self.name not in NEVER_LOST:
            del self._messages[stored.number]
        elif accident is Delivery.DOUBLED:
            self._send_stray(stored, visible_at - self.clock() + dice.choice([LATENCY, *DELAYS]), name)
        return stored

    def _held(self, about: str, comes_at: int) -> int:
        """When a message comes that may have to wait for others of its order."""
        moment = comes_at + -comes_at % HELD
        name = f"{about}: what comes to {self.name} comes together at {moment}"
        return moment if self.gate.chances.happens(name, self.gate.profile.mail) else comes_at

    def _send_stray(self, stored: Stored, wait: int, name: str) -> Stored:
        """Have a message come once more, out of its turn."""
        stray = self._store_again(stored, self.clock() + wait)
        self.names[stray.number] = name
        return stray


@dataclass(kw_only=True)
class UnreliableFifoQueue(UnreliableQueue, MemoryFifoQueue):
    """A FIFO queue: a late message holds up those behind it.

    One that was handled may come again at any time, from an instance that still holds it; `strays` has its first
    number.
    """

    strays: dict[int, int] = field(default_factory=dict)

    def _send_stray(self, stored: Stored, wait: int, name: str) -> Stored:
        stray = super()._send_stray(stored, wait, name)
        self.strays[stray.number] = self.strays.get(stored.number, stored.number)
        return stray

    def _receivable(self, now: int) -> list[Stored]:
        free = []
        held = {stored.group for stored in self._messages.values() if stored.in_flight(now)}
        for stored in self._messages.values():
            if stored.number in self.strays:
                is_handled = self.strays[stored.number] not in self._messages
                free += [stored] if is_handled and stored.visible_at <= now else []
            elif stored.visible_at > now:
                held.add(stored.group)
            elif stored.group not in held:
                free.append(stored)
        return free
