"""Remote services that misbehave by chance: honest ones fulfil docs/service-contract.md, careless ones half of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Any

from stepward.domain.errors import Permanent
from stepward.domain.key import in_idempotency_key
from stepward.domain.workflow.agents import Call, Later, Operation, Result
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
SOON = PAUSES[:4]
"""Milliseconds after which a service answers that took a step over."""


def _forged(token: str) -> str:
    """The token with another MAC."""
    return token[:-2] + ("AA" if token[-2:] != "AA" else "BB")


@dataclass(slots=True, kw_only=True)
class Remote(Services):
    """All services of a world; `down` are the agents whose service is out, `refused` the keys of what was refused."""

    gate: Gate
    down: set[str]
    refused: set[str]
    post: Callable[[str, str], object]
    times: Counter[str] = field(default_factory=Counter)

    def call(self, operation: Operation, call: Call) -> Result:
        """Call the service, and have it misbehave by chance."""
        try:
            return Services.call(self, operation, call)
        except Permanent as error:
            self.refused.add(call.idempotency_key)
            if not call.callback:
                raise
            self._answer_later(call, {"type": "step.failed", "error": str(error)})
            return Later()

    def _act(self, named: Effect, service: Service, call: Call) -> Result:
        """Have the effect; what is answered later is answered even if the call's own end never reaches the agent."""
        answer = Services._act(self, named, service, call)  # noqa: SLF001 - a class with slots has no super() here
        if isinstance(answer, Later):
            self._answer_later(call, {"type": "step.completed", "result": {"done": call.idempotency_key}})
        return answer

    def _answer_later(self, call: Call, message: Mapping[str, Any]) -> None:
        """Answer soon; perhaps late, twice, with the first token instead of this one, with a forged one, or never."""
        order_id, effect = in_idempotency_key(call.idempotency_key)
        name = f"{order_id}: answer to call {self.times[call.idempotency_key]} of {effect}"
        dice = self.gate.chances.happens(name, self.gate.profile.calls)
        whim = dice.choice(["late", "twice", "first", "forged", "never"]) if dice else ""
        tokens = {"first": self.callbacks[order_id, effect][:1], "forged": [_forged(call.callback)], "never": []}
        for token in tokens.get(whim, [call.callback] * (1 + (whim == "twice"))):
            self.gate.diary.counts[f"answers, {whim or 'as they should be'}"] += 1
            text = json.dumps({**message, "callback": token})
            wait = dice.choice(PAUSES) if dice else SOON[self.gate.chances.one_of(name, len(SOON))]
            self.gate.loop.later(wait, partial(self.post, "orders", text))

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
        return self.standing(named, call)

    def _misbehaviour(self, dice: Random, seconds: float) -> Behaviour:
        mood = Mood(self.gate.profile.pick(dice, self.gate.profile.moods))
        self.gate.diary.counts[mood] += 1
        return Behaviour(mood, f"the service {mood}", seconds, dice.choice(PAUSES) / SECOND)

    def fault(self, named: Effect, what: str) -> None:
        """I4: an operation acted twice."""
        raise Broken("I4", named[0], what)
