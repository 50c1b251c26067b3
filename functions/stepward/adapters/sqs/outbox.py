"""Collects what the messages of a batch send, so that many share one call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock, local

from stepward.adapters.sqs.delivery import NotTaken, Outgoing, by_agent, instructions
from stepward.adapters.sqs.queues import SqsQueues, SqsSender
from stepward.domain.errors import StepwardError
from stepward.domain.messages import Instruction, Reply, StepRequest
from stepward.wire.messages import encode


@dataclass(frozen=True, slots=True)
class Collected:
    """A message to the queue at `url`, sent on behalf of the received message `message_id`."""

    url: str
    message: Outgoing
    message_id: str


@dataclass(slots=True)
class Outbox:
    """`ports.Queues` for a function that is given batches; safe under threads.

    The messages sent on behalf of a received message go out with those of its neighbours. If that fails, the received
    message comes back, finds what its first delivery wrote, and sends again.
    """

    queues: SqsQueues
    _collected: list[Collected] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)
    _current: local = field(default_factory=local)

    @contextmanager
    def on_behalf_of(self, message_id: str) -> Iterator[None]:
        """Whatever this thread sends inside is on behalf of that message."""
        self._current.message_id = message_id
        try:
            yield
        finally:
            self._current.message_id = ""

    def to_scheduler(self, messages: Sequence[Instruction]) -> None:
        """Collect them for the Scheduler."""
        self._collect(self.queues.scheduler, instructions(messages))

    def to_agents(self, requests: Sequence[StepRequest]) -> None:
        """Collect each request for the queue of its agent."""
        for url, messages in by_agent(requests, self.queues.agents, self.queues.priority_queues):
            self._collect(url, messages)

    def reply(self, replies: Sequence[Reply]) -> None:
        """Collect them for the queue of responses."""
        self._collect(self.queues.responses, [Outgoing(encode(message)) for message in replies])

    def backlogged(self) -> frozenset[str]:
        """The backlogged agents; see `SqsQueues`."""
        return self.queues.backlogged()

    @property
    def reachable(self) -> frozenset[str]:
        """The agents that have a queue; see `SqsQueues`."""
        return self.queues.reachable

    def queued(self, agent: str) -> int | None:
        """How many requests wait for an agent; see `SqsQueues`."""
        return self.queues.queued(agent)

    def discard(self) -> None:
        """Drop what a run left that failed as a whole: its messages come back, and send it again."""
        with self._lock:
            self._collected = []

    def flush(self) -> Mapping[str, StepwardError]:
        """Send all that was collected; the errors, by the ids of the messages that have to come back."""
        with self._lock:
            collected, self._collected = self._collected, []
        failed: dict[str, StepwardError] = {}
        for url in dict.fromkeys(each.url for each in collected):
            together = [each for each in collected if each.url == url]
            try:
                SqsSender(self.queues.client).send(url, [each.message for each in together])
            except StepwardError as error:
                if isinstance(error, NotTaken):
                    together = [each for each in together if each.message.body in error.bodies]
                failed |= dict.fromkeys((each.message_id for each in together), error)
        return failed

    def _collect(self, url: str, messages: Sequence[Outgoing]) -> None:
        with self._lock:
            self._collected += [Collected(url, message, self._current.message_id) for message in messages]
