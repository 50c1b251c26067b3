"""What an Agent says of a request, and what it logs of an error."""

from __future__ import annotations

import traceback
from contextlib import suppress

from stepward.domain.coordination.fault import without
from stepward.domain.errors import NotUnderstood, Rejected
from stepward.domain.messages import Outcome, Reply, StepRequest
from stepward.domain.workflow.plan import UNDO_SUFFIX
from stepward.wire.messages import decode_request

LONGEST_TRACE = 4_000
MOST_FRAMES = 20
"""Characters and frames of a traceback that are logged: its end, with the innermost frames."""


def is_again(text: str) -> bool:
    """Whether a request is for a further attempt: the one before may have ended its process, and so may this one."""
    with suppress(Rejected, NotUnderstood):
        return decode_request(text).attempt > 1
    return False


def effect_of(request: StepRequest) -> str:
    """The idempotency key of the effect that is done, or undone."""
    return request.idempotency_key.removesuffix(UNDO_SUFFIX)


def reply_to(request: StepRequest, outcome: Outcome, error: str) -> Reply:
    """How the attempt of `request` stands."""
    more_after = request.complete_by if outcome is Outcome.WAITING else 0
    return Reply(
        request.order_id, request.step, request.attempt, request.token, outcome, error=error, complete_by=more_after
    )


def later(request: StepRequest) -> Reply:
    """The work is handed over, if the service has something to answer with."""
    if request.callback:
        return reply_to(request, Outcome.LATER, "")
    return reply_to(request, Outcome.PERMANENT, "the operation returned Later; give its step an answer_within")


def trace_of(error: BaseException, token: str, *, keep_text: bool) -> str:
    """The traceback; without the messages of the exceptions, which may hold personal data, its frames alone."""
    if keep_text:
        return without(token, "".join(traceback.format_exception(error, limit=-MOST_FRAMES)))[-LONGEST_TRACE:]
    return "".join(traceback.format_tb(error.__traceback__, limit=-MOST_FRAMES))[-LONGEST_TRACE:]
