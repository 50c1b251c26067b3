"""The remote services behind the operations: their behaviour, their calls and their effects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from stepward.domain.errors import Permanent, Transient
from stepward.domain.key import in_idempotency_key
from stepward.domain.workflow.definition import Call, Operation
from stepward.domain.workflow.plan import UNDO_SUFFIX
from stepward.testing.faults.audit import BURIED, STALE_FENCE
from stepward.testing.faults.ledger import Ledger
from stepward.testing.faults.record import Died

HANGS_PAST = 10
"""How many seconds after complete-by a service that hangs answers."""


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
    """The service behind one operation. Each method adds to its behaviour and returns the service.

    Behaviour with `times` holds for that many calls, in the order in which it was set; with None, for all calls after
    those. Each call that gets through runs the operation, unless `returns` replaces it. `calls` are those that came.
    """

    operation: Operation
    calls: list[Call] = field(default_factory=list)
    _next: list[tuple[Mood, str]] = field(default_factory=list)
    _always: tuple[Mood, str] | None = None
    _seconds: float = 0
    _answer: Answer | None = None

    def returns(self, answer: Mapping[str, Any] | Answer) -> Service:
        """Give this answer, or that of a function of the Call, once per key, instead of running the operation."""
        self._answer = answer if callable(answer) else lambda _: answer
        return self

    def takes(self, seconds: float) -> Service:
        """Take so long for each call, in virtual time; others act meanwhile."""
        self._seconds = seconds
        return self

    def fails(self, times: int | None = 1) -> Service:
        """Raise Transient before any effect. None: from now on."""
        return self._say(Mood.FAILS, "the service fails, as the test wants", times)

    def declines(self, reason: str = "declined", times: int | None = None) -> Service:
        """Raise Permanent with this reason, without any effect."""
        return self._say(Mood.DECLINES, reason, times)

    def hangs(self, times: int | None = 1) -> Service:
        """Have the effect and answer only after complete-by."""
        return self._say(Mood.HANGS, "", times)

    def loses_answer(self, times: int | None = 1) -> Service:
        """Have the effect, and break the connection before the answer arrives."""
        return self._say(Mood.BREAKS, "", times)

    def dies_before_effect(self, times: int | None = 1) -> Service:
        """Have the agent's process die during the call, before the effect."""
        return self._say(Mood.DIES_BEFORE, "", times)

    def dies_after_effect(self, times: int | None = 1) -> Service:
        """Have the agent's process die after the effect, before it gets the answer."""
        return self._say(Mood.DIES_AFTER, "", times)

    def works(self) -> Service:
        """End all misbehaviour: from now on each call works."""
        self._next, self._always, self._seconds = [], None, 0
        return self

    def behaves(self, mood: Mood, times: int | None = 1) -> Service:
        """Misbehave in this way."""
        return self._say(mood, f"the service {mood}, as the test wants", times)

    def _say(self, mood: Mood, why: str, times: int | None) -> Service:
        if times is None:
            self._always = (mood, why)
        else:
            self._next += [(mood, why)] * times
        return self

    def behaviour(self) -> tuple[Mood | None, str, float]:
        """The behaviour of the call that begins now: the mood, its reason, and the seconds that it takes."""
        mood, why = self._next.pop(0) if self._next else self._always or (None, "")
        return mood, why, self._seconds

    def answer(self, call: Call) -> Mapping[str, Any]:
        """The answer of the operation, or of what replaces it."""
        return self._answer(call) if self._answer else self.operation.run(call)

    @property
    def may_wait(self) -> bool:
        """Whether a call may take time, including its retries."""
        return bool(self._next or self._always or self._seconds)

    @property
    def is_replaced(self) -> bool:
        """Whether `returns` replaces the operation."""
        return self._answer is not None


@dataclass(slots=True)
class Services:
    """All services of an application. Each refuses a stale fence, and an effect whose undo came first.

    `calls` names each call by its effect, `log` holds the effects that took place, as (order, effect), and `faults`
    what operations did wrong. `wait` lets seconds pass, `now` is the time, and `called` is called before each call.
    """

    wait: Callable[[float], None]
    now: Callable[[], int]
    note: Callable[[str, str], None]
    called: Callable[[str, str, Call], object] = lambda *_: None
    ledger: Ledger = field(default_factory=Ledger)
    calls: list[str] = field(default_factory=list)
    log: list[tuple[str, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    fences: dict[str, int] = field(default_factory=dict)
    answers: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    by_operation: dict[tuple[str, str], Service] = field(default_factory=dict)

    def of(self, operation: Operation) -> Service:
        """The service behind an operation."""
        return self.by_operation.setdefault((operation.agent.name, operation.name), Service(operation))

    def call(self, operation: Operation, call: Call) -> Mapping[str, Any]:
        """Call the service, and have it misbehave as it was told."""
        order_id, effect = in_idempotency_key(call.idempotency_key)
        service = self.of(operation)
        service.calls.append(call)
        self.called(order_id, effect, call)
        self.calls.append(effect)
        mood, why, seconds = service.behaviour()
        note = f"the service of {effect} is called: attempt {call.attempt}"
        self.note(order_id, f"{note}; it {mood}" if mood else note)
        self.wait(seconds)
        self._before(mood, why, call)
        answer = self._act(order_id, effect, service, call)
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

    def _act(self, order_id: str, effect: str, service: Service, call: Call) -> Mapping[str, Any]:
        key, undoes = call.idempotency_key, effect.endswith(UNDO_SUFFIX)
        ledger_key = (order_id, effect.removesuffix(UNDO_SUFFIX))
        if call.fence < self.fences.get(key, 0):
            raise Permanent(STALE_FENCE)
        self.fences[key] = call.fence
        if not undoes and ledger_key in self.ledger.buried:
            raise Permanent(BURIED)
        answer = self.answers[key] if service.is_replaced and key in self.answers else service.answer(call)
        self._compare(effect, key, answer)
        happens = ledger_key in self.ledger.remaining if undoes else ledger_key not in self.ledger.done
        if undoes:
            self.ledger.undo(ledger_key, self.now())
        elif happens:
            self.ledger.do(ledger_key, self.now())
        if happens:
            self.log.append((order_id, effect))
            self.note(order_id, f"the service has done {effect}")
        return answer

    def _compare(self, effect: str, key: str, answer: Mapping[str, Any]) -> None:
        """Note a second, different answer under one key: the operation has not given the key to its service."""
        first = self.answers.setdefault(key, answer)
        if dict(first) != dict(answer):
            self.faults.append(
                f"{effect} answered {dict(first)} and then {dict(answer)} under one idempotency key: "
                "pass call.idempotency_key on to the service"
            )
