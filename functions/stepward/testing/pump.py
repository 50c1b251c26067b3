"""Moves messages: takes them from the queues, has them handled, and lets virtual time pass in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from threading import Semaphore, Thread, current_thread

from stepward.domain.errors import RetryLater, Transient
from stepward.domain.messages import ToScheduler
from stepward.testing.faults.pulse import Pulse
from stepward.testing.faults.record import Died
from stepward.testing.seeded.gate import Gate
from stepward.testing.sqs.messages import Received
from stepward.testing.sqs.queue import MemoryQueue
from stepward.testing.sqs.rules import Refused
from stepward.wire.order import order_id_hint

MOST_STEPS = 20_000
Handle = Callable[[str, Sequence[Received]], Iterator[int]]
"""Handles a batch in the process of this name; yields how many messages are done so far."""


@dataclass(slots=True)
class Part:
    """One function, and its kind if it is one of several.

    `busy` holds the numbers of its running processes, `deaths` counts those that died. `buried` is called with the name
    of each process that died.
    """

    name: str
    kind: str = ""
    most_at_once: int = 100
    busy: set[int] = field(default_factory=set)
    deaths: int = 0
    buried: Callable[[str], None] = lambda _: None

    def begin(self) -> int:
        """Start work in the first process that is alive and idle; its number."""
        found = next(number for number in count(self.deaths) if number not in self.busy)
        self.busy.add(found)
        return found


@dataclass(slots=True)
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
        return self.queue.ready_at() if len(self.part.busy) < self.part.most_at_once else None


@dataclass(slots=True)
class Fiber:
    """An invocation that can wait: it runs until it waits or ends, while its caller stands still, so nothing races."""

    act: Callable[[], None]
    thread: Thread = field(init=False)
    error: BaseException | None = None
    is_closed: bool = False
    go: Semaphore = field(default_factory=lambda: Semaphore(0))
    back: Semaphore = field(default_factory=lambda: Semaphore(0))

    def __post_init__(self) -> None:
        self.thread = Thread(target=self._run, daemon=True)

    @property
    def runs_here(self) -> bool:
        """Whether the caller runs inside it."""
        return current_thread() is self.thread

    def resume(self) -> None:
        """Run it until it waits or ends; raises its error."""
        if self.thread.ident is None:
            self.thread.start()
        else:
            self.go.release()
        self.back.acquire()
        if self.error is not None:
            raise self.error

    def wait(self) -> None:
        """Let others run until it is resumed; called inside it."""
        self.back.release()
        self.go.acquire()
        if self.is_closed:
            raise Died

    def close(self) -> None:
        """End it where it waits."""
        if self.thread.is_alive():
            self.is_closed = True
            self.go.release()
            self.thread.join()

    def _run(self) -> None:
        try:
            self.act()
        except BaseException as error:  # noqa: BLE001 - whoever resumed it raises it again
            self.error = error
        finally:
            self.back.release()


@dataclass(slots=True)
class Pump:
    """Goes from event to event. `due` says when the next sweep is due, and `sweep` runs it.

    `done` is called with each message that was handled, before it is deleted.
    """

    gate: Gate
    pulse: Pulse
    due: Callable[[], int | None]
    sweep: Callable[[str], object]
    done: Callable[[Received], object]
    lines: dict[str, Line] = field(default_factory=dict)
    supervisor: Part = field(default_factory=lambda: Part("supervisor"))
    fiber: Fiber | None = None
    sleeping: list[Fiber] = field(default_factory=list)

    def run(self, until: Callable[[], bool], limit: int | None = None) -> None:
        """Let everything happen up to `limit` (epoch ms), or until `until` is true; AssertionError if it never ends."""
        for _ in range(MOST_STEPS):
            if until():
                return
            found = self._next()
            if found is None or (limit is not None and found[0] > limit):
                self.gate.loop.now = max(self.gate.loop.now, limit or 0)
                return
            self.gate.loop.now = max(self.gate.loop.now, found[0])
            found[2]()
        raise AssertionError(f"{MOST_STEPS} events, and no end: something in this application goes round in a circle")

    def wait(self, seconds: float) -> None:
        """Let time pass for the present invocation, while others act."""
        fiber, who, here = self.fiber, self.pulse.who, self.gate.here
        if seconds <= 0:
            return
        here.waited = True
        if fiber is None or not fiber.runs_here:
            self.gate.loop.now += round(seconds * 1000)
            return
        self.gate.loop.later(round(seconds * 1000), partial(self._resume, fiber))
        self.sleeping.append(fiber)
        try:
            fiber.wait()
        finally:
            self.sleeping.remove(fiber)
        self.pulse.who, self.gate.here = who, here

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
        for position, line in enumerate(self.lines.values(), 1):
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
            self._resume(Fiber(partial(self._work, line, batch)))
        else:
            for group in _groups(batch):
                self._work(line, group)

    def _resume(self, fiber: Fiber) -> None:
        outer, self.fiber = self.fiber, fiber
        try:
            fiber.resume()
        finally:
            self.fiber = outer

    def _work(self, line: Line, batch: Sequence[Received]) -> None:
        """Have one process handle a batch; messages that are done are deleted, unless they are to come twice."""
        done = 0

        def handle(instance: str) -> None:
            nonlocal done
            for reached in line.handle(instance, batch):
                for message in batch[done:reached]:
                    self.done(message)
                    self._acknowledge(line, message)
                done = reached

        try:
            self._invoke(line.part, order_id_hint(batch[0].body), handle, line.understood(batch[0].body))
        except RetryLater as retry_later:
            for message in batch[done:]:
                _end(partial(line.queue.change_visibility, message.handle, retry_later.seconds))
        except Transient as error:
            self.gate.diary.note(order_id_hint(batch[0].body), f"{line.part.name} returns a message: {error}")

    def _acknowledge(self, line: Line, message: Received) -> None:
        if line.doubled:
            line.doubled -= 1
            self.gate.diary.note(order_id_hint(message.body), f"a message in {line.queue.name} comes again")
            _end(partial(line.queue.change_visibility, message.handle, 0))
        else:
            _end(partial(line.queue.delete, message.handle))

    def _sweep(self) -> None:
        self._invoke(self.supervisor, "", self.sweep)

    def _invoke(self, part: Part, about: str, act: Callable[[str], object], cause: ToScheduler | None = None) -> None:
        """Have one process of the part act; it may die."""
        number, outer = part.begin(), self.pulse.who
        instance = f"{part.name}-{number}"
        self.pulse.who = (part.name, part.kind)
        try:
            with self.gate.invocation(instance, about, cause):
                act(instance)
        except Died:
            part.deaths = max(part.deaths, number + 1)
            part.buried(instance)
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


def _end(call: Callable[[], None]) -> None:
    """Ignore the refusal of a handle that is too late: the message comes again."""
    try:
        call()
    except Refused:
        return
