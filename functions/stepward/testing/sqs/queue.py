"""An SQS standard queue in memory, as strict as AWS, under a clock that the test moves.

Use it in one thread: it has no locks. Messages come in the order of sending unless `arrange` changes it, for SQS
promises none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from zlib import crc32

from stepward.testing.sqs.messages import BatchAnswer, NotTaken, Received, Stored, Taken
from stepward.testing.sqs.rules import (
    LONGEST_DELAY_S,
    LONGEST_VISIBILITY_S,
    MOST_BYTES,
    Entry,
    Refused,
    check_batch,
    check_body,
    check_fifo_id,
    check_range,
)

Clock = Callable[[], int]


def _nothing_fails(_: Entry) -> str:
    return ""


def _as_sent(_: list[Stored]) -> None:
    return None


@dataclass(kw_only=True)
class MemoryQueue:
    """A standard queue. Settings are AWS's, in seconds; `clock` gives epoch milliseconds.

    `faults` gives the error code with which SQS itself fails an entry of a batch, or "" to accept it.
    `arrange` reorders the visible messages in place, e.g. `random.Random(7).shuffle`.
    """

    name: str
    clock: Clock
    visibility_timeout: int = 30
    delay: int = 0
    largest: int = MOST_BYTES
    max_receive_count: int = 0
    dead_letters: MemoryQueue | None = None
    faults: Callable[[Entry], str] = _nothing_fails
    arrange: Callable[[list[Stored]], None] = _as_sent
    _messages: dict[int, Stored] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=lambda: count(1))

    fifo = False

    def __post_init__(self) -> None:
        check_range("VisibilityTimeout", self.visibility_timeout, 0, LONGEST_VISIBILITY_S)
        check_range("DelaySeconds", self.delay, 0, LONGEST_DELAY_S)
        if self.name.endswith(".fifo") is not self.fifo:
            raise Refused("InvalidParameterValue", "the name of a FIFO queue, and of no other, ends in .fifo")
        if self.dead_letters is not None and self.dead_letters.fifo is not self.fifo:
            raise Refused("InvalidParameterValue", "a queue and its dead-letter queue are of the same kind")

    @property
    def arn(self) -> str:
        """The name that events carry."""
        return f"arn:aws:sqs:us-east-1:000000000000:{self.name}"

    @property
    def bodies(self) -> list[str]:
        """The bodies of all messages that are not deleted, in the order of sending."""
        return [stored.body for stored in self._messages.values()]

    @property
    def stored(self) -> list[Stored]:
        """All messages that are not deleted, in the order of sending."""
        return list(self._messages.values())

    @property
    def waiting(self) -> int:
        """How many messages could be received now."""
        return sum(stored.visible_at <= self.clock() for stored in self._messages.values())

    @property
    def in_flight(self) -> int:
        """How many messages were received and are neither deleted nor visible again."""
        return sum(stored.in_flight(self.clock()) for stored in self._messages.values())

    def ready_at(self) -> int | None:
        """When the next message can be received (epoch milliseconds); None if there is none."""
        if not self._messages:
            return None
        now = self.clock()
        if self._receivable(now):
            return now
        return min((stored.visible_at for stored in self._messages.values() if stored.visible_at > now), default=None)

    def send(self, body: str, *, group: str = "", deduplication: str = "", delay: int | None = None) -> Taken:
        """Send one message; raises Refused."""
        entry = Entry("0", body, group, deduplication, delay)
        check_batch([entry])
        return self._take(entry)

    def send_batch(self, entries: Sequence[Entry]) -> BatchAnswer:
        """Send up to 10 messages, each accepted or refused by itself; raises Refused for the batch as a whole."""
        check_batch(entries)
        answer = BatchAnswer()
        for entry in entries:
            if code := self.faults(entry):
                answer.failed.append(NotTaken(entry.id, code, sender_fault=False))
                continue
            try:
                answer.successful.append(self._take(entry))
            except Refused as refused:
                answer.failed.append(NotTaken(entry.id, refused.code, sender_fault=True))
        return answer

    def receive(self, most: int = 10, *, visibility_timeout: int | None = None) -> list[Received]:
        """Up to `most` visible messages; those received too often move to the dead-letter queue."""
        check_range("MaxNumberOfMessages", most, 1, 10)
        hidden_for = self.visibility_timeout if visibility_timeout is None else visibility_timeout
        check_range("VisibilityTimeout", hidden_for, 0, LONGEST_VISIBILITY_S)
        if not self._messages:
            return []
        now = self.clock()
        self._bury_used_up(now)
        return [self.hand_out(stored, hidden_for) for stored in self._receivable(now)[:most]]

    def hand_out(self, stored: Stored, hidden_for: int = 1) -> Received:
        """Receive this message, whenever its turn is."""
        now = self.clock()
        stored.visible_at = now + hidden_for * 1000
        stored.received_at = now
        stored.first_received_at = stored.first_received_at or now
        stored.receive_count += 1
        return stored.as_received()

    def delete(self, handle: str) -> None:
        """Delete the message of this handle; a handle that a later receive replaced deletes nothing."""
        stored = self._find(handle)
        if stored is not None and self._may_delete(stored, handle):
            del self._messages[stored.number]

    def change_visibility(self, handle: str, timeout: int) -> None:
        """Hide a message in flight for `timeout` seconds from now; 0 makes it visible at once."""
        check_range("VisibilityTimeout", timeout, 0, LONGEST_VISIBILITY_S)
        now, stored = self.clock(), self._find(handle)
        if stored is None or not stored.in_flight(now) or stored.handle != handle:
            raise Refused("MessageNotInflight", "the message is not in flight under this handle")
        if now + timeout * 1000 > stored.received_at + LONGEST_VISIBILITY_S * 1000:
            raise Refused("InvalidParameterValue", "a message stays hidden for at most 12 hours after its receipt")
        stored.visible_at = now + timeout * 1000

    def redrive(self) -> int:
        """Take all messages back from the dead-letter queue, as an operator does; how many there were."""
        dead = self.dead_letters._messages if self.dead_letters else {}  # noqa: SLF001 - as in _bury_used_up
        count = len(dead)
        while dead:
            self._store_again(dead.pop(min(dead)), self.clock())
        return count

    def _take(self, entry: Entry) -> Taken:
        self._check(entry)
        delay = self.delay if entry.delay is None else entry.delay
        return Taken(entry.id, self._accept(entry, self.clock() + delay * 1000).message_id)

    def _check(self, entry: Entry) -> None:
        check_body(entry.body, self.largest)
        if entry.delay is not None:
            check_range("DelaySeconds", entry.delay, 0, LONGEST_DELAY_S)
        if entry.group:
            check_fifo_id("MessageGroupId", entry.group)
        if entry.deduplication:
            raise Refused("InvalidParameterValue", "MessageDeduplicationId is for FIFO queues only")

    def _accept(self, entry: Entry, visible_at: int) -> Stored:
        """Store a message that was sent."""
        return self._store(entry, visible_at)

    def _store(self, entry: Entry, visible_at: int) -> Stored:
        number = next(self._numbers)
        message_id = f"{crc32(f'{self.name} {number}'.encode()):08x}-0000-4000-8000-{number:012x}"
        stored = Stored(
            self.name, number, message_id, entry.body, entry.group, entry.deduplication, self.clock(), visible_at
        )
        self._messages[number] = stored
        return stored

    def _receivable(self, now: int) -> list[Stored]:
        visible = [stored for stored in self._messages.values() if stored.visible_at <= now]
        self.arrange(visible)
        return visible

    def _bury_used_up(self, now: int) -> None:
        if self.dead_letters is None:
            return
        for stored in self._receivable(now):
            if stored.receive_count >= self.max_receive_count:
                del self._messages[stored.number]
                self.dead_letters._bury(stored, self.arn, now)  # noqa: SLF001 - one queue hands over to another

    def _bury(self, dead: Stored, source: str, now: int) -> None:
        stored = self._store_again(dead, now)
        stored.receive_count, stored.first_received_at = dead.receive_count, dead.first_received_at
        stored.source = source

    def _store_again(self, known: Stored, visible_at: int) -> Stored:
        """Store a message that this queue or another one had already."""
        stored = self._store(Entry("", known.body, known.group, known.deduplication), visible_at)
        stored.message_id, stored.sent_at = known.message_id, known.sent_at
        return stored

    def _find(self, handle: str) -> Stored | None:
        name, _, rest = handle.partition("|")
        number = rest.partition("|")[0]
        if name != self.name or not number.isdigit():
            raise Refused("ReceiptHandleIsInvalid", f"{handle!r} is no receipt handle of {self.name}")
        return self._messages.get(int(number))

    def _may_delete(self, stored: Stored, handle: str) -> bool:
        return stored.handle == handle
