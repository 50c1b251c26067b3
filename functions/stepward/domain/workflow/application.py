"""An application: the workflow of its orders, and the messages that it understands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from stepward.domain.key import Keys
from stepward.domain.workflow.definition import Operation, Workflow
from stepward.domain.workflow.plan import Plan
from stepward.domain.workflow.validation import check_app_name


@dataclass(frozen=True)
class App:
    """Everything that the engine knows of an application.

    `event` is the class of its order events, a subclass of EventMessage. Each of `sources` turns the events of one
    kind of shop into ours. Raises WorkflowError if the name cannot be used.
    """

    name: str
    workflow: Workflow
    event: type[Any] | None = None
    sources: Sequence[Callable[[Any], Any]] = ()

    def __post_init__(self) -> None:
        check_app_name(self.name)

    @property
    def order(self) -> type[Any] | None:
        """The class of the order messages, a subclass of OrderMessage; None for OrderMessage itself."""
        return self.workflow.order

    @property
    def keys(self) -> Keys:
        """Makes the keys of the application's tasks."""
        name = self.workflow.name
        return Keys((name,), frozenset({name} if self.workflow.per_customer else ()))

    def plan(self, complete_within: timedelta | None = None) -> Plan:
        """The plan that is frozen with an order; see Workflow.plan."""
        return self.workflow.plan(complete_within)

    def operations(self, agent: str) -> Mapping[str, Operation]:
        """The operations of an agent; see Workflow.operations."""
        return self.workflow.operations(agent)
