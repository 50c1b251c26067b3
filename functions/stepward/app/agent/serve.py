"""Serving: an Agent calls its remote service inside complete-by, and replies only before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from stepward.app.agent.guard import Guard
from stepward.domain.coordination.breaker import Refused
from stepward.domain.errors import Permanent, RetryLater
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.messages import Outcome, Reply, StepRequest
from stepward.domain.task.backoff import LONGEST_ABSENCE, absence, least_absence, next_wait
from stepward.domain.workflow.definition import Call, Operation
from stepward.ports import Queues, Telemetry
from stepward.wire.messages import decode_request, encode_result

MOST_WAITED = 2_000
"""Milliseconds that a delivery may wait between its calls, which is billed; the queue does any longer waiting."""


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

    def handle(self, text: str) -> None:
        """Run the attempt that `text` asks for.

        Raises Rejected, NotUnderstood, RetryLater if the request has to wait for its service or for newer code, or
        Transient if the reply could not be sent. Past complete-by there is no reply, no error and no recovery: another
        instance may hold the step.
        """
        request = decode_request(text)
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

    def _attempt(self, request: StepRequest, deadline: int) -> Reply | None:
        """Call the operation until it succeeds or is refused; None if the time is used up."""
        operation = self.operations.get(request.operation)
        if operation is None:
            self._put_back(request, deadline)
        tries, waited = 0, 0
        while (reply := self._call(request, operation, deadline)) is None:
            wait = next_wait(tries, self.jitter())
            if self.now() + wait >= deadline:
                return None
            if waited + wait > MOST_WAITED:
                away = min(absence(self._age(request), self.jitter()), (deadline - self.now()) // 2)
                self._retry_later(request, deadline, away, "the service failed")
            self.sleep(wait / 1000)
            tries, waited = tries + 1, waited + wait
        return reply

    def _put_back(self, request: StepRequest, deadline: int) -> NoReturn:
        """Tell the Scheduler that only newer code knows the operation: nobody has tried the attempt.

        The request comes back, in case the agent is updated before complete-by. The breaker hears nothing.
        """
        lacks = f"agent {request.agent} does not know operation {request.operation}; deploy it"
        self.queues.reply([_reply(request, Outcome.NOT_UNDERSTOOD, lacks)])
        away = min(absence(self._age(request), self.jitter()), (deadline - self.now()) // 2)
        self._retry_later(request, deadline, away, lacks, HistoryKind.NOT_UNDERSTOOD)

    def _call(self, request: StepRequest, operation: Operation, deadline: int) -> Reply | None:
        """One call, if the guard permits it; None if it failed for now."""
        permit = self.guard.admit(self.now(), deadline)
        if isinstance(permit, Refused):
            self.guard.report()
            self._retry_later(request, deadline, permit.wait, permit.why)
        try:
            result = operation(self._call_of(request, deadline))
            encode_result(result)
        except Permanent as error:
            self.guard.succeeded(permit, self.now())
            return _reply(request, Outcome.PERMANENT, str(error))
        except Exception as error:  # noqa: BLE001 - an operation is the user's code: any error of it may pass
            self.guard.failed(permit, self.now())
            self._log(HistoryKind.CALL_FAILED, request, type(error).__name__)
            return None
        self.guard.succeeded(permit, self.now())
        return Reply(request.order_id, request.step, request.attempt, request.token, Outcome.OK, result)

    def _call_of(self, request: StepRequest, deadline: int) -> Call:
        return Call(
            order=request.order,
            results=request.results,
            idempotency_key=request.idempotency_key,
            fence=request.fence,
            attempt=request.attempt,
            remaining=lambda: (deadline - self.now()) / 1000,
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

    def _age(self, request: StepRequest) -> int:
        """Milliseconds since the request was made."""
        return max(0, self.now() - (request.complete_by - request.budget))

    def _log(self, kind: HistoryKind, request: StepRequest, note: str) -> None:
        entry = HistoryEntry(self.now(), kind, request.step, request.attempt, request.agent, note)
        self.telemetry.record(request.order_id, entry)


def _reply(request: StepRequest, outcome: Outcome, error: str) -> Reply:
    return Reply(request.order_id, request.step, request.attempt, request.token, outcome, error=error)
