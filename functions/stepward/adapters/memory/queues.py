"""The queues and the alerts in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from stepward.adapters.delivery import BACKLOG, Failure, Outgoing, by_agent, deliver, for_queue
from stepward.adapters.memory.queue import MemoryQueue
from stepward.adapters.memory.sqs_rules import Entry
from stepward.domain.messages import Alert, Reply, Resubmit, Retry, Start, StepRequest
from stepward.wire.messages import encode


@dataclass(frozen=True, slots=True)
class MemoryQueues:
    """`ports.Queues` in memory; `agents` holds the queue of each agent by its name.

    An agent is backlogged when more than `backlog` requests wait in its queue.
    """

    scheduler: MemoryQueue
    responses: MemoryQueue
    agents: Mapping[str, MemoryQueue]
    backlog: int = BACKLOG

    def to_scheduler(self, messages: Sequence[Start | Retry | Resubmit]) -> None:
        """Send to the Scheduler."""
        send(self.scheduler, [Outgoing(encode(message)) for message in messages])

    def to_agents(self, requests: Sequence[StepRequest]) -> None:
        """Send each request to the queue of its agent."""
        for queue, messages in by_agent(requests, self.agents):
            send(queue, messages)

    def reply(self, replies: Sequence[Reply]) -> None:
        """Send to the queue of responses."""
        send(self.responses, [Outgoing(encode(message)) for message in replies])

    def backlogged(self) -> frozenset[str]:
        """The agents whose queue holds more requests than they can take at once."""
        return frozenset(agent for agent, queue in self.agents.items() if queue.waiting > self.backlog)


@dataclass(frozen=True, slots=True)
class MemoryAlerts:
    """`ports.Alerts` in memory: `told` holds every telling, the second one of a fact as well."""

    told: list[Alert] = field(default_factory=list)

    def tell(self, alert: Alert) -> None:
        """Keep it."""
        self.told.append(alert)


def send(queue: MemoryQueue, bodies: Sequence[Outgoing]) -> None:
    """Send all as the SQS adapter does; raises Transient naming how many were not taken."""
    deliver(for_queue(bodies, fifo=queue.fifo), partial(_send_batch, queue))


def _send_batch(queue: MemoryQueue, batch: Sequence[Outgoing]) -> Mapping[int, Failure]:
    entries = [
        Entry(str(position), message.body, message.group, message.deduplication)
        for position, message in enumerate(batch)
    ]
    answer = queue.send_batch(entries)
    return {int(failed.id): Failure(failed.code, final=failed.sender_fault) for failed in answer.failed}
