"""An application: its workflows, and the messages that it understands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any, get_args, get_type_hints

from stepward.domain.arguments import check_arguments, check_elements
from stepward.domain.errors import WorkflowError
from stepward.domain.key import SUBMITTED, Keys, TaskKey
from stepward.domain.workflow.agents import Agent, Operation, check_name
from stepward.domain.workflow.children import check_listed
from stepward.domain.workflow.definition import Workflow
from stepward.domain.workflow.plan import Plan, PlannedStep
from stepward.domain.workflow.validation import check_types, check_unambiguous, check_workflows

IMPORT_IT = "import it in the module of the class, and not under TYPE_CHECKING"
"""What to do about a name that only the type checker knows."""


@dataclass(frozen=True)
class App:
    """Everything that the engine knows of the application `name`, checked when the module is imported.

    The type of an order message says which of `workflows` it is for. A cancellation, a command or an order event names
    its workflow, else it means the `default` one, which may be left out if there is no other. Agents are shared: those
    with one name are one agent. `event` is the class of its order events, a subclass of EventMessage. Each of `sources`
    turns the events of one kind of shop into ours. Raises WorkflowError.
    """

    name: str
    workflows: Sequence[Workflow]
    default: Workflow | None = None
    event: type[Any] | None = None
    sources: Sequence[Callable[[Any], Any]] = ()

    def __post_init__(self) -> None:
        check_arguments(f"app {self.name!r}", self, "name", "event", "default")
        check_name(f"app {self.name!r}", self.name)
        check_elements(f"app {self.name!r}", "workflows", self.workflows, Workflow, "write workflows=[fulfilment]")
        check_elements(f"app {self.name!r}", "sources", self.sources, object, "")
        where, names = f"app {self.name!r}", [each.name for each in self.workflows]
        has_default = self.default in self.workflows if self.default else len(names) == 1
        check_workflows(where, names, has_default=has_default)
        check_types(where, self._declared)
        check_listed(where, self.workflows)
        asked = {each for agent in self.agents for each in self._served(agent.name)}
        check_unambiguous(where, "agents", (agent.name for agent in {each.agent for each in asked}))
        check_unambiguous(where, "operations", (f"{each.agent.name}.{each.name}" for each in asked))

    @property
    def keys(self) -> Keys:
        """Makes the keys of the application's tasks."""
        apart = frozenset(each.name for each in self._listed if each.per_customer)
        return Keys(
            tuple(each.name for each in self._listed),
            apart,
            tuple(self._declared[each.name][0] for each in self._listed),
        )

    @property
    def schemas(self) -> Mapping[str, type[Any]]:
        """The classes of the order messages, by their type; OrderMessage itself is left out."""
        return {self._declared[each.name][0]: each.order for each in self.workflows if each.order}

    def plans(self, complete_within: timedelta | None = None) -> Mapping[str, Plan]:
        """The plans that are frozen with orders, by the type of the message, the default first; see Workflow.plan."""
        return {self._declared[each.name][0]: each.plan(complete_within) for each in self._listed}

    @property
    def agents(self) -> Sequence[Agent]:
        """Every agent of the workflows, in the order of their names."""
        named = {agent.name: agent for each in self.workflows for agent in each.agents}
        return [named[name] for name in sorted(named)]

    @property
    def services(self) -> Mapping[str, str]:
        """The services that need an address, each with an agent that calls it."""
        return {service: agent for each in self.workflows for service, agent in each.services.items()}

    def signals(self, key: str, /) -> Mapping[str, type[Any]]:
        """The classes of the signals that the task of this key may be given, by their names."""
        name = TaskKey.read(key).workflow
        return next((each.signals for each in self.workflows if each.name == name), self._listed[0].signals)

    def operations(self, agent: str) -> Mapping[str, Operation]:
        """The operations, forward and undo, that the workflows ask of `agent`, by name."""
        return {operation.name: operation for operation in self._served(agent)}

    @property
    def drained(self) -> Mapping[str, Sequence[str]]:
        """The operations, by agent, that no new order of any workflow asks for."""
        left = {agent.name: set(self.operations(agent.name)) for agent in self.agents}
        for each in self.workflows:
            for name in left:
                left[name] -= set(each.operations(name)) - set(each.drained.get(name, ()))
        return {name: sorted(found) for name, found in left.items() if found}

    @property
    def has_children(self) -> bool:
        """Whether its Scheduler submits orders: those of children, and those that do some of many items."""
        return any(step.child or step.parts for step in self.planned())

    def planned(self, complete_within: timedelta | None = None) -> Sequence[PlannedStep]:
        """Every step that the agents serve; see Workflow.planned."""
        return [step for each in self.workflows for step in each.planned(complete_within)]

    @cached_property
    def _declared(self) -> Mapping[str, Sequence[str]]:
        """What the message classes declare as their type, by the name of the workflow; each declares one."""
        return {each.name: _types_of(each.order) for each in self.workflows}

    @property
    def _listed(self) -> Sequence[Workflow]:
        """The workflows, the default one first."""
        return sorted(self.workflows, key=lambda each: each != (self.default or self.workflows[0]))

    def _served(self, agent: str) -> list[Operation]:
        return [operation for each in self.workflows for operation in each.operations(agent).values()]


def _types_of(order: type[Any] | None) -> tuple[str, ...]:
    try:
        return get_args(get_type_hints(order).get("type") if order else None) or (SUBMITTED,)
    except NameError as error:
        name = order.__name__ if order else ""
        said = f"class {name}: {error}; {IMPORT_IT}"
        raise WorkflowError(said) from error
