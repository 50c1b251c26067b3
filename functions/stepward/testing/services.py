"""The remote services behind the operations: their behaviour, their calls and their effects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

from stepward.domain.errors import Permanent, Transient
from stepward.domain.key import in_idempotency_key
from stepward.domain.workflow.agents import Agent, Call, Operation, Result
from stepward.domain.workflow.effects import Item
from stepward.domain.workflow.plan import UNDO_SUFFIX, PlannedStep
from stepward.testing.faults.audit import BURIED, STALE_FENCE
from stepward.testing.faults.ledger import Effect, Ledger
from stepward.testing.faults.profile import Mood
from stepward.testing.faults.record import Died

HANGS_PAST = 10
"""How many seconds after complete-by a service that is late acts or answers."""


Answer = Callable[[Call], Result]
Do = Callable[[], Result]


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What one call of a service does: the mood, its reason, the seconds that it takes; `late` is by how many more."""

    mood: Mood | None = None
    why: str = ""
    seconds: float = 0
    late: float | None = None


@dataclass(slots=True)
class Service:
    """The service behind one operation. Each method adds to its behaviour and returns the service.

    Behaviour with `times` holds for that many calls, in the order in which it was set; with None, for all calls after
    those. Each call that gets through runs the operation, unless `returns` or `finds` replaces it. `calls` has all.
    """

    operation: Operation
    calls: list[Call] = field(default_factory=list)
    is_honest: bool = False
    _next: list[tuple[Mood, str]] = field(default_factory=list)
    _always: tuple[Mood, str] | None = None
    _seconds: float = 0
    _answer: Answer | None = None

    def returns(self, answer: Result | Answer) -> Service:
        """Give this answer, or that of a function of the Call, once per key, instead of running the operation."""
        self._answer = answer if callable(answer) else lambda _: answer
        return self

    def finds(self) -> Service:
        """As a check, find the effect that stands, with the answer that its call got, instead of running the check."""
        self.is_honest = True
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

    def behaviour(self) -> Behaviour:
        """The behaviour of the call that begins now."""
        mood, why = self._next.pop(0) if self._next else self._always or (None, "")
        return Behaviour(mood, why, self._seconds)

    def answer(self, call: Call) -> Result:
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


@dataclass(slots=True, repr=False)
class Services:
    """All services of an application. Each refuses a stale fence, and an effect whose undo came first.

    A careless one (not `honest`) does neither: when a call comes late, it does what was undone already. That of a step
    with a check, which `checked` has, honours no keys. `calls` names each call by its effect, with a `?` if it only
    asks; `log` holds the effects that took place, as (order, effect), and `faults` what was done wrong. `wait` lets
    seconds pass, `later` acts after so many, `now` is the time; `called` is called before each call.
    """

    wait: Callable[[float], None]
    now: Callable[[], int]
    note: Callable[[str, str], None]
    called: Callable[[str, str, Call, Agent], object] = lambda *_: None
    ledger: Ledger = field(default_factory=Ledger)
    later: Callable[[float, Callable[[], object]], object] = lambda *_: None
    honest: bool = True
    calls: list[str] = field(default_factory=list)
    log: list[Effect] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    fences: dict[str, int] = field(default_factory=dict)
    answers: dict[str, Result] = field(default_factory=dict)
    callbacks: dict[Effect, list[str]] = field(default_factory=dict)
    """The tokens that each effect's calls had, oldest first."""
    by_operation: dict[tuple[str, str], Service] = field(default_factory=dict)
    checked: Sequence[PlannedStep] = ()

    def of(self, operation: Operation) -> Service:
        """The service behind an operation."""
        return self.by_operation.setdefault((operation.agent.name, operation.name), Service(operation))

    def call(self, operation: Operation, call: Call) -> Result:
        """Call the service, and have it misbehave as it was told."""
        order_id, effect = in_idempotency_key(call.idempotency_key)
        service = self.of(operation)
        service.calls.append(call)
        asks = self.asks(operation)
        self.called(order_id, "" if asks else effect, call, operation.agent)
        self.calls.append(f"{effect}?" if asks else effect)
        if call.callback:
            self.callbacks.setdefault((order_id, effect), []).append(call.callback)
        behaviour = self.behaviour_of(service, order_id, effect, call)
        note = f"the service of {effect} is {'asked' if asks else 'called'}: attempt {call.attempt}"
        self.note(order_id, f"{note}; it {behaviour.mood}" if behaviour.mood else note)
        self.wait(behaviour.seconds)
        late = max(0, call.remaining()) + HANGS_PAST if behaviour.late is None else behaviour.late
        act = self.found if asks else self._act_once if self.is_keyless(effect) else self._act
        return self._misbehave(behaviour, late, partial(act, (order_id, effect), service, call))

    def asks(self, operation: Operation) -> bool:
        """Whether the operation is a check."""
        return any((step.agent, step.check) == (operation.agent.name, operation.name) for step in self.checked)

    def is_keyless(self, effect: str) -> bool:
        """Whether the service of this effect, or of its undo, honours no keys; that of a fallback does."""
        own = effect.removesuffix(UNDO_SUFFIX)
        item = Item.read(own)
        return "/" not in own and any(step.name == str(replace(item, at=min(item.at, 0))) for step in self.checked)

    def found(self, named: Effect, service: Service, call: Call) -> Result:
        """What a check finds."""
        return self.standing(named, call) if service.is_honest else service.answer(call)

    def standing(self, named: Effect, call: Call) -> Result:
        """The answer that the effect's call got, though never `{}`; None if no effect stands."""
        if named not in self.ledger.remaining:
            return cast("Result", None)
        return self.answers[call.idempotency_key] or {"found": named[1]}

    def _act_once(self, named: Effect, service: Service, call: Call) -> Result:
        """Have the effect, or undo it, however often it is called; a call that has run out of time has none."""
        order_id, effect = named
        undoes, slot = effect.endswith(UNDO_SUFFIX), (order_id, effect.removesuffix(UNDO_SUFFIX))
        if call.remaining() < 0:
            raise Transient("its caller has gone")
        if undoes is not (slot in self.ledger.remaining):
            self.fault(named, f"{effect} was called twice, of a service without keys")
        answer = self.answers[call.idempotency_key] = service.answer(call)
        (self.ledger.undo if undoes else self.ledger.do)(slot, self.now())
        self.log.append(named)
        self.note(order_id, f"the service has done {effect}")
        return answer

    def behaviour_of(self, service: Service, order_id: str, effect: str, call: Call) -> Behaviour:  # noqa: ARG002
        """The behaviour of the call that begins now."""
        return service.behaviour()

    def _misbehave(self, behaviour: Behaviour, late: float, do: Do) -> Result:
        match behaviour.mood:
            case Mood.FAILS:
                raise Transient(behaviour.why)
            case Mood.DECLINES:
                raise Permanent(behaviour.why)
            case Mood.DIES_BEFORE:
                raise Died
            case Mood.EXECUTES_LATE:
                self.later(late, do)
                raise Transient(behaviour.why)
            case Mood.HANGS:
                self.wait(late)
                return do()
            case _:
                return self._misbehave_after(behaviour, late, do)

    def _misbehave_after(self, behaviour: Behaviour, late: float, do: Do) -> Result:
        answer = do()
        match behaviour.mood:
            case Mood.BREAKS:
                raise ConnectionError("connection reset, as the test wants")
            case Mood.DIES_AFTER:
                raise Died
            case Mood.EXECUTES_TWICE:
                self.later(late, do)
            case Mood.ANSWERS_LATE:
                self.wait(late)
            case _:
                pass
        return answer

    def _act(self, named: Effect, service: Service, call: Call) -> Result:
        (order_id, effect), key = named, call.idempotency_key
        undoes, slot = effect.endswith(UNDO_SUFFIX), (order_id, effect.removesuffix(UNDO_SUFFIX))
        if self.honest and call.fence < self.fences.get(key, 0):
            raise Permanent(STALE_FENCE)
        self.fences[key] = call.fence
        if self.honest and not undoes and slot in self.ledger.buried:
            raise Permanent(BURIED)
        happens = slot in self.ledger.remaining if undoes else key not in self.answers
        answer = self.answers[key] if service.is_replaced and key in self.answers else service.answer(call)
        self._compare(named, key, answer)
        if undoes:
            self.ledger.undo(slot, self.now())
            if not self.honest:
                self.answers.pop(key.removesuffix(UNDO_SUFFIX), None)
        elif happens:
            self.ledger.do(slot, self.now())
        if happens:
            self.log.append(named)
            self.note(order_id, f"the service has done {effect}")
        return answer

    def _compare(self, named: Effect, key: str, answer: Result) -> None:
        """Note a second, different answer under one key: the operation has not given the key to its service."""
        first = self.answers.setdefault(key, answer)
        if first != answer:
            self.fault(
                named,
                f"{named[1]} answered {first} and then {answer} under one idempotency key: "
                "pass call.idempotency_key on to the service",
            )

    def fault(self, named: Effect, what: str) -> None:  # noqa: ARG002 - others say whose fault it is
        """Note what an operation did wrong."""
        self.faults.append(what)
