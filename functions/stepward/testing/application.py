"""The application as one instance under test knows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

from stepward.app.assembly import Application
from stepward.domain.key import Keys
from stepward.domain.workflow.agents import Call, Operation, Result
from stepward.domain.workflow.plan import Plan, PlannedStep
from stepward.wire.order import Schemas
from stepward.wire.order_event import EventMessage, Source


@dataclass(frozen=True, slots=True)
class Staged:
    """An application with other plans, which it freezes with new orders, and with other operations."""

    schemas: Schemas
    event: type[EventMessage] | None
    sources: Sequence[Source]
    keys: Keys
    frozen: Mapping[str, Plan]
    known: Callable[[str], Mapping[str, Operation]]
    given: Callable[[str], Mapping[str, type[Any]]]

    def plans(self, _complete_within: timedelta | None = None) -> Mapping[str, Plan]:
        """The plans, by the type of the message; see App.plans."""
        return self.frozen

    def signals(self, key: str) -> Mapping[str, type[Any]]:
        """The classes of the signals; see App.signals."""
        return self.given(key)

    def operations(self, agent: str) -> Mapping[str, Operation]:
        """The operations of an agent; see Workflow.operations."""
        return self.known(agent)


def staged(app: Application, frozen: Mapping[str, Plan], known: Callable[[str], Mapping[str, Operation]]) -> Staged:
    """The application with other plans and other operations."""
    return Staged(app.schemas, app.event, app.sources, app.keys, frozen, known, app.signals)


def agents_of(*frozen: Mapping[str, Plan]) -> list[str]:
    """Every agent that these plans ask for work, sorted."""
    return sorted({agent for plans in frozen for plan in plans.values() for agent in plan.agents})


def checked(*frozen: Mapping[str, Plan]) -> list[PlannedStep]:
    """Every step of these plans that has a check; that of an each's items by the name of the first one."""
    plans = [plan for each in frozen for plan in each.values()]
    named = [(plan, name) for plan in plans for step in plan.steps for name in (step.name, *step.of_item(0))]
    return [plan.by_name[name] for plan, name in named if plan.by_name[name].check]


def through(
    app: Application, call: Callable[[Operation, Call], Result], frozen: Mapping[str, Plan] | None = None
) -> Staged:
    """The application with each of its operations called through `call`, and with these plans or its own."""

    def known(agent: str) -> Mapping[str, Operation]:
        found = app.operations(agent)
        return {name: replace(operation, run=partial(call, operation)) for name, operation in found.items()}

    return staged(app, frozen or app.plans(), known)
