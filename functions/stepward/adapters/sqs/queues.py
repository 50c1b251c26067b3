"""The queues on SQS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from stepward.adapters.sqs.delivery import BACKLOG, Failure, Outgoing, by_agent, deliver, for_queue, instructions
from stepward.adapters.sqs.errors import translated
from stepward.domain.errors import NoSuchQueue
from stepward.domain.messages import Instruction, Reply, StepRequest
from stepward.wire.messages import encode

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType
    from mypy_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef, SendMessageBatchResultTypeDef


@dataclass(frozen=True, slots=True)
class SqsQueues:
    """`ports.Queues` on SQS; `agents` holds the queue URL of each agent by its name.

    `priority_queues` holds the URLs of those agents that have one. An agent is backlogged when more than `backlog`
    requests wait in its queues, by SQS's estimate. `gone` are the agents whose queue SQS did not find when it was last
    asked.
    """

    client: SQSClient
    scheduler: str
    responses: str
    agents: Mapping[str, str]
    backlog: int = BACKLOG
    priority_queues: Mapping[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    def to_scheduler(self, messages: Sequence[Instruction]) -> None:
        """Send to the Scheduler."""
        SqsSender(self.client).send(self.scheduler, instructions(messages))

    def to_agents(self, requests: Sequence[StepRequest]) -> None:
        """Send each request to the queue of its agent."""
        for queue_url, messages in by_agent(requests, self.agents, self.priority_queues):
            SqsSender(self.client).send(queue_url, messages)

    def reply(self, replies: Sequence[Reply]) -> None:
        """Send to the queue of responses."""
        SqsSender(self.client).send(self.responses, [Outgoing(encode(message)) for message in replies])

    def backlogged(self) -> frozenset[str]:
        """The agents whose queue holds more requests than they can take at once; raises Transient."""
        self.gone.clear()
        return frozenset(agent for agent in self.agents if (self.queued(agent) or 0) > self.backlog)

    @property
    def reachable(self) -> frozenset[str]:
        """The agents that have a queue, as far as is known; see the port."""
        return frozenset(self.agents) - self.gone

    def queued(self, agent: str) -> int | None:
        """How many requests wait in the agent's queues, by SQS's estimate; None if it has no queue."""
        if agent not in self.agents:
            return None
        urgent = self.priority_queues.get(agent)
        try:
            return counted(self.client, self.agents[agent]) + (counted(self.client, urgent) if urgent else 0)
        except NoSuchQueue:
            self.gone.add(agent)
            return None


def counted(client: SQSClient, queue_url: str, *, hidden: bool = False) -> int:
    """How many messages wait in a queue, or are `hidden`, by SQS's estimate; raises Transient or Misconfigured."""
    name: QueueAttributeNameType = "ApproximateNumberOfMessages"
    if hidden:
        name = "ApproximateNumberOfMessagesNotVisible"
    with translated(queue_url):
        return int(client.get_queue_attributes(QueueUrl=queue_url, AttributeNames=[name])["Attributes"][name])


@dataclass(frozen=True, slots=True)
class SqsSender:
    """Sends any number of messages to one queue in as few calls as SQS allows."""

    client: SQSClient

    def send(self, queue_url: str, bodies: Sequence[Outgoing]) -> None:
        """Send all; raises Transient with the number of those not taken, Misconfigured if the queue cannot be used."""
        messages = for_queue(bodies, fifo=queue_url.endswith(".fifo"))
        deliver(messages, partial(self._send_batch, queue_url))

    def _send_batch(self, queue_url: str, batch: Sequence[Outgoing]) -> Mapping[int, Failure]:
        entries = [_entry(position, message) for position, message in enumerate(batch)]
        with translated(queue_url):
            answer = self.client.send_message_batch(QueueUrl=queue_url, Entries=entries)
        return _failures(len(batch), answer)


def _entry(position: int, message: Outgoing) -> SendMessageBatchRequestEntryTypeDef:
    entry: SendMessageBatchRequestEntryTypeDef = {"Id": str(position), "MessageBody": message.body}
    if message.delay:
        entry["DelaySeconds"] = message.delay
    if message.tenant:
        entry["MessageGroupId"] = message.tenant
    if message.group:
        entry["MessageGroupId"] = message.group
        entry["MessageDeduplicationId"] = message.deduplication
    return entry


def _failures(sent: int, answer: SendMessageBatchResultTypeDef) -> dict[int, Failure]:
    # An entry that the answer does not name counts as failed: nobody promised to deliver it.
    failures = {position: Failure("NotAnswered", final=False) for position in range(sent)}
    for taken in answer.get("Successful", []):
        failures.pop(int(taken["Id"]), None)
    for failed in answer.get("Failed", []):
        failures[int(failed["Id"])] = Failure(failed["Code"], final=failed["SenderFault"])
    return failures
