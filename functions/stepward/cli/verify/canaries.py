"""Orders that run through a deployed stack to show that it works, and are removed when they have ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from stepward.adapters.dynamodb.task_items import result_key
from stepward.adapters.sqs.delivery import Outgoing
from stepward.cli.orders.files import Written
from stepward.cli.verify.deployed import Finding
from stepward.domain.errors import Rejected
from stepward.domain.messages import Cancel, SignalGiven
from stepward.domain.task.record import ProcessState, Task
from stepward.operator.connection import Connection
from stepward.wire.order import Accepted, Taken, accept

NOT_OURS = ("replyTo", "completeBy")
LOOKED_AT_EVERY_S = 0.5


@dataclass(slots=True)
class Canaries:
    """One order for each workflow, made of `samples`. `dynamodb` deletes them, `sleep` waits."""

    connection: Connection
    samples: Sequence[Written]
    dynamodb: Any
    sleep: Callable[[float], None]
    sent: dict[str, str] = field(default_factory=dict)
    """The key of each canary, by its workflow."""

    def findings(self, within_ms: int) -> Iterator[Finding]:
        """Send them, wait for their ends, and remove them; what became of each."""
        self.connection.sender.send(self.connection.deployment.orders_queue_url, [Outgoing(it) for it in self._made()])
        until = self.connection.now() + within_ms
        for workflow in self.connection.deployment.keys.workflows:
            if key := self.sent.get(workflow):
                yield self._ended(f"canary of {workflow}", key, until)
            else:
                says = "no file has an order of it; name one"
                yield Finding(f"canary of {workflow}", good=False, says=says)

    def _made(self) -> Iterator[str]:
        """The messages of the canaries: the first sample of each workflow, and the signals that the samples give it."""
        for sample in self.samples:
            new_id = self.connection.new_id()
            content = _canary(sample.body, new_id)
            taken = self._taken(content)
            if not isinstance(taken, Accepted):
                continue
            workflow = self.connection.deployment.keys.submitted(taken.type)
            if workflow not in self.sent:
                self.sent[workflow] = taken.order.order_id
                yield content
                yield from self._signals(taken.order.order_id, _order_id(sample.body), new_id)

    def _signals(self, key: str, sampled: str, new_id: str) -> Iterator[str]:
        """What the samples give the order `sampled`, for the canary of that key; the first of each name."""
        given: set[str] = set()
        for content in (_canary(it.body, new_id) for it in self.samples if _order_id(it.body) == sampled):
            taken = self._taken(content)
            if isinstance(taken, SignalGiven) and taken.order_id == key and taken.step not in given:
                given.add(taken.step)
                yield content

    def _taken(self, content: str) -> Taken | None:
        try:
            return accept(content, keys=self.connection.deployment.keys)
        except Rejected:
            return None

    def _ended(self, check: str, key: str, until: int) -> Finding:
        task = self._task(key)
        while not (task and task.has_ended) and self.connection.now() < until:
            self.sleep(LOOKED_AT_EVERY_S)
            task = self._task(key)
        if task is None or not task.has_ended:
            cancel = Cancel(key, "stepward verify", "the canary did not end in time")
            self.connection.queues.to_scheduler([cancel])
            state = task.process_state if task else "not there"
            return Finding(check, good=False, says=f"{key} is {state}, and was cancelled; its record stays")
        if task.process_state is not ProcessState.PROCESSED:
            return Finding(check, good=False, says=f"{key} ended {task.process_state}; its record stays")
        try:
            self._remove(task)
        except (ClientError, BotoCoreError) as error:
            return Finding(
                check, good=False, says=f"{key} is Processed, and cannot be removed: {error}; allow DeleteItem"
            )
        return Finding(check, good=True, says=f"{key} went through {len(task.steps)} steps, and is removed")

    def _task(self, key: str) -> Task | None:
        loaded = self.connection.store.load(key, with_order=False)
        return loaded.task if loaded else None

    def _remove(self, task: Task) -> None:
        names = self.connection.deployment
        rows = [(names.tasks_table, result_key(record)) for record in task.steps.values()]
        for table, key in (*rows, (names.orders_table, task.order_id), (names.tasks_table, task.order_id)):
            self.dynamodb.delete_item(TableName=table, Key={"OrderID": {"S": key}})


def _order_id(body: str) -> str:
    """The order id in a sample, or ""."""
    return str(_fields(body).get("orderId", ""))


def _canary(body: str, new_id: str) -> str:
    """The same order under an id of its own, that notifies nobody; what is no object stays as it is."""
    kept = {name: value for name, value in _fields(body).items() if name not in NOT_OURS}
    return json.dumps(kept | {"orderId": f"canary-{new_id}"}) if kept else body


def _fields(body: str) -> Mapping[str, Any]:
    """The fields of a sample; none of what is no JSON object."""
    try:
        content = json.loads(body)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}
