"""Sends the dead letters of a queue again, at a rate, until it is stopped; the audit logs say who wanted it and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

from stepward.adapters.sqs.delivery import Outgoing
from stepward.app.scheduler.audit_log import AuditEntry
from stepward.domain.coordination.breaker import unavailable
from stepward.domain.errors import Rejected, Transient
from stepward.domain.key import named
from stepward.operator.bulk import Bulk, Pace, Progress
from stepward.operator.connection import Connection
from stepward.operator.dead_letters.of_convoy import opened_event, opened_ledger
from stepward.operator.dead_letters.of_tasks import DeadLetter, Opened, opened
from stepward.operator.dead_letters.queue import DeadLetterQueue
from stepward.operator.dead_letters.staleness import Staleness
from stepward.operator.filters import Filter
from stepward.operator.rows import Row


class Action(StrEnum):
    """What was done with a dead letter; held: its agent leaves its service alone, and another run takes it."""

    SENT = "sent"
    DROPPED = "dropped"
    KEPT = "kept"
    HELD = "held"


Acted = tuple[Opened, Action]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which dead letters a redrive is about: their ids begin so, and they match the filter."""

    ids: tuple[str, ...] = ("",)
    wish: Filter = field(default_factory=Filter)

    def has(self, each: Opened, workflow: str) -> bool:
        """Whether this is one of them; a filter looks at a message as at an order, of the default `workflow`."""
        about = named(each.order_id, workflow if each.order_id else "")
        order_id, of_workflow, customer = (about[name] or "" for name in ("orderId", "workflow", "customerId"))
        sent, reason = each.dead_letter.sent_at, f"{each.what}: {each.judgement.reason}"
        row = Row(each.order_id, order_id, of_workflow, customer, "", "", reason, sent, sent, sent)
        return each.dead_letter.message_id.startswith(self.ids) and self.wish.matches(row)


@dataclass(slots=True)
class Redrive:
    """One run over the dead letters of `queue`: what was `done`, how many were `read`, and why the rest is `left`."""

    connection: Connection
    queue: str
    wanted: Wanted
    bulk: Bulk
    drop_stale: bool = False
    done: list[Acted] = field(default_factory=list)
    read: int = 0
    left: str = ""
    _held: set[str] = field(default_factory=set)
    _noted: set[tuple[str, Action]] = field(default_factory=set)
    _free_at: int = 0

    @property
    def source(self) -> DeadLetterQueue:
        """The dead-letter queue; raises Rejected if the stack has no such queue."""
        queues = self.connection.deployment.dead_letters
        if self.queue not in queues:
            raise Rejected("queue", f"there is no queue {self.queue}; the queues: {', '.join(queues)}")
        return DeadLetterQueue(self.connection.sqs, queues[self.queue].dead)

    def would(self, most: int) -> None:
        """Say what a run would do with at most `most` messages; raises Transient."""
        with self.source.taken(most) as dead_letters:
            self.done = [(each, self._action(each)) for each in self._wanted(dead_letters)]

    def run(self, most: int, pace: Pace) -> None:
        """Do it with at most `most` messages; raises Transient as long as nothing was done."""
        source = self.source
        total, sent = min(most, source.depth()), 0
        with source.taken(most) as dead_letters:
            try:
                for each in self._wanted(dead_letters):
                    if self._stopped(pace):
                        return
                    self.done.append((each, self._act(source, each, pace)))
                    sent += self.done[-1][1] is Action.SENT
                    pace.on_progress(Progress(total, sent, self.read - sent))
            except Transient as error:
                if not self.done:
                    raise
                self.left = f"the run ended before the rest: {error}"

    def _wanted(self, dead_letters: Iterator[DeadLetter]) -> Iterator[Opened]:
        for dead_letter in dead_letters:
            self.read += 1
            each = open_of(self.connection, self.queue, dead_letter)
            if self.wanted.has(each, self.connection.deployment.keys.default):
                yield each

    def _stopped(self, pace: Pace) -> bool:
        if not pace.stop() and (wait := self._free_at - pace.now()) > 0:
            pace.sleep(wait / 1000)
        if pace.stop():
            self.left = "the run was stopped before the rest"
        return bool(self.left)

    def _action(self, each: Opened) -> Action:
        """What to do; no message of a group passes one that is corrupt, since the later ones may depend on it."""
        staleness = each.judgement.staleness
        if each.group in self._held:
            return Action.KEPT
        if staleness is Staleness.CURRENT:
            return Action.HELD if self._is_agent_away() else Action.SENT
        if staleness is Staleness.CORRUPT and each.group:
            self._held.add(each.group)
        return Action.DROPPED if staleness is Staleness.STALE and self.drop_stale else Action.KEPT

    def _is_agent_away(self) -> bool:
        parts = self.connection.deployment
        url = parts.dead_letters[self.queue].source
        agent = next((name for name, theirs in parts.agent_queue_urls.items() if theirs == url), "")
        return bool(agent) and unavailable(self.connection.breakers.of(agent), self.connection.now())

    def _act(self, source: DeadLetterQueue, each: Opened, pace: Pace) -> Action:
        """Note it, send it, remove it: a death in between leaves a message that is stale the next time."""
        if (action := self._action(each)) not in {Action.SENT, Action.DROPPED}:
            return action
        self._note(each, action)
        if action is Action.SENT:
            # The message's own id is new to the target queue, so that SQS does not drop it as a duplicate. In a
            # standard queue the group is the tenant, which keeps its fair share there.
            name, tenant = each.dead_letter.message_id, each.dead_letter.group
            url = self.connection.deployment.dead_letters[self.queue].source
            self.connection.sender.send(url, [Outgoing(each.body, each.group, name, tenant=tenant)])
        source.remove(each.dead_letter)
        self._free_at = max(self._free_at, pace.now()) + round(1000 / pace.rate)
        return action

    def _note(self, each: Opened, action: Action) -> None:
        """Tell the audit logs of the queue and of the order, each once in a run."""
        command = f"{'redrive' if action is Action.SENT else 'drop'} {self.queue}"
        for key in {audited_as(self.queue), each.order_id} - {""}:
            if (key, action) not in self._noted:
                now, who, why = self.connection.now(), self.bulk.who, self.bulk.reason
                self.connection.audit_log.add(key, AuditEntry(now, command, "", 0, who, why, applied=True))
                self._noted.add((key, action))


def audited_as(queue: str) -> str:
    """The name of a queue's own audit log; no order has it."""
    return f"~dead-letters/{queue}"


def open_of(connection: Connection, queue: str, dead_letter: DeadLetter) -> Opened:
    """A dead letter of `queue`, read and judged; raises Transient."""
    if queue == "order-events":
        return opened_event(dead_letter, connection.lanes, connection.deployment.keys)
    if queue.startswith("ledgers"):
        return opened_ledger(dead_letter, connection.shared_records)
    load = partial(connection.store.load, with_order=False)
    return opened(queue, dead_letter, load, connection.now(), connection.deployment.keys)
