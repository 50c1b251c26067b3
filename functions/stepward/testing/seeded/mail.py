"""Queues that deliver at least once: in any order, late, twice; and what is not acknowledged comes back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from stepward.domain.errors import RetryLater, Transient
from stepward.domain.messages import ToScheduler
from stepward.testing.faults.loop import HOUR, MINUTE, SECOND
from stepward.testing.faults.record import Died
from stepward.testing.seeded.gate import Gate
from stepward.testing.seeded.profile import DELAYS, Delivery

LATENCY = 30
BUSY = 15 * SECOND
CLOSED = 5 * MINUTE
HIDDEN = 20 * SECOND
MOST_RECEIVED = 5
REDRIVEN = HOUR
"""After so long an operator redrives the dead letters."""
NEVER_LOST = ("orders", "ledgers", "lanes")
"""Queues whose messages nobody can send again; other queues may lose a message before it is first read."""
IN_ORDER = ("ledgers", "lanes")
"""FIFO queues: they deliver no message of a group before the earlier ones are handled. An instance that still holds a
message may come late with it, after another has handled it."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message in the queue `queue`, under the name by which its accidents are drawn."""

    name: str
    queue: str
    order_id: str
    text: str


Handle = Callable[[int, Message], None]
"""What an instance of a part, by its number, does with a message; raises Transient if it must come back."""


@dataclass(slots=True)
class Part:
    """A function that queues trigger, with its number of instances; `understood` says what a message asks of a task.

    `buried` hears of an instance that died, `handled` of a message that was acknowledged. A message that has been
    received `most` times goes to the dead-letter queue.
    """

    name: str
    copies: int
    handle: Handle
    understood: Callable[[Message], ToScheduler | None] = lambda _: None
    handled: Callable[[Message], None] = lambda _: None
    buried: Callable[[int], None] = lambda _: None
    most: int = MOST_RECEIVED
    busy: set[int] = field(default_factory=set)

    def idle(self, wish: int) -> int | None:
        """The first idle instance, beginning with the one wished for; None if all are busy."""
        turns = ((wish + turn) % self.copies for turn in range(self.copies))
        return next((copy for copy in turns if copy not in self.busy), None)


@dataclass(slots=True)
class Mailbox:
    """All queues of a world; `parts` says who is triggered by which.

    While it `is_closed`, the whole platform is out; `ended_well` hears of each run that neither died nor failed.
    """

    gate: Gate
    ended_well: Callable[[], None] = lambda: None
    parts: dict[str, Part] = field(default_factory=dict)
    sent: Counter[tuple[str, str]] = field(default_factory=Counter)
    waiting: Counter[str] = field(default_factory=Counter)
    deliveries: Counter[tuple[str, str]] = field(default_factory=Counter)
    acknowledged: Counter[str] = field(default_factory=Counter)
    lines: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    is_closed: bool = False

    def send(self, queue: str, order_id: str, text: str, delay: int = 0) -> None:
        """Put a message on its way; the queue keeps it for `delay` milliseconds."""
        self.sent[order_id, queue] += 1
        message = Message(f"{order_id}: message {self.sent[order_id, queue]} to {queue}", queue, order_id, text)
        self._line_up(message)
        dice = self.gate.chances.happens(message.name, self.gate.profile.mail)
        if dice is None:
            self._arrive(message, delay + LATENCY)
            return
        accident = Delivery(self.gate.profile.pick(dice, self.gate.profile.deliveries))
        self.gate.diary.counts[f"delivered {accident}"] += 1
        self.gate.diary.note(order_id, f"a message to {queue} comes {accident}")
        if accident is Delivery.LOST and queue not in NEVER_LOST:
            return
        self._arrive(message, delay + dice.choice(DELAYS))
        if accident is Delivery.DOUBLED:
            self._arrive(message, delay + dice.choice([LATENCY, *DELAYS]))

    def waiting_in(self, queue: str) -> int:
        """How many messages of a queue are on their way."""
        return self.waiting[queue]

    def _arrive(self, message: Message, wait: int, received: int = 1) -> None:
        self.waiting[message.queue] += 1
        self.gate.loop.later(wait, lambda: self._deliver(message, received))

    def _deliver(self, message: Message, received: int) -> None:
        self.waiting[message.queue] -= 1
        if self.is_closed:
            self._arrive(message, CLOSED, received)
            return
        part = self.parts[message.queue]
        copy = part.idle(self.gate.chances.one_of(f"{message.name} {received}", part.copies))
        if copy is None or self._is_behind(message):
            self._arrive(message, BUSY, received)
            return
        self.gate.diary.counts["deliveries"] += 1
        self.deliveries[message.order_id, message.queue] += 1
        self._received(message, part, copy, received)

    def _received(self, message: Message, part: Part, copy: int, received: int) -> None:
        back = self._handled(message, part, copy)
        if back is None:
            part.handled(message)
            self._leave(message)
            self._perhaps_again(message)
        elif back:
            self._arrive(message, back, received)
        elif received < part.most:
            self._arrive(message, HIDDEN, received + 1)
        else:
            self.gate.diary.counts["dead letters"] += 1
            self._leave(message)
            self._arrive(message, REDRIVEN)

    def _line_up(self, message: Message) -> None:
        if message.queue in IN_ORDER:
            self.lines.setdefault((message.queue, message.order_id), []).append(message.name)

    def _is_behind(self, message: Message) -> bool:
        line = self.lines.get((message.queue, message.order_id), [])
        return message.name in line and line[0] != message.name

    def _leave(self, message: Message) -> None:
        line = self.lines.get((message.queue, message.order_id), [])
        if message.name in line:
            line.remove(message.name)

    def _perhaps_again(self, message: Message) -> None:
        times = self.acknowledged[message.name] = self.acknowledged[message.name] + 1
        if dice := self.gate.chances.happens(f"{message.name} again {times}", self.gate.profile.mail / 2):
            self.gate.diary.note(message.order_id, f"a message to {message.queue} comes again, though acknowledged")
            self._arrive(message, dice.choice(DELAYS))

    def _handled(self, message: Message, part: Part, copy: int) -> int | None:
        """None if the message is acknowledged; else after how long it is back, 0 being the queue's own time."""
        instance = f"{part.name}-{copy}"
        if self.gate.diary.is_kept:
            self.gate.diary.note(message.order_id, f"{instance} receives {_short(message)}")
        part.busy.add(copy)
        try:
            with self.gate.invocation(instance, message.order_id, part.understood(message)):
                part.handle(copy, message)
                self.ended_well()
        except RetryLater as retry_later:
            return retry_later.seconds * SECOND
        except Transient as error:
            self.gate.diary.counts["invocations that failed"] += 1
            self.gate.diary.note(message.order_id, f"{instance} gives it back: {error}")
            return 0
        except Died:
            self.gate.diary.counts["deaths"] += 1
            part.buried(copy)
            return 0
        finally:
            part.busy.discard(copy)
        return None


def _short(message: Message) -> str:
    try:
        content = json.loads(message.text)
        words = " ".join(str(content[key]) for key in ("type", "step", "attempt") if key in content)
    except (ValueError, TypeError):
        words = message.text
    return f"{words} ({message.queue})"
