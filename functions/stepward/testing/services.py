"""The remote services behind the operations: how they behave, and what they did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from stepward.domain.errors import Permanent, Transient
from stepward.domain.workflow.definition import Call, Operation
from stepward.domain.workflow.plan import UNDO_SUFFIX
from stepward.testing.faults.audit import BURIED, STALE_FENCE
from stepward.testing.faults.record import Died
from stepward.testing.seeded.ledger import Ledger

HANGS_PAST = 10
"""Seconds past complete-by at which a service that hangs answers at last."""


class Mood(StrEnum):
    """What can go wrong around one call of a remote service."""

    FAILS = "refuses the connection"
    DECLINES = "declines"
    BREAKS = "answers with a broken connection, after the effect,"
    DIES_BEFORE = "sees its caller die before the effect"
    DIES_AFTER = "sees its caller die after the effect"
    HANGS = "hangs"
    ANSWERS_LATE = "answers late"
    EXECUTES_LATE = "times out, and executes later,"
    EXECUTES_TWICE = "executes twice"


Answer = Callable[[Call], Mapping[str, Any]]


@dataclass(slots=True)
class Service:
    """How the service behind one operation behaves; each method says more and returns the service.

    What is said with `times` holds for so many calls, in the order in which it was said, and then no more; without,
    for all calls after those. The operation itself runs in each call that gets through, unless `returns` stands in.
    `calls` are those that reached it.
    """

    operation: Operation
    calls: list[Call] = field(default_factory=list)
    _next: list[tuple[Mood, str]] = field(default_factory=list)
    _always: tuple[Mood, str] | None = None
    _seconds: float = 0
    _answer: Answer | None = None

    def returns(self, answer: Mapping[str, Any] | Answer) -> Service:
        """Answer this, or what this function makes of the Call, instead of running the operation; once per key."""
        self._answer = answer if callable(answer) else lambda _: answer
        return self

    def takes(self, seconds: float) -> Service:
        """Each call takes so long, in virtual time; others act meanwhile."""
        self._seconds = seconds
        return self

    def fails(self, times: int | None = 1) -> Service:
        """Fail in a way that may pass, before any effect: the operation raises Transient. None: from now on."""
        return self._say(Mood.FAILS, "the service fails, as the test wants", times)

    def declines(self, reason: str = "declined", times: int | None = None) -> Service:
        """Refuse for good, without any effect: the operation raises Permanent with this reason."""
        return self._say(Mood.DECLINES, reason, times)

    def hangs(self, times: int | None = 1) -> Service:
        """Answer only when complete-by has passed; the effect happens then."""
        return self._say(Mood.HANGS, "", times)

    def loses_answer(self, times: int | None = 1) -> Service:
        """Have the effect, but the connection breaks before the answer is there."""
        return self._say(Mood.BREAKS, "", times)

    def dies_before_effect(self, times: int | None = 1) -> Service:
        """The agent's process dies during the call, before the effect."""
        return self._say(Mood.DIES_BEFORE, "", times)

    def dies_after_effect(self, times: int | None = 1) -> Service:
        """The agent's process dies after the effect, before it knows the answer."""
        return self._say(Mood.DIES_AFTER, "", times)

    def works(self) -> Service:
        """Forget all misbehaviour: from now on each call works."""
        self._next, self._always, self._seconds = [], None, 0
        return self

    def behaves(self, mood: Mood, times: int | None = 1) -> Service:
        """The same by the mood's name."""
        return self._say(mood, f"the service {mood}, as the test wants", times)

    def _say(self, mood: Mood, why: str, times: int | None) -> Service:
        if times is None:
            self._always = (mood, why)
        else:
            self._next += [(mood, why)] * times
        return self

    def behaviour(self) -> tuple[Mood | None, str, float]:
        """How the call that begins now goes: the mood, its reason, and the seconds that it takes."""
        mood, why = self._next.pop(0) if self._next else self._always or (None, "")
        return mood, why, self._seconds

    def answer(self, call: Call) -> Mapping[str, Any]:
        """What the operation, or what stands in for it, makes of the call."""
        return self._answer(call) if self._answer else self.operation.run(call)

    @property
    def may_wait(self) -> bool:
        """Whether a call may take time, be it that it is repeated."""
        return bool(self._next or self._always or self._seconds)

    @property
    def is_played(self) -> bool:
        """Whether something stands in for the operation."""
        return self._answer is not None


@dataclass(slots=True)
class Services:
    """All services of an application; each refuses stale fences and what was undone, as an honest one does.

    `log` holds the effects, as (order, step), in the order in which they took place; `faults` what an operation did
    that its service could not forgive. `wait` lets seconds pass, `now` is the time, and `called` hears of each call.
    """

    wait: Callable[[float], None]
    now: Callable[[], int]
    note: Callable[[str, str], None]
    called: Callable[[str, str, Call], object] = lambda *_: None
    ledger: Ledger = field(default_factory=Ledger)
    slots: list[str] = field(default_factory=list)
    log: list[tuple[str, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    fences: dict[str, int] = field(default_factory=dict)
    answers: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    by_operation: dict[tuple[str, str], Service] = field(default_factory=dict)

    def of(self, operation: Operation) -> Service:
        """The service behind an operation."""
        return self.by_operation.setdefault((operation.agent.name, operation.name), Service(operation))

    def call(self, operation: Operation, call: Call) -> Mapping[str, Any]:
        """Call the service, with all that befalls the call."""
        order_id, slot = key_parts(call)
        service = self.of(operation)
        service.calls.append(call)
        self.called(order_id, slot, call)
        self.slots.append(slot)
        mood, why, seconds = service.behaviour()
        self.note(order_id, f"the service of {slot} is called: attempt {call.attempt}" + (f"; it {mood}" * bool(mood)))
        self.wait(seconds)
        self._before(mood, why, call)
        answer = self._effect(order_id, slot, service, call)
        if mood is Mood.BREAKS:
            raise ConnectionError("connection reset, as the test wants")
        if mood is Mood.DIES_AFTER:
            raise Died
        return answer

    def _before(self, mood: Mood | None, why: str, call: Call) -> None:
        match mood:
            case Mood.FAILS:
                raise Transient(why)
            case Mood.DECLINES:
                raise Permanent(why)
            case Mood.DIES_BEFORE:
                raise Died
            case Mood.HANGS:
                self.wait(max(0, call.remaining()) + HANGS_PAST)
            case _:
                pass

    def _effect(self, order_id: str, slot: str, service: Service, call: Call) -> Mapping[str, Any]:
        key, effect = call.idempotency_key, (order_id, slot.removesuffix(UNDO_SUFFIX))
        if call.fence < self.fences.get(key, 0):
            raise Permanent(STALE_FENCE)
        self.fences[key] = call.fence
        undoes = slot.endswith(UNDO_SUFFIX)
        if not undoes and effect in self.ledger.buried:
            raise Permanent(BURIED)
        answer = self.answers[key] if service.is_played and key in self.answers else service.answer(call)
        self._compare(slot, key, answer)
        self._keep(effect, slot, undoes=undoes)
        return answer

    def _keep(self, effect: tuple[str, str], slot: str, *, undoes: bool) -> None:
        happens = effect in self.ledger.remaining if undoes else effect not in self.ledger.done
        if undoes:
            self.ledger.undo(effect, self.now())
        elif happens:
            self.ledger.do(effect, self.now())
        if happens:
            self.log.append((effect[0], slot))
            self.note(effect[0], f"the service has done {slot}")

    def _compare(self, slot: str, key: str, answer: Mapping[str, Any]) -> None:
        """One key, one answer: an operation that answers otherwise has not told its service the key."""
        first = self.answers.setdefault(key, answer)
        if dict(first) != dict(answer):
            self.faults.append(
                f"{slot} answered {dict(first)} and then {dict(answer)} under one idempotency key: "
                "pass call.idempotency_key on to the service"
            )


def key_parts(call: Call) -> tuple[str, str]:
    """The order of a call, and its slot: the idempotency key without the order."""
    order_id = str(call.order["orderId"])
    return order_id, call.idempotency_key.removeprefix(f"{order_id}/")
