"""Notices as submitters read them on their queues: a contract with programs that are not ours."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from stepward.domain.key import named
from stepward.domain.messages import Notice, ReportReject
from stepward.wire import strict_json

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def encode_notice(notice: Notice, workflow: str = "") -> str:
    """The text of a notice; a field that does not apply is null. `workflow` is the name of the default workflow."""
    return strict_json.canonical(
        {
            "type": "order.status",
            **named(notice.order_id, workflow),
            "correlationId": notice.correlation_id or None,
            "status": notice.status.value,
            "step": notice.step or None,
            "reason": notice.reason or None,
            "revision": notice.revision,
            "at": _rfc3339(notice.at),
        }
    )


def encode_reject(notice: ReportReject) -> str:
    """The text of a notice that a message was rejected; it says nothing of the order that has the id."""
    return strict_json.canonical(
        {
            "type": "order.rejected",
            "orderId": notice.order_id,
            "correlationId": notice.correlation_id or None,
            "reason": notice.reason,
            "at": _rfc3339(notice.at),
        }
    )


def _rfc3339(at: int) -> str:
    return (_EPOCH + timedelta(milliseconds=at)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
