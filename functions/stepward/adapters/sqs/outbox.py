"""What the messages of a batch ask to be sent, kept until they are done, so that many share one call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock, local

from stepward.adapters.sqs.delivery import Outgoing, by_agent, instructions
from stepward.adapters.sqs.queues import SqsQueues, SqsSender
from stepward.domain.errors import StepwardError
from stepward.domain.messages import Instruction, Reply, StepRequest
from stepward.wire.messages import encode


@dataclass(frozen=True, slots=True)
class Letter:
    """A message to the queue at `url`, and the name of the message whose work it is part of."""

    url: str
    message: Outgoing
    cause: str


@dataclass(slots=True)
class Outbox:
    """`ports.Queues` for a function that is given batches; safe under threads.

    What a message asks to be sent goes out with that of its neighbours. If it does not get out, the message comes back,
    finds what its first delivery wrote, and sends again.
    """

    queues: SqsQueues
    _letters: list[Letter] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)
    _now: local = field(default_factory=local)

    @contextmanager
    def on_behalf_of(self, cause: str) -> Iterator[None]:
        """What is sent inside, in this thread, is part of the work of the message of that name."""
        self._now.cause = cause
        try:
            yield
        finally:
            self._now.cause = ""

    def to_scheduler(self, messages: Sequence[Instruction]) -> None:
        """Keep them for the Scheduler."""
        self._keep(self.queues.scheduler, instructions(messages))

    def to_agents(self, requests: Sequence[StepRequest]) -> None:
        """Keep each request for the queue of its agent; raises Misconfigured for one that has none."""
        for url, messages in by_agent(requests, self.queues.agents, self.queues.lanes):
            self._keep(url, messages)

    def reply(self, replies: Sequence[Reply]) -> None:
        """Keep them for the queue of responses."""
        self._keep(self.queues.responses, [Outgoing(encode(message)) for message in replies])

    def backlogged(self) -> frozenset[str]:
        """As the queues have it."""
        return self.queues.backlogged()

    def flush(self) -> Mapping[str, StepwardError]:
        """Send all that was kept; why it failed, by the names of the messages that have to come back."""
        with self._lock:
            letters, self._letters = self._letters, []
        failed: dict[str, StepwardError] = {}
        for url in dict.fromkeys(letter.url for letter in letters):
            together = [letter for letter in letters if letter.url == url]
            try:
                SqsSender(self.queues.client).send(url, [letter.message for letter in together])
            except StepwardError as error:
                failed |= dict.fromkeys((letter.cause for letter in together), error)
        return failed

    def _keep(self, url: str, messages: Sequence[Outgoing]) -> None:
        with self._lock:
            self._letters += [Letter(url, message, self._now.cause) for message in messages]
