"""The queues and the alerts in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from stepward.adapters.sqs.delivery import BACKLOG, Failure, Outgoing, by_agent, deliver, for_queue, instructions
from stepward.domain.messages import Alert, Instruction, Reply, StepRequest
from stepward.testing.sqs.queue import Clock, MemoryQueue
from stepward.testing.sqs.rules import Entry
from stepward.wire.messages import encode


@dataclass(frozen=True, slots=True)
class MemoryQueues:
    """`ports.Queues` in memory; `agents` holds the queue of each agent by its name.

    `priority_queues` holds those of the agents that have one. An agent is backlogged when more than `backlog`
    requests wait in its queues.
    """

    scheduler: MemoryQueue
    responses: MemoryQueue
    agents: Mapping[str, MemoryQueue]
    backlog: int = BACKLOG
    priority_queues: Mapping[str, MemoryQueue] = field(default_factory=dict)

    @staticmethod
    def new(clock: Clock, agents: Iterable[str] = ()) -> MemoryQueues:
        """The queues of a deployment that has these agents."""
        scheduler, responses = (MemoryQueue(name=name, clock=clock) for name in ("scheduler", "responses"))
        return MemoryQueues(scheduler, responses, {agent: MemoryQueue(name=agent, clock=clock) for agent in agents})

    def to_scheduler(self, messages: Sequence[Instruction]) -> None:
        """Send to the Scheduler."""
        send(self.scheduler, instructions(messages))

    def to_agents(self, requests: Sequence[StepRequest]) -> None:
        """Send each request to the queue of its agent."""
        for queue, messages in by_agent(requests, self.agents, self.priority_queues):
            send(queue, messages)

    def reply(self, replies: Sequence[Reply]) -> None:
        """Send to the queue of responses."""
        send(self.responses, [Outgoing(encode(message)) for message in replies])

    def backlogged(self) -> frozenset[str]:
        """The agents whose queue holds more requests than they can take at once."""
        return frozenset(agent for agent in self.agents if (self.queued(agent) or 0) > self.backlog)

    @property
    def reachable(self) -> Collection[str]:
        """The agents that have a queue."""
        return self.agents.keys()

    def queued(self, agent: str) -> int | None:
        """How many requests wait in the agent's queues; None if it has none."""
        if agent not in self.agents:
            return None
        return sum(queues[agent].waiting for queues in (self.agents, self.priority_queues) if agent in queues)


@dataclass(frozen=True, slots=True)
class MemoryAlerts:
    """`ports.Alerts` in memory: `told` holds every single alert, repetitions included.

    `summaries` holds the alerts that came in one message, `events` all alerts as machines get them.
    """

    told: list[Alert] = field(default_factory=list)
    summaries: list[tuple[Alert, ...]] = field(default_factory=list)
    events: list[Alert] = field(default_factory=list)

    def send(self, alert: Alert) -> bool:
        """Record it; see the port."""
        self.told.append(alert)
        self.events.append(alert)
        return True

    def summarise(self, alerts: Sequence[Alert]) -> None:
        """Record them as one message; see the port."""
        self.summaries.append(tuple(alerts))
        self.events.extend(alerts)

    def to_machines(self, alerts: Sequence[Alert]) -> None:
        """Record them as events; see the port."""
        self.events.extend(alerts)


def send(queue: MemoryQueue, bodies: Sequence[Outgoing]) -> None:
    """Send all as the SQS adapter does; raises Transient with the number of those that were refused."""
    deliver(for_queue(bodies, fifo=queue.fifo), partial(_send_batch, queue))


def _send_batch(queue: MemoryQueue, batch: Sequence[Outgoing]) -> Mapping[int, Failure]:
    entries = [
        Entry(str(number), message.body, message.group or message.tenant, message.deduplication, message.delay or None)
        for number, message in enumerate(batch)
    ]
    answer = queue.send_batch(entries)
    return {int(failed.id): Failure(failed.code, final=failed.sender_fault) for failed in answer.failed}
