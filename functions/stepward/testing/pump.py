"""Moves messages: takes them from the queues, has them handled, and lets virtual time pass in between."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count

from stepward.app.intake import Received as Message
from stepward.domain.errors import Corrupt, Misconfigured, NotUnderstood, Rejected, RetryLater, Transient
from stepward.domain.messages import ToScheduler
from stepward.testing.faults.gate import Gate
from stepward.testing.faults.pulse import Pulse
from stepward.testing.faults.record import Died
from stepward.testing.fiber import Fiber
from stepward.testing.sqs.messages import Received
from stepward.testing.sqs.queue import MemoryQueue
from stepward.testing.sqs.rules import Refused
from stepward.wire.messages import decode_for_scheduler, unread
from stepward.wire.order import order_id_hint

Handle = Callable[[str, Sequence[Received]], Iterator[int | Exception]]
"""Handles a batch in the process of this name; yields how many messages are done so far, or why the next one stays."""


@dataclass(slots=True)
class Part:
    """One function, and its kind if it is one of several.

    `busy` holds the numbers of its running processes, `deaths` counts those that died. `buried` is called with the name
    of each process that died. With `copies` there are so many processes, and one that died begins anew. One that
    `is_gone` takes no messages.
    """

    name: str
    kind: str = ""
    copies: int = 0
    is_gone: bool = False
    most_at_once: int = 100
    busy: set[int] = field(default_factory=set)
    deaths: int = 0
    buried: Callable[[str], None] = lambda _: None

    @property
    def is_free(self) -> bool:
        """Whether a process is idle, or can be started."""
        return not self.is_gone and len(self.busy) < (self.copies or self.most_at_once)

    def begin(self, wish: int) -> int:
        """Start work in the first process that is alive and idle, from the one wished for on; its number."""
        numbers = ((wish + turn) % self.copies for turn in range(self.copies)) if self.copies else count(self.deaths)
        found = next((number for number in numbers if number not in self.busy), wish)
        self.busy.add(found)
        return found


@dataclass(slots=True, repr=False)
class Line:
    """A queue and the part that it triggers. `lost` and `doubled` count messages that will never come, or come twice.

    `understood` reads a message for the Scheduler; `waits` says whether others have to act while one is handled.
    """

    queue: MemoryQueue
    part: Part
    handle: Handle
    understood: Callable[[str], ToScheduler | None] = lambda _: None
    batch: int = 1
    waits: Callable[[str], bool] = lambda _: False
    lost: int = 0
    doubled: int = 0

    def ready_at(self) -> int | None:
        """When the part can take a message (epoch ms); None if none waits, or all its processes are busy."""
        at = self.queue.ready_at()
        return at if at is not None and self.part.is_free else None


@dataclass(slots=True, repr=False)
class Pump:
    """Goes from event to event. `due` says when the next sweep is due, and `sweep` runs it.

    `done` is called for each message that was handled, before it is deleted. While it `is_closed`, no queue is read.
    An invocation that waits outside of a fiber lets others act, up to `deepest` inside each other; else only time
    passes. `deliveries` counts how often a part was given messages of an order, by order and queue.
    """

    gate: Gate
    pulse: Pulse
    due: Callable[[], int | None]
    sweep: Callable[[str], object]
    done: Callable[[], object]
    lines: dict[str, Line] = field(default_factory=dict)
    supervisor: Part = field(default_factory=lambda: Part("supervisor"))
    fiber: Fiber | None = None
    sleeping: list[Fiber] = field(default_factory=list)
    deepest: int = 0
    is_closed: bool = False
    deliveries: Counter[tuple[str, str]] = field(default_factory=Counter)

    def run(self, until: Callable[[], bool], limit: int | None = None) -> None:
        """Let everything happen up to `limit` (epoch ms), or until `until` is true; Broken if it never ends."""
        while not until():
            found = self._next()
            if found is None or (limit is not None and found[0] > limit):
                self.gate.loop.now = max(self.gate.loop.now, limit or 0)
                return
            self.gate.loop.step(found[0])
            found[2]()

    def wait(self, seconds: float) -> None:
        """Let time pass for the present invocation, while others act."""
        fiber, who, here = self.fiber, self.pulse.who, self.gate.here
        if seconds <= 0:
            return
        here.waited = True
        if fiber is None or not fiber.runs_here:
            self._pass(round(seconds * 1000))
            return
        self.gate.loop.later(round(seconds * 1000), partial(self._resume, fiber))
        self.sleeping.append(fiber)
        try:
            fiber.wait()
        finally:
            self.sleeping.remove(fiber)
        self.pulse.who, self.gate.here = who, here

    def later(self, seconds: float, act: Callable[[], object]) -> None:
        """Have a service act on its own, after so many seconds."""

        def does() -> None:
            with suppress(Exception):
                act()

        self.gate.loop.later(round(seconds * 1000), does)

    def _pass(self, milliseconds: int) -> None:
        loop, until = self.gate.loop, self.gate.loop.now + milliseconds
        if loop.depth < self.deepest:
            loop.depth += 1
            try:
                self.run(lambda: False, until)
            finally:
                loop.depth -= 1
        loop.now = max(loop.now, until)

    def close(self) -> None:
        """End every invocation that still waits."""
        for fiber in list(self.sleeping):
            fiber.close()

    def _next(self) -> tuple[int, int, Callable[[], None]] | None:
        """The next event: an invocation that waited goes on, a message is received, or a sweep begins."""
        found: list[tuple[int, int, Callable[[], None]]] = []
        if self.gate.loop.waiting:
            at = self.gate.loop.waiting[0][0]
            found.append((at, 0, partial(self.gate.loop.run, at)))
        for position, line in enumerate(() if self.is_closed else self.lines.values(), 1):
            if (at_ := line.ready_at()) is not None:
                found.append((at_, position, partial(self._take, line)))
        if (due := self.due()) is not None:
            found.append((due, len(self.lines) + 1, self._sweep))
        return min(found, key=lambda each: each[:2], default=None)

    def _take(self, line: Line) -> None:
        batch = line.queue.receive(line.batch)
        if batch and line.lost:
            line.lost -= 1
            self.gate.diary.note(order_id_hint(batch[0].body), f"a message in {line.queue.name} is lost")
            line.queue.delete(batch[0].handle)
        elif batch and line.waits(batch[0].body):
            self._resume(Fiber(partial(self.work, line, batch)))
        else:
            for group in _groups(batch):
                self.work(line, group)

    def _resume(self, fiber: Fiber) -> None:
        outer, self.fiber = self.fiber, fiber
        try:
            fiber.resume()
        finally:
            self.fiber = outer

    def work(self, line: Line, batch: Sequence[Received], wish: int | None = None) -> None:
        """Have one process handle a batch; messages that are done are deleted, unless they are to come twice.

        Chance decides which process it is, unless one is wished for.
        """
        done, about, chances = 0, _about(batch[0]), self.gate.chances
        self.gate.diary.counts["deliveries"] += len(batch)
        self.deliveries[about, line.queue.name] += 1
        times = self.deliveries[about, line.queue.name]
        if wish is None:
            wish = chances.one_of(f"{about} {line.queue.name} {times}", line.part.copies or 1)

        def handle(instance: str) -> None:
            nonlocal done
            for reached in line.handle(instance, batch):
                if isinstance(reached, Exception):
                    self._stays(line, batch[done : done + 1], reached)
                    done += 1
                    continue
                for message in batch[done:reached]:
                    self.done()
                    self._acknowledge(line, message)
                done = reached

        try:
            self.invoke(line.part, about, handle, line.understood(batch[0].body), wish)
        except (Transient, Corrupt, Misconfigured) as error:
            self._stays(line, batch[done:], error)

    def _stays(self, line: Line, messages: Sequence[Received], error: Exception) -> None:
        if isinstance(error, RetryLater):
            for message in messages:
                _end(partial(line.queue.change_visibility, message.handle, error.seconds))
            return
        self.gate.diary.counts["invocations that failed"] += 1
        self.gate.diary.note(_about(messages[0]), f"{line.part.name} returns a message: {error}")

    def _acknowledge(self, line: Line, message: Received) -> None:
        if line.doubled:
            line.doubled -= 1
            self.gate.diary.note(order_id_hint(message.body), f"a message in {line.queue.name} comes again")
            _end(partial(line.queue.change_visibility, message.handle, 0))
        else:
            _end(partial(line.queue.delete, message.handle))

    def _sweep(self) -> None:
        self.gate.diary.note("", f"a {self.supervisor.name} sweeps for what is overdue")
        self.invoke(self.supervisor, "", self.sweep)

    def invoke(
        self, part: Part, about: str, act: Callable[[str], object], cause: ToScheduler | None = None, wish: int = 0
    ) -> None:
        """Have one process of the part act; it may die."""
        number, outer = part.begin(wish), self.pulse.who
        instance = f"{part.name}-{number}"
        self.pulse.who = (part.name, part.kind)
        try:
            with self.gate.invocation(instance, about, cause):
                act(instance)
        except Died:
            part.deaths = max(part.deaths, number + 1)
            part.buried(instance)
            self.gate.diary.counts["deaths"] += 1
            self.gate.diary.note(about, f"{instance} dies")
        finally:
            part.busy.discard(number)
            self.pulse.who = outer


def _groups(batch: Sequence[Received]) -> list[list[Received]]:
    """The messages of each group, in their order."""
    groups: dict[str, list[Received]] = {}
    for message in batch:
        groups.setdefault(message.attributes.get("MessageGroupId", ""), []).append(message)
    return list(groups.values())


def _about(message: Received) -> str:
    return order_id_hint(message.body) or message.attributes.get("MessageGroupId", "")


def _end(call: Callable[[], None]) -> None:
    """Ignore the refusal of a handle that is too late: the message comes again."""
    try:
        call()
    except Refused:
        return


def understood(text: str) -> ToScheduler | None:
    """The message as the Scheduler reads it, or what it makes of one of newer code; None if it is for somebody else."""
    try:
        return decode_for_scheduler(text)
    except NotUnderstood as error:
        return unread(text, str(error))
    except Rejected:
        return None


def kind_of(message: Received) -> str:
    """What a message is, in a few words."""
    try:
        said = json.loads(message.body)
        return " ".join(str(said[key]) for key in ("type", "step", "attempt") if key in said) or "a message"
    except (ValueError, TypeError):
        return "no valid message"


def as_message(queue: str, message: Received) -> Message:
    """The message as an intake takes it."""
    its = message.attributes
    return Message(message.message_id, queue, int(its["SentTimestamp"]), message.body, its.get("MessageGroupId", ""))
