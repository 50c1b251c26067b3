"""Reads undelivered ledgers and order events, and judges whether they would still have an effect.

Lanes and the ledger function recognise what they have received before: sending it again makes at worst a duplicate.
"""

from __future__ import annotations

from stepward.adapters.sqs.fifo_ids import fifo_id
from stepward.app.convoy.dry_run import dry_run
from stepward.app.ledger.split import progress_of
from stepward.domain.convoy.apply_command import is_done
from stepward.domain.convoy.event import OrderEvent
from stepward.domain.convoy.lane import Lane
from stepward.domain.convoy.sequence import Fate, reception
from stepward.domain.errors import Corrupt, NotUnderstood, Rejected, Unreadable
from stepward.domain.key import ANY, Keys
from stepward.operator.dead_letters.of_tasks import TEST_MESSAGE, DeadLetter, Opened
from stepward.operator.dead_letters.staleness import Judgement, Staleness
from stepward.ports import Lanes, SharedRecords
from stepward.wire.convoy import decode_for_lane
from stepward.wire.envelope import Ignored
from stepward.wire.ledger import Ledger, decode_ledger
from stepward.wire.order import order_id_hint
from stepward.wire.order_event import stored_event


def opened_event(dead_letter: DeadLetter, lanes: Lanes, keys: Keys = ANY) -> Opened:
    """A dead letter of the queue of order events, read and judged; raises Transient."""
    hint = order_id_hint(dead_letter.body)
    try:
        taken = decode_for_lane(dead_letter.body, keys=keys)
    except Rejected as fault:
        reason = f"the convoy will read it with its application's sources, or reject it: {fault}"
        return _opened(dead_letter, "an order event", hint, Judgement(Staleness.CURRENT, reason))
    if isinstance(taken, Ignored):
        return _opened(dead_letter, "a test message", "", TEST_MESSAGE)
    try:
        lane = lanes.load(taken.order_id)
        if isinstance(taken, OrderEvent):
            return _opened(dead_letter, _event(taken), taken.order_id, _of_event(taken, lane, lanes))
    except (Corrupt, NotUnderstood) as fault:
        return _to_unreadable(dead_letter, taken.order_id, fault)
    done = lane is not None and is_done(lane, taken)
    # A command may depend on dead letters before it: nobody knows until they are sent whether the lane refuses it.
    judgement = (
        Judgement(Staleness.STALE, "the lane has applied it")
        if done
        else Judgement(Staleness.CURRENT, "the lane will decide")
    )
    return _opened(dead_letter, "an operator's command to the lane", taken.order_id, judgement)


def opened_ledger(dead_letter: DeadLetter, shared_records: SharedRecords) -> Opened:
    """A dead letter of a queue of ledgers, read and judged; raises Transient."""
    try:
        ledger = decode_ledger(dead_letter.body)
    except Rejected as fault:
        reason = f"the ledger function will reject it: {fault}"
        return _opened(dead_letter, "a ledger", "", Judgement(Staleness.CURRENT, reason))
    if isinstance(ledger, Ignored):
        return _opened(dead_letter, "a test message", "", TEST_MESSAGE)
    try:
        judgement = _of_ledger(ledger, shared_records)
    except Corrupt as fault:
        judgement = Judgement(Staleness.CORRUPT, str(fault))
    what = f"ledger {ledger.ledger_id} of {ledger.customer_id}"
    return _opened(dead_letter, what, "", judgement, group=ledger.customer_id)


def _to_unreadable(dead_letter: DeadLetter, order_id: str, fault: Unreadable) -> Opened:
    if isinstance(fault, NotUnderstood):
        newer = Judgement(Staleness.CURRENT, f"the deployed code will decide: {fault}")
        return _opened(dead_letter, "a message to a lane of newer code", order_id, newer)
    corrupt = Judgement(Staleness.CORRUPT, str(fault))
    return _opened(dead_letter, "a message to a corrupt lane", order_id, corrupt)


def _opened(dead_letter: DeadLetter, what: str, order_id: str, judgement: Judgement, group: str = "") -> Opened:
    # The queue may hold a hash as the group; sent under the name that was hashed, the message gets the same group.
    return Opened(
        dead_letter,
        what,
        order_id,
        judgement,
        dead_letter.body,
        group if group and fifo_id(group) == dead_letter.group else dead_letter.group,
    )


def _event(event: OrderEvent) -> str:
    numbered = f" {event.sequence}" if event.sequence else ""
    return f"event{numbered}: {event.op or event.fault}"


def _of_event(event: OrderEvent, lane: Lane | None, lanes: Lanes) -> Judgement:
    if lane is None:
        return Judgement(Staleness.CURRENT, "the lane has received no event of the order")
    found = dry_run(lanes, lane, stored_event, lambda held: reception(lane, held, event))
    match found.fate:
        case Fate.DUPLICATE:
            entry = "" if lane.sequenced or not event.ledger_id else f"entry {event.index} of ledger {event.ledger_id}"
            return Judgement(Staleness.STALE, f"the lane has received {entry or 'it'}")
        case Fate.REJECTED:
            return Judgement(Staleness.CURRENT, f"the lane will reject it: {found.why}")
        case _:
            return Judgement(Staleness.CURRENT, "the lane has not received it")


def _of_ledger(ledger: Ledger, shared_records: SharedRecords) -> Judgement:
    progress = progress_of(shared_records, ledger.customer_id, ledger.ledger_id)
    if progress is None:
        return Judgement(Staleness.CURRENT, "no entry of it is known to have reached a lane")
    if progress.digest != ledger.digest:
        return Judgement(Staleness.CURRENT, "another ledger has this id; the ledger function will reject this one")
    if progress.done:
        return Judgement(Staleness.STALE, f"its {progress.index:,} entries were sent to their lanes")
    return Judgement(Staleness.CURRENT, f"the ledger function will go on at entry {progress.index}")
