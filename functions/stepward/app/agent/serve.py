"""Serving: an Agent calls its remote service inside complete-by, and replies only before it."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from stepward.app.agent.guard import Guard
from stepward.domain.backoff import LONGEST_ABSENCE, absence, least_absence, next_wait
from stepward.domain.coordination.blame import Failure
from stepward.domain.coordination.breaker import Permit, Refused
from stepward.domain.coordination.fault import Fault, Origin, fault_of, short, without
from stepward.domain.errors import NotUnderstood, Permanent, RetryLater, Transient
from stepward.domain.history import HistoryKind, TracedEntry
from stepward.domain.messages import Outcome, Reply, StepRequest
from stepward.domain.workflow.agents import Call, Later, Operation
from stepward.ports import Queues, Telemetry
from stepward.wire.messages import decode_request, encode_result, large, unread

MOST_WAITED = 2_000
"""Milliseconds that a delivery may wait between its calls, which is billed; the queue does any longer waiting."""
LOOKS_WITHIN = 200
"""Milliseconds within which a request looks for a slot a second time before it goes back."""
LEAST_LEFT = 7_000
"""Milliseconds that a request has to have left when it comes back for a slot: two, since a queue counts in seconds, and
five, by which clocks may differ. Else its wish for more time comes too late, and counts against the order."""
LONGEST_TRACE = 4_000
MOST_FRAMES = 20
"""Characters and frames of a traceback that are logged: its end, with the innermost frames."""


@dataclass(frozen=True, slots=True)
class Serve:
    """Serves the requests of one agent; `sleep` takes seconds, `jitter` gives a number from 0 to 1."""

    operations: Mapping[str, Operation]
    queues: Queues
    telemetry: Telemetry
    now: Callable[[], int]
    sleep: Callable[[float], None]
    jitter: Callable[[], float]
    guard: Guard
    keep_error_texts: bool = True
    """Whether the messages of exceptions may be kept and logged; if not, only their types are."""

    def handle(self, text: str) -> None:
        """Run the attempt that `text` asks for.

        Raises Rejected, NotUnderstood, RetryLater if the request has to wait for its service or for newer code, or
        Transient if the reply could not be sent. Past complete-by there is no reply, no error and no recovery: another
        instance may hold the step.
        """
        request = self._read(text)
        deadline = min(request.complete_by, self.now() + request.budget)
        if self.now() >= deadline:
            self._log(HistoryKind.EXPIRED, request, "it waited in the queue past complete-by")
            return
        with self.guard.working():
            reply = self._attempt(request, deadline)
        if reply is None or self.now() >= deadline:
            self._log(HistoryKind.SILENT, request, "complete-by has passed")
            return
        self.queues.reply([reply])

    def _read(self, text: str) -> StepRequest:
        """The request; of one that only newer code knows the Scheduler hears that nobody has tried the attempt."""
        try:
            return decode_request(text)
        except NotUnderstood as error:
            if told := unread(text, f"agent {self.guard.agent} was sent {error}"):
                self.queues.reply([told])
            raise

    def _attempt(self, request: StepRequest, deadline: int) -> Reply | None:
        """Call the operation until it succeeds or is refused; None if the time is used up."""
        operation = self.operations.get(request.operation)
        if operation is None:
            self._put_back(request, deadline)
        fault: Fault | None = None
        tries, waited = 0, 0
        try:
            while isinstance(found := self._call(request, operation, deadline, first=fault is None), Fault):
                fault = found
                wait = next_wait(tries, self.jitter())
                if self.now() + wait >= deadline:
                    self._report(request, deadline, fault)
                    return None
                if waited + wait > MOST_WAITED:
                    self._retry_later(request, deadline, self._away(request, deadline), "the call failed")
                self.sleep(wait / 1000)
                tries, waited = tries + 1, waited + wait
        except RetryLater:
            self._report(request, deadline, fault)
            raise
        return found

    def _put_back(self, request: StepRequest, deadline: int) -> NoReturn:
        """Tell the Scheduler that only newer code knows the operation: nobody has tried the attempt.

        The request comes back, in case the agent is updated before complete-by. The breaker hears nothing.
        """
        lacks = f"agent {request.agent} does not know operation {request.operation}; deploy it"
        self.queues.reply([_reply(request, Outcome.NOT_UNDERSTOOD, lacks)])
        self._retry_later(request, deadline, self._away(request, deadline), lacks, HistoryKind.NOT_UNDERSTOOD)

    def _report(self, request: StepRequest, deadline: int, fault: Fault | None) -> None:
        """Have the Scheduler keep what the attempt met, once per attempt and before complete-by; it goes on."""
        now = self.now()
        attempt = short(request.order_id, request.step, request.attempt, request.token)
        if fault is None or now >= deadline or not self.guard.may_report(attempt, deadline, now):
            return
        if self.now() < deadline:
            with suppress(Transient):  # it is for people: nothing depends on it
                self.queues.reply([_reply(request, Outcome.FAILING, fault.text)])

    def _call(self, request: StepRequest, operation: Operation, deadline: int, *, first: bool) -> Reply | Fault:
        """One call, if the guard permits it; what it raised if it failed for now. The first logs its traceback."""
        permit = self._permit(deadline)
        if isinstance(permit, Refused):
            self.guard.report()
            spread = round(self.jitter() * self._age(request) / 10) if permit.paced else 0
            if permit.paced and first and self._is_short(request, deadline, permit.wait + spread):
                self._log(HistoryKind.RETRY_LATER, request, f"{permit.why}; it asks for more time")
                return _reply(request, Outcome.WAITING, permit.why)
            self._retry_later(request, deadline, permit.wait + spread, permit.why)
        try:
            result = operation(self._call_of(request, deadline))
            size = 0 if isinstance(result, Later) else large(encode_result(result))
        except Permanent as error:
            self.guard.succeeded(permit, self.now(), request.operation)
            return _reply(request, Outcome.PERMANENT, without(request.callback, str(error)))
        except Exception as error:  # noqa: BLE001 - an operation is the user's code: any error of it may pass
            return self._failed(request, permit, error, traced=first)
        self.guard.succeeded(permit, self.now(), request.operation)
        if isinstance(result, Later):
            return _later(request)
        return Reply(request.order_id, request.step, request.attempt, request.token, Outcome.OK, result, size=size)

    def _permit(self, deadline: int) -> Permit | Refused:
        """What the guard says, once the call's slot has come; a slot that lapsed meanwhile is replaced.

        If all slots are taken, it looks once more after a random while. Otherwise requests that went back together
        would come back together, second for second, and leave the slots between them unused.
        """
        looked = False
        while True:
            permit = self.guard.admit(self.now(), deadline)
            if isinstance(permit, Permit):
                if (wait := permit.at - self.now()) > 0:
                    self.sleep(wait / 1000)
                if permit.holds(self.now()):
                    return permit
                self.guard.give_up(permit, self.now())
            elif permit.paced and not looked:
                looked = True
                self.sleep(self.jitter() * LOOKS_WITHIN / 1000)
            else:
                return permit

    def _is_short(self, request: StepRequest, deadline: int, wait: int) -> bool:
        """Whether so little time is left that the request may expire before it gets a slot."""
        left = deadline - self.now()
        return left < max(request.budget // 2, wait + LEAST_LEFT)

    def _failed(self, request: StepRequest, permit: Permit, error: Exception, *, traced: bool) -> Fault:
        """Note whose fault it is; the traceback is logged unless the service's own trouble explains it all."""
        fault = fault_of(error, keep_text=self.keep_error_texts, token=request.callback)
        self.guard.failed(permit, self.now(), Failure(short(request.order_id), request.operation, fault))
        wanted = traced and fault.origin is not Origin.SERVICE
        trace = _trace(error, request.callback, keep_text=self.keep_error_texts) if wanted else ""
        self._log(HistoryKind.CALL_FAILED, request, fault.text, trace)
        return fault

    def _call_of(self, request: StepRequest, deadline: int) -> Call:
        return Call(
            order=request.order,
            results=request.results,
            idempotency_key=request.idempotency_key,
            fence=request.fence,
            attempt=request.attempt,
            remaining=lambda: (deadline - self.now()) / 1000,
            callback=request.callback,
        )

    def _retry_later(
        self, request: StepRequest, deadline: int, wait: int, why: str, kind: HistoryKind = HistoryKind.RETRY_LATER
    ) -> NoReturn:
        """Return the request to its queue for `wait` milliseconds, though not past complete-by."""
        wait = max(min(wait, LONGEST_ABSENCE), least_absence(self._age(request)))
        wait = min(wait, deadline - self.now())
        seconds = max(1, -(-wait // 1000))
        self._log(kind, request, f"{why}; back in {seconds} s")
        raise RetryLater(seconds, why)

    def _away(self, request: StepRequest, deadline: int) -> int:
        """How long the queue keeps a request to be tried again: longer each time, and half of what is left at most."""
        return min(absence(self._age(request), self.jitter()), (deadline - self.now()) // 2)

    def _age(self, request: StepRequest) -> int:
        """Milliseconds since the request was made."""
        return max(0, self.now() - (request.complete_by - request.budget))

    def _log(self, kind: HistoryKind, request: StepRequest, note: str, trace: str = "") -> None:
        entry = TracedEntry(self.now(), kind, request.step, request.attempt, request.agent, note, trace=trace)
        self.telemetry.record(request.order_id, entry)


def _reply(request: StepRequest, outcome: Outcome, error: str) -> Reply:
    more_after = request.complete_by if outcome is Outcome.WAITING else 0
    return Reply(
        request.order_id, request.step, request.attempt, request.token, outcome, error=error, complete_by=more_after
    )


def _later(request: StepRequest) -> Reply:
    """The work is handed over, if the service has something to answer with."""
    if request.callback:
        return _reply(request, Outcome.LATER, "")
    return _reply(request, Outcome.PERMANENT, "the operation returned Later; give its step an answer_within")


def _trace(error: Exception, token: str, *, keep_text: bool) -> str:
    """The traceback; without the messages of the exceptions, which may hold personal data, its frames alone."""
    if keep_text:
        return without(token, "".join(traceback.format_exception(error, limit=-MOST_FRAMES)))[-LONGEST_TRACE:]
    return "".join(traceback.format_tb(error.__traceback__, limit=-MOST_FRAMES))[-LONGEST_TRACE:]
