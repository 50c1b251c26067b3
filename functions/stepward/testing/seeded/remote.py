"""Remote services that misbehave by chance: honest ones fulfil docs/service-contract.md, careless ones half of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random
from typing import cast

from stepward.domain.errors import Permanent
from stepward.domain.workflow.agents import Call, Operation, Result
from stepward.testing.faults.broken import Broken
from stepward.testing.faults.gate import Gate
from stepward.testing.faults.ledger import Effect
from stepward.testing.faults.loop import SECOND
from stepward.testing.faults.profile import PAUSES, Mood
from stepward.testing.services import Behaviour, Service, Services

QUICKEST, SLOWEST = 20, 400
"""Milliseconds of an ordinary call, in which others act."""
UNCERTAIN = frozenset({Mood.HANGS, Mood.EXECUTES_LATE, Mood.EXECUTES_TWICE})
"""What no check can see in time: docs/service-contract.md asks a service without keys not to do it."""


@dataclass(slots=True, kw_only=True)
class Remote(Services):
    """All services of a world; `down` are the agents whose service is out, `refused` the keys of what was refused."""

    gate: Gate
    down: set[str]
    refused: set[str]
    times: Counter[str] = field(default_factory=Counter)

    def call(self, operation: Operation, call: Call) -> Result:
        """Call the service, and have it misbehave by chance."""
        try:
            return Services.call(self, operation, call)
        except Permanent:
            self.refused.add(call.idempotency_key)
            raise

    def behaviour_of(self, service: Service, order_id: str, effect: str, call: Call) -> Behaviour:
        """What the dice say, unless the service is out."""
        self.times[call.idempotency_key] += 1
        self.gate.diary.counts["service calls"] += 1
        name = f"{order_id}: call {self.times[call.idempotency_key]} of {effect}"
        seconds = (QUICKEST + self.gate.chances.one_of(name, SLOWEST)) / SECOND
        if service.operation.agent.name in self.down:
            return Behaviour(Mood.FAILS, "the service is down", seconds)
        dice = self.gate.chances.happens(name, self.gate.profile.calls)
        found = self._misbehaviour(dice, seconds) if dice else Behaviour(seconds=seconds)
        asks = self.asks(service.operation)
        if found.mood in UNCERTAIN and (asks or self.is_keyless(effect)):
            return replace(found, mood=Mood.BREAKS)
        return replace(found, mood=Mood.FAILS) if asks and found.mood is Mood.DECLINES else found

    def found(self, named: Effect, service: Service, call: Call) -> Result:  # noqa: ARG002 - the ledger knows
        """What a check finds: None if no effect stands."""
        found = self.answers[call.idempotency_key] if named in self.ledger.remaining else None
        return cast("Result", found)

    def _misbehaviour(self, dice: Random, seconds: float) -> Behaviour:
        mood = Mood(self.gate.profile.pick(dice, self.gate.profile.moods))
        self.gate.diary.counts[mood] += 1
        return Behaviour(mood, f"the service {mood}", seconds, dice.choice(PAUSES) / SECOND)

    def fault(self, named: Effect, what: str) -> None:
        """I4: an operation acted twice."""
        raise Broken("I4", named[0], what)
