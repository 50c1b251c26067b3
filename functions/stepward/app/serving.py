"""Serving: an Agent calls its remote service inside complete-by, and answers only before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stepward.domain.errors import Permanent
from stepward.domain.facts import Fact, FactKind
from stepward.domain.messages import Outcome, Reply, StepRequest
from stepward.domain.retrying import next_wait
from stepward.domain.workflow import Call, Operation
from stepward.ports import Queues, Telemetry
from stepward.wire.messages import decode_request, encode_result


@dataclass(frozen=True, slots=True)
class Serve:
    """Serves the requests of one agent; `sleep` takes seconds, `jitter` gives a number from 0 to 1."""

    operations: Mapping[str, Operation]
    queues: Queues
    telemetry: Telemetry
    now: Callable[[], int]
    sleep: Callable[[float], None]
    jitter: Callable[[], float]

    def handle(self, text: str) -> None:
        """Run the attempt that `text` asks for; raises Rejected, or Transient if the answer could not be sent.

        Past complete-by there is no reply, no error and no recovery: another instance may own the step.
        """
        request = decode_request(text)
        deadline = min(request.complete_by, self.now() + request.budget)
        if self.now() >= deadline:
            self._tell(FactKind.EXPIRED, request, "it waited in the queue past complete-by")
            return
        reply = self._attempt(request, deadline)
        if reply is None or self.now() >= deadline:
            self._tell(FactKind.SILENT, request, "complete-by has passed")
            return
        self.queues.reply([reply])

    def _attempt(self, request: StepRequest, deadline: int) -> Reply | None:
        """Call the operation until it ends, for good or bad; None if the time is used up."""
        call = Call(
            order=request.order,
            results=request.results,
            idempotency_key=request.idempotency_key,
            fence=request.fence,
            attempt=request.attempt,
            remaining=lambda: (deadline - self.now()) / 1000,
        )
        tries = 0
        while True:
            if (reply := self._call(request, call)) is not None:
                return reply
            wait = next_wait(tries, self.jitter())
            if self.now() + wait >= deadline:
                return None
            self.sleep(wait / 1000)
            tries += 1

    def _call(self, request: StepRequest, call: Call) -> Reply | None:
        """One call; None if it failed in a way that may pass."""
        operation = self.operations.get(request.operation)
        if operation is None:
            return _refusal(request, f"agent {request.agent} has no operation {request.operation!r}; deploy it")
        try:
            result = operation(call)
            encode_result(result)
        except Permanent as error:
            return _refusal(request, str(error))
        except Exception as error:  # noqa: BLE001 - an operation is the user's code: whatever it raises may pass
            self._tell(FactKind.CALL_FAILED, request, type(error).__name__)
            return None
        return Reply(request.order_id, request.step, request.attempt, request.token, Outcome.OK, result)

    def _tell(self, kind: FactKind, request: StepRequest, note: str) -> None:
        fact = Fact(self.now(), kind, request.step, request.attempt, request.agent, note)
        self.telemetry.record(request.order_id, fact)


def _refusal(request: StepRequest, error: str) -> Reply:
    return Reply(request.order_id, request.step, request.attempt, request.token, Outcome.PERMANENT, error=error)
