"""The whole engine in memory, under virtual time, to test an application."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from stepward.adapters.sqs.delivery import lane_messages
from stepward.domain.convoy.commands import LaneCommand
from stepward.domain.convoy.lane_message import LaneMessage
from stepward.domain.messages import Alert, Notice
from stepward.domain.messages.reply_queues import Allowed
from stepward.domain.rejects import Reject
from stepward.domain.task.record import StepRecord, Task
from stepward.testing.faults.broken import Broken
from stepward.testing.faults.gate import Chances, Gate
from stepward.testing.faults.loop import START
from stepward.testing.faults.profile import CALM
from stepward.testing.faults.pulse import Kill, Kind, Pulse
from stepward.testing.faults.waits import idles
from stepward.testing.harness import Harness, NotAccepted
from stepward.testing.memory.queues import send
from stepward.testing.parts import PARTS, Parts
from stepward.testing.settings import REPLY_QUEUES, REPLY_TO, Settings
from stepward.wire.convoy import encode_command


@dataclass(frozen=True, slots=True)
class Clock:
    """Virtual time. It passes when something waits for it, or when the test moves it."""

    engine: Engine

    @property
    def now(self) -> int:
        """Epoch milliseconds."""
        return self.engine.loop.now

    @property
    def seconds(self) -> float:
        """Seconds since the test began."""
        return (self.engine.loop.now - START) / 1000

    def move(self, seconds: float) -> None:
        """Let so many seconds pass, and everything that is due in them happen."""
        self.engine.run(limit=self.engine.loop.now + round(seconds * 1000))


@dataclass(repr=False)
class Engine(Harness):
    """One deployment of an application: all six functions in memory, without AWS, network or waiting.

    Your own operations run; `service` sets how the service behind one behaves. `visibility` is the visibility timeout
    of all queues in seconds; 0 means that of a real deployment. `skew` is how many milliseconds the clock of every
    second process is ahead. Use it as a context manager, or as the fixture `engine`.
    """

    settings: Settings = field(default_factory=Settings)
    visibility: int = 0
    skew: int = 0
    pulse: Pulse = field(default_factory=Pulse)

    def __post_init__(self) -> None:
        if self.settings.reply_queues == Allowed():
            self.settings = replace(self.settings, reply_queues=REPLY_QUEUES)
        super().__post_init__()
        self.reply_to = REPLY_TO
        self.clock = Clock(self)
        self.pulse.now = lambda: f"{self.clock.seconds:>8.2f} s"
        self.diary.also = self.pulse.note
        gate = Gate(self.loop, Chances(0, frozenset()), self.diary, CALM)
        self.parts = Parts(
            app=self.app,
            settings=self.settings,
            gate=gate,
            pulse=self.pulse,
            visibility=self.visibility,
            skew=self.skew,
        )
        self.pump, self.services = self.parts.pump, self.parts.services

    def close(self) -> None:
        """End every call that still waits, such as that of a service that hangs."""
        self.pump.close()

    def send(self, message: Mapping[str, Any] | LaneCommand) -> None:
        """Send a ledger (it has `ledgerId` and `entries` or `objectKey`), an order event, or a command to a lane."""
        name = f"message-{next(self.names)}"
        if not isinstance(message, Mapping):
            send(self.parts.events, lane_messages([LaneMessage(message.order_id, name, encode_command(message))]))
        elif "entries" in message or "objectKey" in message:
            self.parts.ledgers.send(
                json.dumps(message), group=str(message.get("customerId") or "all"), deduplication=name
            )
        else:
            send(self.parts.events, lane_messages([LaneMessage(self.addressed(message), name, json.dumps(message))]))

    def post(self, queue: str, text: str) -> None:
        """Put a message into one of the queues, as it is: orders, scheduler, responses, agent-NAME."""
        self.pump.lines[queue].queue.send(text)

    def task(self, order_id: str) -> Task | None:
        """The record of an order; None if it was not accepted."""
        return self.parts.store.tasks.get(order_id)

    def large_result(self, record: StepRecord) -> Mapping[str, Any]:
        """The result of a step that is kept in a row of its own."""
        return self.parts.store.result(record)

    def run(self, until: Callable[[], bool] = lambda: False, limit: int | None = None) -> None:
        """Let everything happen until nothing moves, until `until` is true, or up to `limit` (epoch milliseconds).

        An order that asks each hour for items that wait for a person does not move.

        Time jumps to the next event, through every wait, up to its limit. `until` may ask an order that is not accepted
        yet. Raises AssertionError if there is no end, or if an invariant breaks.
        """

        def ends() -> bool:
            with suppress(NotAccepted):
                return until() or (limit is None and self._idles())
            return False

        self.parts.telemetry.begins(must_end=limit is None)
        with _as_failures():
            self.pump.run(ends, limit)

    def _idles(self) -> bool:
        """Whether nothing is left but to ask, each hour, for items that wait for a person."""
        tasks, lanes = self.parts.store.tasks, self.parts.lanes.lanes
        if self.loop.waiting or any(line.ready_at() is not None for line in self.pump.lines.values()):
            return False
        due = [task for task in tasks.values() if task.due is not None]
        of_items = due and not any(lane.due for lane in lanes.values())
        return bool(of_items) and all(idles(task, self.parts.judge.plan(task), tasks) for task in due)

    def verdict(self) -> None:
        """Check all that must hold once nothing moves; raises AssertionError.

        `run` itself fails at once when it sees what must never be, such as a step that two processes hold.
        """
        with _as_failures():
            self.parts.judge.verdict()
        if self.services.faults:
            raise AssertionError("; ".join(dict.fromkeys(self.services.faults)))

    def kill(self, part: str = "", call: int = 1, *, after: bool = False) -> None:
        """Have a process of the part die before (or right after) the `call`-th call that the part makes from now on.

        A call is one to the state store, a queue, a service and so on. `part` is submission, scheduler, agent,
        supervisor, ledger, convoy or the name of an agent; without it, whichever part makes the call. Several kills of
        a part follow each other.
        """
        parts = (*PARTS, *self.parts.agents())
        if part and part not in parts:
            raise ValueError(f"{part!r} is no part; there are {', '.join(parts)}")
        self.pulse.kills.append(Kill(part, call, Kind.DIES_AFTER if after else Kind.DIES_BEFORE))

    def lose(self, queue: str, times: int = 1) -> None:
        """Lose the next message of this queue: orders, scheduler, responses, agent-NAME, ledgers, events."""
        self.pump.lines[queue].lost += times

    def double(self, queue: str, times: int = 1) -> None:
        """Deliver the next message of this queue once more after it was handled."""
        self.pump.lines[queue].doubled += times

    @property
    def alerts(self) -> list[Alert]:
        """The alerts that operators got, each as often as it was sent."""
        return self.parts.alerts.events

    @property
    def notices(self) -> list[Notice]:
        """The notices that submitters got."""
        return self.parts.notices.posted

    @property
    def rejects(self) -> list[Reject]:
        """The messages that could not be accepted, oldest first."""
        return self.parts.rejects.newest(1_000_000)[::-1]

    @property
    def dead_letters(self) -> list[str]:
        """The bodies of the messages in the dead-letter queues."""
        return [body for queue in self.parts.dead for body in queue.bodies]


@contextmanager
def _as_failures() -> Iterator[None]:
    """Turn a broken invariant into a failed assertion."""
    try:
        yield
    except Broken as broken:
        raise AssertionError(str(broken)) from broken
