"""Sends messages in batches: packed to the limits of SQS, checked one by one, in order within a group."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from stepward.adapters.sqs.fifo_ids import fifo_id
from stepward.domain.errors import Transient
from stepward.domain.key import group
from stepward.domain.messages import Instruction, Retry, StepRequest
from stepward.domain.replace import replace
from stepward.wire.messages import encode

if TYPE_CHECKING:  # a function imports what its own queues carry, and no more
    from stepward.domain.convoy.lane_message import LaneMessage

MOST_ENTRIES = 10
MOST_BYTES = 1024 * 1024
LONGEST_DELAY_S = 900
URGENT = "high"
BACKLOG = 100
"""An agent with more requests in its queues than this is backlogged, unless a deployment sets another number."""

Queue = TypeVar("Queue")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message to send; `group` and `deduplication` are needed on a FIFO queue and left out on others.

    A standard queue with a backlog serves the tenants of its messages fairly.
    """

    body: str
    group: str = ""
    deduplication: str = ""
    delay: int = 0
    """Seconds for which the queue delays it; a FIFO queue cannot."""
    tenant: str = ""
    alone: bool = False
    """It shares no call with another message of its group: SQS may take the later one and not the earlier."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one message of a batch was not taken; `final` if the same message would be refused again."""

    code: str
    final: bool


class NotTaken(Transient):
    """Some messages were not taken; `bodies` are theirs."""

    def __init__(self, reason: str, bodies: Collection[str]) -> None:
        super().__init__(reason)
        self.bodies = bodies


class SendBatch(Protocol):
    """One call that sends a batch."""

    def __call__(self, batch: Sequence[Outgoing]) -> Mapping[int, Failure]:
        """Send at most 10 messages and 1 MiB; the failures, by position in the batch."""


def for_queue(messages: Sequence[Outgoing], *, fifo: bool) -> list[Outgoing]:
    """The messages with the ids that this kind of queue needs."""
    if not fifo:
        return [
            replace(message, group="", deduplication="", tenant=fifo_id(message.tenant) if message.tenant else "")
            if message.group or message.deduplication or message.tenant
            else message
            for message in messages
        ]
    if not all(message.group and message.deduplication for message in messages):
        raise ValueError("a message to a FIFO queue needs a group and a deduplication id; give it both")
    return [
        replace(message, group=fifo_id(message.group), deduplication=fifo_id(message.deduplication))
        for message in messages
    ]


def instructions(messages: Sequence[Instruction]) -> list[Outgoing]:
    """The messages to the Scheduler; the queue delays a Retry that is for later."""
    return [
        Outgoing(encode(message), delay=_seconds(message.delay) if isinstance(message, Retry) else 0)
        for message in messages
    ]


def lane_messages(events: Sequence[LaneMessage]) -> list[Outgoing]:
    """The messages to the lanes of orders; each order is its own group."""
    return [Outgoing(event.body, group(event.order_id), event.name, alone=event.alone) for event in events]


def _seconds(milliseconds: int) -> int:
    return min(LONGEST_DELAY_S, math.ceil(milliseconds / 1000))


def by_agent(
    requests: Sequence[StepRequest], queues: Mapping[str, Queue], priority_queues: Mapping[str, Queue]
) -> list[tuple[Queue, list[Outgoing]]]:
    """The requests for each agent's queue; urgent ones first, and in its priority queue if it has one.

    A request to an agent without a queue is left out, and the others go: the Supervisor finds its step, uncounted.
    """
    urgent: dict[str, list[Outgoing]] = {}
    others: dict[str, list[Outgoing]] = {}
    for request in (each for each in requests if each.agent in queues):
        requested = urgent if request.priority == URGENT and request.agent in priority_queues else others
        outgoing = Outgoing(encode(request), delay=_seconds(request.delay), tenant=request.tenant)
        requested.setdefault(request.agent, []).append(outgoing)
    return [
        *((priority_queues[agent], messages) for agent, messages in urgent.items()),
        *((queues[agent], messages) for agent, messages in others.items()),
    ]


def deliver(messages: Sequence[Outgoing], send_batch: SendBatch) -> None:
    """Send all messages; raise NotTaken if any was not taken.

    A message that was not taken is sent once more at once, unless its failure is final. If it fails again, the
    messages behind it in its group are held back, and other groups go on.
    """
    delivery = _Delivery(send_batch)
    for batch in batches(messages):
        delivery.send(batch)
    if delivery.failures:
        raise NotTaken(delivery.report(len(messages)), delivery.left)


def batches(messages: Sequence[Outgoing]) -> Iterator[list[Outgoing]]:
    """The messages in order, in batches that fit into one call."""
    batch: list[Outgoing] = []
    room = MOST_BYTES
    for message in messages:
        size = len(message.body.encode())
        follows = message.alone and any(message.group == earlier.group for earlier in batch)
        if batch and (len(batch) == MOST_ENTRIES or size > room or follows):
            yield batch
            batch, room = [], MOST_BYTES
        batch.append(message)
        room -= size
    if batch:
        yield batch


@dataclass(slots=True)
class _Delivery:
    send_batch: SendBatch
    failures: list[Failure] = field(default_factory=list)
    stopped: set[str] = field(default_factory=set)
    held_back: int = 0
    left: set[str] = field(default_factory=set)

    def send(self, batch: Sequence[Outgoing]) -> None:
        again = []
        for message, failure in self._not_taken(batch):
            if failure.final:
                self._give_up(message, failure)
            else:
                again.append(message)
        for turn in _turns(again):
            for message, failure in self._not_taken(turn):
                self._give_up(message, failure)

    def _not_taken(self, batch: Sequence[Outgoing]) -> list[tuple[Outgoing, Failure]]:
        ready = [message for message in batch if message.group not in self.stopped]
        self.held_back += len(batch) - len(ready)
        self.left.update(message.body for message in batch if message.group in self.stopped)
        failed = self.send_batch(ready) if ready else {}
        return [(ready[position], failed[position]) for position in sorted(failed)]

    def _give_up(self, message: Outgoing, failure: Failure) -> None:
        self.failures.append(failure)
        self.left.add(message.body)
        if message.group:
            self.stopped.add(message.group)

    def report(self, total: int) -> str:
        codes = ", ".join(sorted({failure.code for failure in self.failures}))
        held = f", and {self.held_back} behind them in their groups were held back" if self.held_back else ""
        return f"{len(self.failures)} of {total} messages were not taken ({codes}){held}; send all of them again"


def _turns(messages: Sequence[Outgoing]) -> list[list[Outgoing]]:
    """Split so that no two messages of a group share a call, in which the second could succeed without the first."""
    turns: list[list[Outgoing]] = []
    seen: Counter[str] = Counter()
    for message in messages:
        turn = seen[message.group] if message.group else 0
        seen[message.group] += 1
        if turn == len(turns):
            turns.append([])
        turns[turn].append(message)
    return turns
