"""One of everything that outlives a deployment: records, messages between parts, notices and alerts."""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from stepward.adapters.alerts.event_bus import detail, detail_type
from stepward.adapters.alerts.sns import attributes
from stepward.app.ledger.split import Progress
from stepward.app.scheduler.audit_log import AuditEntry
from stepward.domain.convoy.commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.convoy.lane import Alerted
from stepward.domain.coordination.blame import Blame, Suspect
from stepward.domain.coordination.breaker import AgentPause, Breaker, Mode
from stepward.domain.coordination.call_row import CallRow
from stepward.domain.coordination.lease import Lease
from stepward.domain.messages import (
    AgentDefect,
    Alert,
    Cancel,
    CheckedRequest,
    ChildEnded,
    ChildHeard,
    ChildSubmit,
    ChildUndo,
    ItemRequest,
    LaneWaits,
    Notice,
    Outcome,
    Pause,
    Reply,
    Report,
    ReportReject,
    Resubmit,
    Resume,
    Retry,
    Start,
    Status,
    StepFailed,
    StepRequest,
    StepWaits,
    ToScheduler,
    Undo,
)
from stepward.domain.rejects import Reject
from stepward.domain.workflow.plan import Exhausted, Plan, PlannedStep, Policy
from stepward.wire.convoy import encode_command
from stepward.wire.messages import encode
from stepward.wire.notices import encode_notice
from tests.contract.worlds.store_worlds import NOW

POLICIES = (
    Policy(Exhausted.WAIT, wait=60_000, rounds=2),
    Policy(Exhausted.FALLBACK, agent="reserve", operation="pay", undo_agent="reserve", undo="repay", at_once=4),
    Policy(Exhausted.UNDO),
)
PLAN = Plan(
    "fulfilment",
    3,
    (
        PlannedStep("reserve", "inventory", "reserve", (), 60_000, 3),
        PlannedStep("charge", "bank", "pay", ("reserve",), 1, 5, POLICIES, Exhausted.UNDO, "bank", "repay", True, 10),
    ),
    3_600_000,
    Exhausted.UNDO,
)
SUSPECT = Suspect("pay", "KeyError", "bank.py:7 pay", "KeyError: 'x'", True, NOW, ("a1",), ("b2",), NOW + 1, True)
BLAME = Blame((SUSPECT,), (("c3", NOW + 2),))
BREAKER = Breaker(
    Mode.OPEN, 7, 2, NOW, NOW + 9, "probe-1", AgentPause("ada", "the bank works on it", NOW), ("a1",), BLAME
)
ROW = CallRow("id-1", NOW, closed=True, known=True)
LEASE = Lease("supervisor-1", 4, NOW)
TIMES = tuple(range(NOW, NOW + 10))
AUDIT = AuditEntry(NOW, "resubmit", "charge", 3, "ada", "card replaced", applied=False, note="no", revision=7)
PROGRESS = Progress("digest", "version-1", NOW, 500, 65_536, done=True)
REJECT = Reject("m-1", "orders", NOW, "items[0].qty", "Expected `int`, got `str`", '{"qty":"2"}', "ord-1")
REQUEST = StepRequest(
    order_id="ord-1",
    step="charge",
    agent="bank",
    operation="pay",
    attempt=2,
    token="0123456789ab",
    fence=4,
    idempotency_key="ord-1/charge",
    complete_by=NOW,
    budget=60_000,
    results={"reserve": {"reservation": "r-1"}},
    order={"orderId": "ord-1", "total": "12.30"},
    priority="high",
    tenant="shop",
)
CHECKED = CheckedRequest(**{each.name: getattr(REQUEST, each.name) for each in fields(REQUEST)}, check="find_pay")
ITEM = ItemRequest(**{each.name: getattr(CHECKED, each.name) for each in fields(CHECKED)}, item={"weight": 3})
TO_SCHEDULER: Mapping[str, ToScheduler] = {
    "start": Start("ord-1"),
    "retry": Retry("ord-1", "charge", 2),
    "report": Report("ord-1"),
    "undo": Undo("ord-1", "ada", "sold twice"),
    "cancel": Cancel("ord-1", "the submitter", "no longer wanted", "acme"),
    "pause": Pause("ord-1", "ada", "stock is counted", NOW),
    "resume": Resume("ord-1", "ada", "counted", NOW),
    "resubmit": Resubmit("ord-1", "charge", 3, "ada", "card replaced"),
    "ok": Reply("ord-1", "charge", 2, "0123456789ab", Outcome.OK, {"charged": "12.30"}),
    "permanent": Reply("ord-1", "charge", 2, "0123456789ab", Outcome.PERMANENT, error="card declined"),
    "failing": Reply("ord-1", "charge", 2, "0123456789ab", Outcome.FAILING, error="Transient: HTTP 503"),
    "report reject": ReportReject("ord-1", "checkout-1", "queue", "m-1", "items: is missing", NOW),
    "waiting": Reply(
        "ord-1", "charge", 2, "0123456789ab", Outcome.WAITING, error="its rate is used up", complete_by=NOW
    ),
    "child submit": ChildSubmit("ord-1", "invoice", 2),
    "child undo": ChildUndo("ord-1", "invoice", 2),
    "child ended": ChildEnded("ord-1", "invoice", 2, result={"pages": 3}),
    "child undone": ChildEnded("ord-1", "invoice", 2, undone=True, error="past print"),
    "child heard": ChildHeard("ord-1#invoice", undone=True),
    "not understood": Reply("ord-1", "charge", 2, "0123456789ab", Outcome.NOT_UNDERSTOOD, error="deploy it"),
}
TO_LANES: Mapping[str, LaneCommand] = {
    "retry lane": RetryLane("ord-1", "ada", "mended", "c-1"),
    "skip event": SkipEvent("ord-1", 3, "ada", "never came", "c-2"),
    "replace event": ReplaceEvent("ord-1", -1, '{"op":"add"}', "ada", "mended", "c-3"),
}
NOTICES = {status.value: Notice("ord-1", "checkout-1", "queue", status, "charge", 7, NOW) for status in Status}
NOTICES |= {"too late": Notice("ord-1", "checkout-1", "queue", Status.UNDONE, "", 7, NOW, "complete-by")}
ALERTS: Mapping[str, Alert] = {
    "step failed": StepFailed("ord-1", "charge", 3, "card declined", NOW),
    "undo failed": StepFailed("ord-1", "charge/undo", 3, "no such charge", NOW, ("charge", "reserve")),
    "step waits": StepWaits("ord-1", "charge", 2, "agent bank does not know operation pay; deploy it", NOW),
    "defect": AgentDefect("bank", "pay", "KeyError", "bank.py:7 pay", "KeyError: 'x'", 3, NOW, NOW + 1),
    "defect over": AgentDefect("bank", "pay", "KeyError", "bank.py:7 pay", "KeyError: 'x'", 3, NOW, NOW + 1, over=True),
    "lane blocked": LaneWaits("ord-1", "3", Alerted.BLOCKED, "amount: is missing", NOW),
    "gap": LaneWaits("ord-1", "3", Alerted.GAP, "event 3 has not come, and 4 has", NOW),
    "idle": LaneWaits("ord-1", "3", Alerted.IDLE, "nothing has come after event 2", NOW),
}


def written() -> dict[str, dict[str, Any]]:
    """Every message in the form that this code writes."""
    requests = {"request": REQUEST, "checked": CHECKED, "item": ITEM}
    internal = {name: encode(message) for name, message in {**TO_SCHEDULER, **requests}.items()}
    commands = {name: encode_command(command) for name, command in TO_LANES.items()}
    notices = {name: encode_notice(notice) for name, notice in NOTICES.items()}
    return {
        "messages": {name: json.loads(text) for name, text in (internal | commands).items()},
        "notices": {name: json.loads(text) for name, text in notices.items()},
        "alerts": {
            name: {"type": detail_type(alert), "detail": json.loads(detail(alert)), "attributes": attributes(alert)}
            for name, alert in ALERTS.items()
        },
    }
