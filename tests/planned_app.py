"""An application made of a plan: each operation that the plan asks for, by its name."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from stepward.domain.key import ANY, SUBMITTED, Keys
from stepward.domain.workflow.agents import Agent, Call, Later, Operation
from stepward.domain.workflow.plan import Plan
from stepward.wire.order import OrderMessage
from stepward.wire.order_event import EventMessage, Source


def works(call: Call) -> Mapping[str, Any] | Later:
    """The same answer for the same key; one that may come later comes later."""
    if call.callback:
        return Later()
    return {"done": call.idempotency_key}


@dataclass
class PlannedApp:
    """What the engine has to know of an application; `known` holds its operations by agent and name."""

    frozen: Plan
    order: type[OrderMessage] | None = None
    event: type[EventMessage] | None = None
    sources: Sequence[Source] = ()
    keys: Keys = ANY
    rate: float = 0
    known: dict[tuple[str, str], Operation] = field(init=False)

    def __post_init__(self) -> None:
        asked = sorted(set(self.frozen.operations()))
        self.known = {(agent, name): Operation(Agent(agent, rate=self.rate), name, works) for agent, name in asked}

    @property
    def schemas(self) -> Mapping[str, type[OrderMessage]]:
        return {SUBMITTED: self.order} if self.order else {}

    def plans(self, _complete_within: timedelta | None = None) -> Mapping[str, Plan]:
        return dict(_plans(SUBMITTED, self.frozen))

    def signals(self, _key: str, /) -> Mapping[str, type[Any]]:
        return {}

    def operations(self, agent: str) -> Mapping[str, Operation]:
        return {name: operation for (of, name), operation in self.known.items() if of == agent}


def _plans(type_: str, plan: Plan) -> Iterator[tuple[str, Plan]]:
    """The plan and those of its children, by the types of their messages."""
    yield type_, plan
    for step in plan.steps:
        if step.child is not None:
            yield from _plans(f"{step.name}.of.{type_}", step.child)
