"""Queues that deliver at least once: in any order, late, twice; and what is not acknowledged comes back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

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
"""After so long an operator has a look at the dead letters and sends them again."""
KEPT = ("orders", "ledgers", "lanes")
"""Queues whose messages nobody else remembers; from the others, one may be lost for good before it is first read."""
IN_ORDER = ("ledgers", "lanes")
"""Queues in which nothing of a group comes before what was sent earlier is done. Who still holds a message that was
given to another by then may come late with it all the same."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A message in the queue `queue`, under the name by which its accidents are drawn."""

    name: str
    queue: str
    order_id: str
    text: str


class Handle(Protocol):
    """What one instance of a part does with a message; raises Transient if it must come back."""

    def __call__(self, copy: int, letter: Letter) -> None:
        """Handle it."""


@dataclass(slots=True)
class Part:
    """A function that queues trigger, in so many instances; `understood` tells what a message asks of a task.

    `buried` is told of an instance that died, `handled` of a message that was acknowledged. A message that has been
    received `most` times goes to the dead letters.
    """

    name: str
    copies: int
    handle: Handle
    understood: Callable[[Letter], ToScheduler | None] = lambda _: None
    handled: Callable[[Letter], None] = lambda _: None
    buried: Callable[[int], None] = lambda _: None
    most: int = MOST_RECEIVED
    busy: set[int] = field(default_factory=set)

    def idle(self, wish: int) -> int | None:
        """An instance that has nothing to do, beginning with the one wished for."""
        turns = ((wish + turn) % self.copies for turn in range(self.copies))
        return next((copy for copy in turns if copy not in self.busy), None)


@dataclass(slots=True)
class Mailbox:
    """All queues of a world; `parts` says who is triggered by which.

    While it `is_closed`, the whole platform is out; `ended_well` is told of each run that neither died nor failed.
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
        letter = Letter(f"{order_id}: message {self.sent[order_id, queue]} to {queue}", queue, order_id, text)
        self._line_up(letter)
        dice = self.gate.chances.happens(letter.name, self.gate.profile.mail)
        if dice is None:
            self._arrive(letter, delay + LATENCY)
            return
        accident = Delivery(self.gate.profile.pick(dice, self.gate.profile.deliveries))
        self.gate.diary.counts[f"delivered {accident}"] += 1
        self.gate.diary.note(order_id, f"a message to {queue} comes {accident}")
        if accident is Delivery.LOST and queue not in KEPT:
            return
        self._arrive(letter, delay + dice.choice(DELAYS))
        if accident is Delivery.DOUBLED:
            self._arrive(letter, delay + dice.choice([LATENCY, *DELAYS]))

    def waiting_in(self, queue: str) -> int:
        """How many messages of a queue are on their way."""
        return self.waiting[queue]

    def _arrive(self, letter: Letter, wait: int, received: int = 1) -> None:
        self.waiting[letter.queue] += 1
        self.gate.loop.later(wait, lambda: self._deliver(letter, received))

    def _deliver(self, letter: Letter, received: int) -> None:
        self.waiting[letter.queue] -= 1
        if self.is_closed:
            self._arrive(letter, CLOSED, received)
            return
        part = self.parts[letter.queue]
        copy = part.idle(self.gate.chances.one_of(f"{letter.name} {received}", part.copies))
        if copy is None or self._is_behind(letter):
            self._arrive(letter, BUSY, received)
            return
        self.gate.diary.counts["deliveries"] += 1
        self.deliveries[letter.order_id, letter.queue] += 1
        self._received(letter, part, copy, received)

    def _received(self, letter: Letter, part: Part, copy: int, received: int) -> None:
        back = self._handled(letter, part, copy)
        if back is None:
            part.handled(letter)
            self._leave(letter)
            self._perhaps_again(letter)
        elif back:
            self._arrive(letter, back, received)
        elif received < part.most:
            self._arrive(letter, HIDDEN, received + 1)
        else:
            self.gate.diary.counts["dead letters"] += 1
            self._leave(letter)
            self._arrive(letter, REDRIVEN)

    def _line_up(self, letter: Letter) -> None:
        if letter.queue in IN_ORDER:
            self.lines.setdefault((letter.queue, letter.order_id), []).append(letter.name)

    def _is_behind(self, letter: Letter) -> bool:
        line = self.lines.get((letter.queue, letter.order_id), [])
        return letter.name in line and line[0] != letter.name

    def _leave(self, letter: Letter) -> None:
        line = self.lines.get((letter.queue, letter.order_id), [])
        if letter.name in line:
            line.remove(letter.name)

    def _perhaps_again(self, letter: Letter) -> None:
        times = self.acknowledged[letter.name] = self.acknowledged[letter.name] + 1
        if dice := self.gate.chances.happens(f"{letter.name} again {times}", self.gate.profile.mail / 2):
            self.gate.diary.note(letter.order_id, f"a message to {letter.queue} comes again, though acknowledged")
            self._arrive(letter, dice.choice(DELAYS))

    def _handled(self, letter: Letter, part: Part, copy: int) -> int | None:
        """None if the message is acknowledged; else after how long it is back, 0 being the queue's own time."""
        instance = f"{part.name}-{copy}"
        if self.gate.diary.is_kept:
            self.gate.diary.note(letter.order_id, f"{instance} receives {_short(letter)}")
        part.busy.add(copy)
        try:
            with self.gate.invocation(instance, letter.order_id, part.understood(letter)):
                part.handle(copy, letter)
                self.ended_well()
        except RetryLater as retry_later:
            return retry_later.seconds * SECOND
        except Transient as error:
            self.gate.diary.counts["invocations that failed"] += 1
            self.gate.diary.note(letter.order_id, f"{instance} gives it back: {error}")
            return 0
        except Died:
            self.gate.diary.counts["deaths"] += 1
            part.buried(copy)
            return 0
        finally:
            part.busy.discard(copy)
        return None


def _short(letter: Letter) -> str:
    try:
        said = json.loads(letter.text)
        told = " ".join(str(said[key]) for key in ("type", "step", "attempt") if key in said)
    except (ValueError, TypeError):
        told = letter.text
    return f"{told} ({letter.queue})"
