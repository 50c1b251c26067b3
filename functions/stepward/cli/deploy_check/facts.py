"""What an AWS account, or the local cloud in its place, knows of a deployed stack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from stepward.cli.deploy_check.change import MOST_COUNTED
from stepward.cli.deploy_check.in_flight import ENDLESS, InFlight, in_flight
from stepward.cli.deployment.aws import Account
from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import Target
from stepward.cli.user_error import UserError
from stepward.operator.connection import Connection

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_events import EventBridgeClient

_MESSAGES: Any = [f"ApproximateNumberOfMessages{which}" for which in ("", "NotVisible", "Delayed")]


@dataclass(frozen=True)
class AccountFacts:
    """Asks the account of `target`; each method raises UserError if it may not, or Transient."""

    account: Account
    target: Target

    def has_bus(self, name: str) -> bool:
        """Whether there is an event bus of this name."""
        events: EventBridgeClient = self.account.client("events")
        with _explained(f"event bus {name}"):
            try:
                events.describe_event_bus(Name=name)
            except events.exceptions.ResourceNotFoundException:
                return False
        return True

    def in_shard(self, shard: int) -> int:
        """How many orders and lanes wait in a shard; from MOST_COUNTED on, at least so many."""
        stores = self._connection.store, self._connection.lanes
        return sum(1 for store in stores for _ in islice(store.due(shard, ENDLESS), MOST_COUNTED))

    @cached_property
    def in_flight(self) -> InFlight:
        """What the orders in flight still need."""
        return in_flight(self._connection.store, self._connection.lanes)

    def waiting(self, queue: str) -> int:
        """How many messages a queue of this name and its dead-letter queue hold; 0 if there is none."""
        found = self._connection.deployment.dead_letters.get(queue)
        return self._messages(found.source) + self._messages(found.dead) if found else 0

    def in_queue(self, logical_id: str) -> int:
        """How many messages a queue holds."""
        with _explained(f"queue {logical_id}"):
            return self._messages(self._url_of(logical_id))

    def _messages(self, url: str) -> int:
        with _explained(f"queue {url}"):
            found = self.account.sqs().get_queue_attributes(QueueUrl=url, AttributeNames=_MESSAGES)["Attributes"]
        return sum(int(count) for count in found.values())

    def name_of(self, logical_id: str) -> str:
        """A queue's name, as `stepward dead-letters` calls it."""
        return self._names.get(self._url_of(logical_id), logical_id)

    def typed(self, *words: str) -> str:
        """A `stepward` command of these words, which names the stack whatever the files say."""
        return replace(self.target, bare="").typed(*words)

    def _url_of(self, logical_id: str) -> str:
        stacks: CloudFormationClient = self.account.client("cloudformation")
        found = stacks.describe_stack_resource(StackName=self.target.stack, LogicalResourceId=logical_id)
        return found["StackResourceDetail"]["PhysicalResourceId"]

    @cached_property
    def _names(self) -> Mapping[str, str]:
        found = self._connection.deployment.dead_letters.items()
        return {url: f"{name}{end}" for name, both in found for url, end in ((both.source, ""), (both.dead, "-dead"))}

    @cached_property
    def _connection(self) -> Connection:
        return connect(self.target)


@contextmanager
def _explained(what: str) -> Iterator[None]:
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        raise UserError(f"{what} cannot be looked at: {error}; allow it, and check again") from error
