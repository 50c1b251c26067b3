"""Sends dead letters again that would still have an effect; those of a group in their sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

from stepward.adapters.sqs.delivery import Outgoing
from stepward.app.scheduler.audit_log import AuditEntry
from stepward.domain.errors import Rejected
from stepward.domain.key import named
from stepward.operator.connection import Connection
from stepward.operator.dead_letters.of_convoy import opened_event, opened_ledger
from stepward.operator.dead_letters.of_tasks import DeadLetter, Opened, opened
from stepward.operator.dead_letters.staleness import Staleness
from stepward.operator.filters import Filter
from stepward.operator.rows import Row

if TYPE_CHECKING:
    from stepward.operator.dead_letters.queue import DeadLetterQueue


class Action(StrEnum):
    """What becomes of a dead letter."""

    SENT = "sent"
    KEPT = "kept"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which dead letters a redrive is about: those whose ids begin so, and that match the filter."""

    ids: tuple[str, ...] = ("",)
    wish: Filter = field(default_factory=Filter)
    drop_stale: bool = False
    """Delete stale messages instead of keeping them."""


@dataclass(frozen=True, slots=True)
class Redrive:
    """A redrive of a queue; with a reason, the audit log of each order says who sent its message again, and why."""

    connection: Connection
    queue: str
    wanted: Wanted = field(default_factory=Wanted)
    who: str = ""
    why: str = ""

    def source(self) -> DeadLetterQueue:
        """The dead-letter queue; raises Rejected if the stack has no such queue."""
        from stepward.operator.dead_letters.queue import DeadLetterQueue  # noqa: PLC0415 - it imports the AWS SDK

        queues = self.connection.deployment.dead_letters
        if self.queue not in queues:
            raise Rejected("queue", f"there is no queue {self.queue}; the queues: {', '.join(queues)}")
        return DeadLetterQueue(self.connection.sqs, queues[self.queue].dead)

    def opened(self, dead_letter: DeadLetter) -> Opened:
        """The dead letter, read and judged; raises Transient."""
        connection = self.connection
        if self.queue == "order-events":
            return opened_event(dead_letter, connection.lanes, connection.deployment.keys)
        if self.queue.startswith("ledgers"):
            return opened_ledger(dead_letter, connection.shared_records)
        load = partial(connection.store.load, with_order=False)
        return opened(self.queue, dead_letter, load, connection.now(), connection.deployment.keys)

    def acted(
        self, dead_letters: Iterable[Opened], act: Callable[[Opened], Action]
    ) -> Iterator[tuple[Opened, Action | None]]:
        """Each dead letter with what `act` made of it; None if it is not wanted. Raises Transient.

        No message of a group passes a corrupt one: the later ones may depend on it.
        """
        held: set[str] = set()
        for each in dead_letters:
            if not self._wants(each):
                yield each, None
                continue
            action = Action.KEPT if each.group in held else act(each)
            if each.group and action is Action.KEPT and each.judgement.staleness is Staleness.CORRUPT:
                held.add(each.group)
            yield each, action

    def would(self, each: Opened) -> Action:
        """What a redrive would do."""
        if each.judgement.staleness is Staleness.CURRENT:
            return Action.SENT
        is_dropped = each.judgement.staleness is Staleness.STALE and self.wanted.drop_stale
        return Action.DROPPED if is_dropped else Action.KEPT

    def do(self, source: DeadLetterQueue, each: Opened) -> Action:
        """Send first, remove second: a crash between the two leaves a message that is stale the next time."""
        action = self.would(each)
        if action is Action.SENT:
            # The message's own id is new to the target queue, so that SQS does not drop it as a duplicate. In a
            # standard queue the group is the tenant, which keeps its fair share there.
            name, tenant = each.dead_letter.message_id, each.dead_letter.group
            target = self.connection.deployment.dead_letters[self.queue].source
            self.connection.sender.send(target, [Outgoing(each.body, each.group, name, tenant=tenant)])
        if action is not Action.KEPT:
            self._note(each, action)
            source.remove(each.dead_letter)
        return action

    def _note(self, each: Opened, action: Action) -> None:
        if self.why and each.order_id:
            command = f"redrive {self.queue}"
            note = f"{action}: {each.what}"
            entry = AuditEntry(self.connection.now(), command, "", 0, self.who, self.why, applied=True, note=note)
            self.connection.audit_log.add(each.order_id, entry)

    def _wants(self, each: Opened) -> bool:
        """Whether this is one of them; a filter looks at a message as at an order."""
        about = named(each.order_id, self.connection.deployment.keys.default if each.order_id else "")
        order_id, workflow, customer = (about[name] or "" for name in ("orderId", "workflow", "customerId"))
        sent, reason = each.dead_letter.sent_at, f"{each.what}: {each.judgement.reason}"
        row = Row(each.order_id, order_id, workflow, customer, "", "", reason, sent, sent, sent)
        return each.dead_letter.message_id.startswith(self.wanted.ids) and self.wanted.wish.matches(row)
