"""Reads undelivered messages about tasks, and judges whether they would still have an effect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stepward.domain.errors import Corrupt, NotUnderstood, Rejected
from stepward.domain.key import ANY, Keys
from stepward.domain.messages import (
    Callback,
    Cancel,
    ChildEnded,
    ChildSubmit,
    ChildUndo,
    Reply,
    Resubmit,
    Retry,
    SignalGiven,
    StepRequest,
    ToScheduler,
)
from stepward.domain.staleness import dated
from stepward.domain.task.record import Loaded
from stepward.operator.dead_letters.staleness import Judgement, Staleness, judge
from stepward.wire.envelope import Ignored
from stepward.wire.messages import decode_for_scheduler, decode_request, encode
from stepward.wire.order import accept, order_id_hint

TOGETHER = 10
"""How many messages a queue returns at once."""
Load = Callable[[str], Loaded | None]
TEST_MESSAGE = Judgement(Staleness.STALE, "it needs no action")


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message in a dead-letter queue, first sent at `sent_at` (epoch ms) and received `receives` times."""

    message_id: str
    body: str
    sent_at: int
    receives: int
    handle: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class Opened:
    """A dead letter that was read: what it is, its order, whether it is stale, and the body to send if it is current.

    `group` is its message group in a FIFO queue; empty for other queues.
    """

    dead_letter: DeadLetter
    what: str
    order_id: str
    judgement: Judgement
    body: str
    group: str = ""


def opened(queue: str, dead_letter: DeadLetter, load: Load, now: int, keys: Keys = ANY) -> Opened:
    """A dead letter of `queue`, read and judged; raises Transient."""
    try:
        return _order(dead_letter, load, now, keys) if queue == "orders" else _message(queue, dead_letter, load, now)
    except (Rejected, Corrupt) as fault:
        what = "a corrupt message" if isinstance(fault, Rejected) else "a message about a corrupt order"
        judgement = Judgement(Staleness.CORRUPT, str(fault))
        return Opened(dead_letter, what, order_id_hint(dead_letter.body), judgement, dead_letter.body)
    except NotUnderstood as fault:
        judgement = Judgement(Staleness.CURRENT, f"the deployed code will decide: {fault}")
        hint = order_id_hint(dead_letter.body)
        return Opened(dead_letter, "a message of newer code", hint, judgement, dead_letter.body)


def _message(queue: str, dead_letter: DeadLetter, load: Load, now: int) -> Opened:
    message = decode_request(dead_letter.body) if queue.startswith("agent-") else decode_for_scheduler(dead_letter.body)
    if isinstance(message, Callback):
        return _answer(dead_letter, encode(message))
    message = dated(message, dead_letter.sent_at)
    judgement = judge(message, load(message.order_id), now=now)
    # Encoded again from what was decoded: no stored body is replayed byte for byte.
    return Opened(dead_letter, _words(message), message.order_id, judgement, encode(message))


def _order(dead_letter: DeadLetter, load: Load, now: int, keys: Keys) -> Opened:
    """An order message, judged; Submission itself detects duplicates, and stores what it rejects."""
    try:
        taken = accept(dead_letter.body, keys=keys)
    except Rejected as fault:
        judgement = Judgement(Staleness.CURRENT, f"Submission will reject it: {fault}")
        return Opened(dead_letter, "an order message", order_id_hint(dead_letter.body), judgement, dead_letter.body)
    if isinstance(taken, Ignored):
        return Opened(dead_letter, "a test message", "", TEST_MESSAGE, dead_letter.body)
    if isinstance(taken, Callback):
        return _answer(dead_letter, dead_letter.body)
    if isinstance(taken, Cancel | SignalGiven):
        judgement = judge(taken, load(taken.order_id), now=now)
        what = "a cancellation" if isinstance(taken, Cancel) else f"the signal {taken.step}"
        return Opened(dead_letter, f"{what} by the submitter", taken.order_id, judgement, dead_letter.body)
    order_id = taken.order.order_id
    known = "the order exists; Submission will treat it as a duplicate" if load(order_id) else "there is no such order"
    return Opened(dead_letter, "an order", order_id, Judgement(Staleness.CURRENT, known), dead_letter.body)


def _answer(dead_letter: DeadLetter, body: str) -> Opened:
    """A service's answer; only the Scheduler knows for which order it is."""
    judgement = Judgement(Staleness.CURRENT, "the Scheduler will check its token")
    return Opened(dead_letter, "a service's answer", "", judgement, body)


def _words(message: ToScheduler | StepRequest) -> str:
    match message:
        case StepRequest():
            return f"a request to {message.agent}: {message.step}, attempt {message.attempt}"
        case Reply():
            return f"a reply: {message.step}, attempt {message.attempt}, {message.outcome}"
        case ChildSubmit() | ChildUndo() | ChildEnded():
            return f"a message about the child {message.step}: {type(message).__name__.removeprefix('Child').lower()}"
        case SignalGiven():
            return f"the signal {message.step}, {message.signal_id}"
        case Retry() | Resubmit():
            return f"the command to {type(message).__name__.lower()} {message.step}, after attempt {message.attempt}"
        case _:
            return f"the command to {type(message).__name__.lower()}"
