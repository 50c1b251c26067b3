"""Serving: an Agent calls its remote service inside complete-by, and replies only before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, cast

from stepward.app.agent.guard import Guard
from stepward.app.agent.replies import effect_of, later, reply_to, trace_of
from stepward.domain.backoff import LONGEST_ABSENCE, absence, least_absence, next_wait
from stepward.domain.coordination.blame import Failure
from stepward.domain.coordination.breaker import Permit, Refused
from stepward.domain.coordination.fault import Fault, Origin, fault_of, short, without
from stepward.domain.errors import NotUnderstood, Permanent, RetryLater, StepwardError, Transient
from stepward.domain.history import HistoryKind, TracedEntry
from stepward.domain.messages import CheckedRequest, ItemRequest, Outcome, Reply, StepRequest
from stepward.domain.workflow.agents import Call, Later, Operation, Result
from stepward.domain.workflow.plan import UNDO_SUFFIX
from stepward.ports import Queues, Telemetry
from stepward.wire.messages import decode_request, encode_result, large, unread

if TYPE_CHECKING:  # few steps have a check
    from stepward.app.agent.call_rows import CallRows, HeldRow
    from stepward.domain.workflow.agents import Asks

MOST_WAITED = 2_000
"""Milliseconds that a delivery may wait between its calls, which is billed; the queue does any longer waiting."""
LOOKS_WITHIN = 200
"""Milliseconds within which a request looks for a slot a second time before it goes back."""
LEAST_LEFT = 7_000
"""Milliseconds that a request has to have left when it comes back for a slot: two, since a queue counts in seconds, and
five, by which clocks may differ. Else its wish for more time comes too late, and counts against the order."""
ROW_AGAIN = 1_000
"""Milliseconds after which a row is tried again that cannot be read or written."""
NO_EFFECT: Mapping[str, Any] = MappingProxyType({})
"""What an agent gets from a check that finds no effect."""
NEITHER = "return None if there is no effect, else its result, which is not empty"
"""What a check has to do that has returned something else: the step stays in doubt, and the next attempt asks again."""


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
    rows: Callable[[], CallRows]
    """The rows of the calls that are asked for first; made when first needed."""
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
        if isinstance(request, CheckedRequest) and request.check and request.check not in self.operations:
            self._put_back(replace(request, operation=request.check), deadline)
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
        self.queues.reply([reply_to(request, Outcome.NOT_UNDERSTOOD, lacks)])
        self._retry_later(request, deadline, self._away(request, deadline), lacks, HistoryKind.NOT_UNDERSTOOD)

    def _report(self, request: StepRequest, deadline: int, fault: Fault | None) -> None:
        """Have the Scheduler keep what the attempt met, once per attempt and before complete-by; it goes on."""
        now = self.now()
        attempt = short(request.order_id, request.step, request.attempt, request.token)
        if fault is None or now >= deadline or not self.guard.may_report(attempt, deadline, now):
            return
        if self.now() < deadline:
            with suppress(Transient):  # it is for people: nothing depends on it
                self.queues.reply([reply_to(request, Outcome.FAILING, fault.text)])

    def _call(self, request: StepRequest, operation: Operation, deadline: int, *, first: bool) -> Reply | Fault:
        """One call, if the guard permits it; what it raised if it failed for now. The first logs its traceback."""
        permit = self._permit(deadline)
        if isinstance(permit, Refused):
            return self._refused(request, permit, deadline, untried=first)
        if isinstance(request, CheckedRequest) and request.check:
            return self._call_once(request, operation, permit, deadline, first=first)
        return self._run(request, operation, permit, deadline, traced=first)

    def _refused(self, request: StepRequest, refused: Refused, deadline: int, *, untried: bool) -> Reply:
        """Return the request, or have it ask for more time if the rate alone holds it up and it was not tried."""
        self.guard.report()
        spread = round(self.jitter() * self._age(request) / 10) if refused.others else 0
        if not (refused.others and untried and self._is_short(request, deadline, refused.wait + spread)):
            self._retry_later(request, deadline, refused.wait + spread, refused.why)
        self._log(HistoryKind.RETRY_LATER, request, f"{refused.why}; it asks for more time")
        return reply_to(request, Outcome.WAITING, refused.why)

    def _run(
        self, request: StepRequest, operation: Operation, permit: Permit, deadline: int, *, traced: bool
    ) -> Reply | Fault:
        try:
            result = operation(self._call_of(request, deadline))
            size = 0 if isinstance(result, Later) else large(encode_result(result))
        except Permanent as error:
            self.guard.succeeded(permit, self.now(), request.operation)
            return reply_to(request, Outcome.PERMANENT, without(request.callback, str(error)))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - an operation is the user's code: any error may pass
            return self._failed(request, permit, error, traced=traced)
        self.guard.succeeded(permit, self.now(), request.operation)
        if isinstance(result, Later):
            return later(request)
        return Reply(request.order_id, request.step, request.attempt, request.token, Outcome.OK, result, size=size)

    def _call_once(
        self, request: CheckedRequest, operation: Operation, permit: Permit, deadline: int, *, first: bool
    ) -> Reply | Fault:
        """Call under the row of the effect; ask before that if somebody may have called already."""
        held = self._take(request, operation, permit, deadline, first=first)
        if isinstance(held, Reply):
            return held
        if held.has_nothing:
            self.guard.give_up(permit, self.now())
            return Reply(request.order_id, request.step, request.attempt, request.token, Outcome.OK)
        if held.asks:
            asked = self._run(*self._asking(request), permit, deadline, traced=first)
            if isinstance(asked, Fault) or asked.outcome is not Outcome.OK:
                held.ended(self.now())
                return asked
            if held.claim.undoes is (asked.result is NO_EFFECT):
                return asked
            again = self._permit(deadline)
            if isinstance(again, Refused):
                held.ended(self.now(), known=True)
                return self._refused(request, again, deadline, untried=first)
            permit = again
        done = self._run(request, operation, permit, deadline, traced=first)
        if isinstance(done, Fault) or done.outcome is not Outcome.OK:
            held.ended(self.now())
        return done

    def _take(
        self, request: CheckedRequest, operation: Operation, permit: Permit, deadline: int, *, first: bool
    ) -> HeldRow | Reply:
        """The row of the effect; the request goes back if nobody may act now, or if its time is over since.

        An undo asks for more time: the call that it waits for may end after its own complete-by.
        """
        key, undoes = effect_of(request), request.step.endswith(UNDO_SUFFIX)
        settle, fresh = round(operation.agent.settle.total_seconds() * 1000), first and request.attempt == 1
        try:
            held = self.rows().take(key, deadline, self.now(), undoes=undoes, settle=settle, first=fresh)
        except StepwardError as error:
            self.guard.give_up(permit, self.now())
            self._retry_later(request, deadline, ROW_AGAIN, str(error))
        if not held.may_act or self.now() >= deadline:
            self.guard.give_up(permit, self.now())
            refused = Refused(
                held.wait or LONGEST_ABSENCE, "another call of the effect may be under way", others=undoes
            )
            return self._refused(request, refused, deadline, untried=first)
        return held

    def _asking(self, request: CheckedRequest) -> tuple[StepRequest, Operation]:
        """The request to ask for the effect, and what asks for it."""
        check = self.operations[request.check]
        asks = cast("Asks", check.run)

        def run(call: Call) -> Result:
            found = asks(call)
            if found is not None and not (isinstance(found, Mapping) and found):
                said = "{}" if found == {} else type(found).__name__
                raise TypeError(f"check {check.name} returned {said}; {NEITHER}")
            return NO_EFFECT if found is None else found

        return replace(request, operation=check.name, idempotency_key=effect_of(request)), replace(check, run=run)

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
            elif permit.others and not looked:
                looked = True
                self.sleep(self.jitter() * LOOKS_WITHIN / 1000)
            else:
                return permit

    def _is_short(self, request: StepRequest, deadline: int, wait: int) -> bool:
        """Whether so little time is left that the request may expire before it gets a slot."""
        left = deadline - self.now()
        return left < max(request.budget // 2, wait + LEAST_LEFT)

    def _failed(self, request: StepRequest, permit: Permit, error: BaseException, *, traced: bool) -> Fault:
        """Note whose fault it is; the traceback is logged unless the service's own trouble explains it all."""
        fault = fault_of(error, keep_text=self.keep_error_texts, token=request.callback)
        self.guard.failed(permit, self.now(), Failure(short(request.order_id), request.operation, fault))
        wanted = traced and fault.origin is not Origin.SERVICE
        trace = trace_of(error, request.callback, keep_text=self.keep_error_texts) if wanted else ""
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
            item=request.item if isinstance(request, ItemRequest) else None,
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
