"""Remote services and their ledger: honest ones fulfil docs/service-contract.md, careless ones half of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from stepward.domain.errors import Permanent
from stepward.domain.workflow.definition import Call
from stepward.domain.workflow.plan import UNDO_SUFFIX
from stepward.testing.faults.audit import BURIED, STALE_FENCE
from stepward.testing.faults.broken import Broken
from stepward.testing.faults.ledger import Effect, Ledger
from stepward.testing.faults.record import Died
from stepward.testing.seeded.gate import Gate
from stepward.testing.seeded.judge import Judge
from stepward.testing.seeded.profile import PAUSES
from stepward.testing.services import Mood

Perform = Callable[[str, str, Call], Mapping[str, Any]]
Do = Callable[[], Mapping[str, Any]]
QUICKEST, SLOWEST = 20, 400
"""Milliseconds of an ordinary call, in which others act."""


@dataclass(slots=True)
class Remote:
    """All services of a world; `down` are the agents whose service is out.

    A careless service does each thing once per key, but has neither fences nor tombstones: when a call comes late, it
    does what was undone already. `perform` gets the agent, the operation and the call, and returns the answer.
    """

    gate: Gate
    judge: Judge
    ledger: Ledger
    perform: Perform
    down: set[str] = field(default_factory=set)
    fences: dict[str, int] = field(default_factory=dict)
    answers: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    times: Counter[str] = field(default_factory=Counter)

    def call(self, agent: str, operation: str, call: Call) -> Mapping[str, Any]:
        """Do it, or undo it."""
        order_id = str(call.order["orderId"])
        effect = call.idempotency_key.removeprefix(f"{order_id}/")
        self.judge.called(order_id, effect, call)
        self.times[call.idempotency_key] += 1
        self.gate.diary.counts["service calls"] += 1
        name = f"{order_id}: call {self.times[call.idempotency_key]} of {effect}"
        self.gate.wait(QUICKEST + self.gate.chances.one_of(name, SLOWEST))
        do = partial(self._do, (order_id, effect), call, partial(self.perform, agent, operation, call))
        if agent in self.down:
            raise OSError("the service is down")
        happens = self._mood(name)
        if happens is None:
            return do()
        mood, dice = happens
        self.gate.diary.counts[mood] += 1
        self.gate.diary.note(order_id, f"the service of {effect} {mood} (attempt {call.attempt})")
        return self._misbehave(mood, dice, do)

    def _mood(self, name: str) -> tuple[Mood, Random] | None:
        """What goes wrong with the call of this name, and the dice for how, if anything does."""
        dice = self.gate.chances.happens(name, self.gate.profile.calls)
        return (Mood(self.gate.profile.pick(dice, self.gate.profile.moods)), dice) if dice else None

    def _hang(self, dice: Random) -> None:
        self.gate.wait(dice.choice(PAUSES))

    def _misbehave(self, mood: Mood, dice: Random, do: Do) -> Mapping[str, Any]:
        match mood:
            case Mood.FAILS:
                raise OSError("connection refused")
            case Mood.DECLINES:
                raise Permanent("declined")
            case Mood.DIES_BEFORE:
                raise Died
            case Mood.EXECUTES_LATE:
                self._do_later(dice, do)
                raise OSError("timed out")
            case Mood.HANGS:
                self._hang(dice)
                return do()
            case _:
                return self._misbehave_after(mood, dice, do)

    def _misbehave_after(self, mood: Mood, dice: Random, do: Do) -> Mapping[str, Any]:
        answer = do()
        match mood:
            case Mood.BREAKS:
                raise OSError("connection reset")
            case Mood.DIES_AFTER:
                raise Died
            case Mood.EXECUTES_TWICE:
                self._do_later(dice, do)
            case _:
                self.gate.wait(dice.choice(PAUSES))
        return answer

    def _do_later(self, dice: Random, do: Do) -> None:
        def act() -> None:
            with suppress(Exception):
                do()

        self.gate.loop.later(dice.choice(PAUSES), act)

    def _do(self, effect: Effect, call: Call, perform: Do) -> Mapping[str, Any]:
        key = call.idempotency_key
        honest = self.gate.profile.honest
        if honest and call.fence < self.fences.get(key, 0):
            raise Permanent(STALE_FENCE)
        self.fences[key] = call.fence
        order_id, name = effect
        if name.endswith(UNDO_SUFFIX):
            answer = perform()
            forward = (order_id, name.removesuffix(UNDO_SUFFIX))
            self.ledger.undo(forward, self.gate.loop.now)
            self.gate.diary.note(order_id, f"the service has undone {forward[1]}")
            if not honest:
                self.answers.pop(f"{order_id}/{forward[1]}", None)
            return answer
        if honest and effect in self.ledger.buried:
            raise Permanent(BURIED)
        answer = perform()
        if dict(self.answers.get(key, answer)) != dict(answer):
            raise Broken("I4", order_id, f"{name} answered {self.answers[key]}, then {answer}, under one key")
        if key not in self.answers:
            self.answers[key] = answer
            self.ledger.do(effect, self.gate.loop.now)
            self.gate.diary.note(order_id, f"the service has done {name}")
        return self.answers[key]
