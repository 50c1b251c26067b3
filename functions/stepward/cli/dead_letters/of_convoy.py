"""What an undelivered ledger or order event says, and whether anything would come of it.

Lanes and the ledgers' processor know by themselves what they have had: sent again, it is at worst a duplicate.
"""

from __future__ import annotations

from stepward.adapters.sqs.fifo_ids import fifo_id
from stepward.app.convoy.dry_run import dry_run
from stepward.app.ledger.split import progress_of
from stepward.cli.dead_letters.of_tasks import Letter, Opened
from stepward.cli.dead_letters.staleness import Standing, Verdict
from stepward.domain.convoy.apply_command import is_done
from stepward.domain.convoy.arrival import Fate, reception
from stepward.domain.convoy.event import OrderEvent
from stepward.domain.convoy.lane import Lane
from stepward.domain.errors import Rejected, Unreadable
from stepward.ports import Controls, Lanes
from stepward.wire.convoy import decode_for_lane
from stepward.wire.envelope import Ignored
from stepward.wire.ledger import Ledger, decode_ledger
from stepward.wire.order import order_id_hint
from stepward.wire.order_event import EventMessage, kept_event

TEST = Verdict(Standing.STALE, "nothing is to be done about it")


def opened_event(letter: Letter, lanes: Lanes) -> Opened:
    """A letter of the order events' queue, read and judged; raises Transient."""
    hint = order_id_hint(letter.body)
    try:
        taken = decode_for_lane(letter.body, EventMessage)
    except Rejected as fault:
        reason = f"the convoy will read it as its application does, or keep it among the rejects: {fault}"
        return _opened(letter, "an order event", hint, Verdict(Standing.CURRENT, reason))
    if isinstance(taken, Ignored):
        return _opened(letter, "a test message", "", TEST)
    try:
        lane = lanes.load(taken.order_id)
        if isinstance(taken, OrderEvent):
            return _opened(letter, _event(taken), taken.order_id, _of_event(taken, lane, lanes))
    except Unreadable as fault:
        unreadable = Verdict(Standing.UNREADABLE, str(fault))
        return _opened(letter, "a message to a lane that cannot be read", taken.order_id, unreadable)
    done = lane is not None and is_done(lane, taken)
    # It may rest on letters that lie before it: whether it is refused is not to be told before those are sent.
    verdict = Verdict(Standing.STALE, "it was done") if done else Verdict(Standing.CURRENT, "the lane will decide")
    return _opened(letter, "an operator's command to the lane", taken.order_id, verdict)


def opened_ledger(letter: Letter, controls: Controls) -> Opened:
    """A letter of a queue of ledgers, read and judged; raises Transient."""
    try:
        ledger = decode_ledger(letter.body)
    except Rejected as fault:
        reason = f"the processor will reject it, and keep it among the rejects: {fault}"
        return _opened(letter, "a ledger", "", Verdict(Standing.CURRENT, reason))
    if isinstance(ledger, Ignored):
        return _opened(letter, "a test message", "", TEST)
    try:
        verdict = _of_ledger(ledger, controls)
    except Unreadable as fault:
        verdict = Verdict(Standing.UNREADABLE, str(fault))
    what = f"ledger {ledger.ledger_id} of {ledger.customer_id}"
    return _opened(letter, what, "", verdict, group=ledger.customer_id)


def _opened(letter: Letter, what: str, order_id: str, verdict: Verdict, group: str = "") -> Opened:
    # The letter bears its group as the queue has it; sent under what that was made of, it gets the very same one.
    own = group or order_id
    return Opened(letter, what, order_id, verdict, letter.body, own if fifo_id(own) == letter.group else letter.group)


def _event(event: OrderEvent) -> str:
    numbered = f" {event.sequence}" if event.sequence else ""
    return f"event{numbered}: {event.op or event.fault}"


def _of_event(event: OrderEvent, lane: Lane | None, lanes: Lanes) -> Verdict:
    if lane is None:
        return Verdict(Standing.CURRENT, "no event of the order has come yet")
    found = dry_run(lanes, lane, kept_event, lambda held: reception(lane, held, event))
    match found.fate:
        case Fate.DUPLICATE:
            entry = "" if lane.sequenced or not event.ledger_id else f"entry {event.index} of ledger {event.ledger_id}"
            return Verdict(Standing.STALE, f"{entry} has come" if entry else "the lane has had it")
        case Fate.REJECTED:
            return Verdict(Standing.CURRENT, f"the lane will keep this as a reject: {found.why}")
        case _:
            return Verdict(Standing.CURRENT, "the lane has not had it")


def _of_ledger(ledger: Ledger, controls: Controls) -> Verdict:
    progress = progress_of(controls, ledger.customer_id, ledger.ledger_id)
    if progress is None:
        return Verdict(Standing.CURRENT, "none of it has reached a lane, as far as is known")
    if progress.digest != ledger.digest:
        return Verdict(Standing.CURRENT, "another ledger had its id; the processor will keep this as a reject")
    if progress.done:
        return Verdict(Standing.STALE, f"its {progress.index:,} entries were sent to their lanes")
    return Verdict(Standing.CURRENT, f"it goes on at its entry {progress.index}")
