"""What the agents of an application need: how long their functions may run, and how many at once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from stepward.domain.errors import Misconfigured, WorkflowError
from stepward.domain.workflow.agents import Agent
from stepward.domain.workflow.application import App
from stepward.domain.workflow.plan import PlannedStep
from stepward_cdk.settings.chosen import Chosen
from stepward_cdk.settings.settings import (
    AGENT_MARGIN_S,
    CUSTOMER_QUEUES,
    LEAST_CONCURRENCY,
    LONGEST_FUNCTION_S,
    MAX_REQUEST_QUEUES,
    MEMORY_MB,
    PRIORITY_SHARE,
    Settings,
)


@dataclass(frozen=True, slots=True)
class AgentNeeds:
    """One agent of the application: `longest_s` is the longest limit of its steps, forward or undo, in seconds.

    It calls its service at most `max_concurrency` times at once: functions times requests of each. Part of them
    is reserved for a priority queue, so that ordinary requests cannot take them all.
    """

    name: str
    max_concurrency: int
    wanted_batch: int
    longest_s: int
    priority_queue: bool = False
    secrets: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    memory_mb: int = MEMORY_MB

    @property
    def batch_size(self) -> int:
        """Requests that one function serves side by side; small enough for two functions per queue."""
        return min(self.wanted_batch, self.max_concurrency // (LEAST_CONCURRENCY * self._queues))

    @property
    def functions_at_once(self) -> int:
        """Functions that may run at once, for both queues together."""
        return self.max_concurrency // self.batch_size

    @property
    def priority_functions(self) -> int:
        """Functions that may run at once for orders of high priority alone."""
        return max(LEAST_CONCURRENCY, self.functions_at_once // PRIORITY_SHARE) if self.priority_queue else 0

    @property
    def ordinary_functions(self) -> int:
        """Functions that may run at once for all other orders."""
        return self.functions_at_once - self.priority_functions

    @property
    def requests_at_once(self) -> int:
        """Requests that the agent can serve at once."""
        return self.functions_at_once * self.batch_size

    @property
    def timeout_s(self) -> int:
        """The timeout of the agent's function: the step's limit decides, as far as Lambda goes."""
        return min(self.longest_s + AGENT_MARGIN_S, LONGEST_FUNCTION_S)

    @property
    def queue_names(self) -> tuple[str, ...]:
        """The short names of its queues; the priority queue, if there is one, comes second."""
        return (f"agent-{self.name}", f"agent-{self.name}-high")[: self._queues]

    @property
    def _queues(self) -> int:
        return 2 if self.priority_queue else 1


def agents_of(app: App, settings: Settings) -> tuple[AgentNeeds, ...]:
    """The needs of every agent of the application, sorted by name; raises WorkflowError."""
    steps = app.planned(settings.complete_within)
    needs = tuple(_needs(agent, steps, settings) for agent in app.agents)
    _check_queues(app.name, [name for agent in needs for name in agent.queue_names], settings)
    return needs


def _needs(agent: Agent, steps: Sequence[PlannedStep], settings: Settings) -> AgentNeeds:
    if agent.priority_queue and agent.max_concurrency < 2 * LEAST_CONCURRENCY:
        raise WorkflowError(
            f"agent {agent.name!r}: max_concurrency {agent.max_concurrency} cannot be shared with a priority queue; "
            f"raise it to {2 * LEAST_CONCURRENCY}, or leave priority_queue out"
        )
    return AgentNeeds(
        agent.name,
        agent.max_concurrency,
        1 if _gives_up_at_once(steps, agent.name) else settings.agent_batch_size,
        _longest(steps, agent.name),
        agent.priority_queue,
        agent.secrets,
        agent.environment,
        agent.memory_mb,
    )


def check_addresses(app: App, addresses: Collection[str], where: str = "service_urls") -> None:
    """Refuse an agent whose service has no address, and the address of a service that no agent calls.

    `where` tells a person where the addresses are.
    """
    callers = app.services
    for service, agent in callers.items():
        if service not in addresses:
            near = get_close_matches(service, set(addresses) - set(callers), 1)
            advice = (
                f"rename {near[0]} to {service}"
                if near
                else f'add {service} = "https://...", or declare Agent({agent!r}, services=()) if it needs none'
            )
            raise Misconfigured(f"{where}: agent {agent} calls {service}, which has no address; {advice}")
    for service in addresses:
        if service not in callers:
            raise Misconfigured(
                f"{where}: no agent calls {service}; remove it, or name it in an agent's services=(...)"
            )


def unfit_addresses(app: App, chosen: Chosen) -> Iterator[str]:
    """What a deployment would be refused for, of a run that has other addresses than the environment's file."""
    try:
        if chosen.addresses != chosen.file:
            check_addresses(app, chosen.usual.service_urls, chosen.file)
    except Misconfigured as error:
        yield f"{error}. This run has addresses of its own; a deployment will be refused"


def _check_queues(app: str, names: list[str], settings: Settings) -> None:
    room = MAX_REQUEST_QUEUES - CUSTOMER_QUEUES * len(settings.convoy.queues)
    if len(names) > room:
        raise WorkflowError(
            f"app {app!r}: {len(names)} agents and priority queues; one stack takes {room} beside "
            f"{len(settings.convoy.queues)} customers with queues of their own; use a second stack"
        )
    for name, times in Counter(names).items():
        if times > 1:
            raise WorkflowError(f"app {app!r}: {times} queues would be named {name!r}; rename an agent")


def _longest(steps: Sequence[PlannedStep], agent: str) -> int:
    return math.ceil(max(step.complete_within for step in _of(steps, agent)) / 1000)


def _gives_up_at_once(steps: Sequence[PlannedStep], agent: str) -> bool:
    """Whether one failure of a step is too many: then no other request may end its process."""
    return any(step.threshold == 1 for step in _of(steps, agent))


def _of(steps: Sequence[PlannedStep], agent: str) -> Iterator[PlannedStep]:
    """The steps that the agent does or undoes."""
    for step in steps:
        if any(agent in {executor.agent, executor.undo_agent} for executor in step.executors):
            yield step
