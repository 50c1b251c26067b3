"""What a workflow's agents need of the infrastructure: how long they may run, and how many at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

from infra.settings import AGENT_MARGIN_S, LEAST_CONCURRENCY, LONGEST_FUNCTION_S, MAX_AGENTS, Settings
from stepward.domain.errors import WorkflowError
from stepward.domain.plan import Plan
from stepward.domain.workflow import Workflow


@dataclass(frozen=True, slots=True)
class AgentNeeds:
    """One agent of the workflow: `longest_s` is the longest limit of its steps, forward or undo, in seconds.

    It calls its service at most `max_concurrency` times at once: so many functions with so many requests each.
    """

    name: str
    max_concurrency: int
    wanted_batch: int
    longest_s: int

    @property
    def batch_size(self) -> int:
        """Requests that one function serves side by side; small enough that two functions may run."""
        return min(self.wanted_batch, self.max_concurrency // LEAST_CONCURRENCY)

    @property
    def functions_at_once(self) -> int:
        """Functions that may run at once."""
        return self.max_concurrency // self.batch_size

    @property
    def timeout_s(self) -> int:
        """The timeout of the agent's function: the step's limit decides, as far as Lambda goes."""
        return min(self.longest_s + AGENT_MARGIN_S, LONGEST_FUNCTION_S)


def agents_of(workflow: Workflow, settings: Settings) -> tuple[AgentNeeds, ...]:
    """The needs of every agent that the workflow asks for work, by name; raises WorkflowError."""
    plan = workflow.plan(settings.complete_within)
    if len(workflow.agents) > MAX_AGENTS:
        raise WorkflowError(f"workflow {workflow.name!r}: {len(workflow.agents)} agents; one stack takes {MAX_AGENTS}")
    return tuple(
        AgentNeeds(agent.name, agent.max_concurrency, settings.agent_batch_size, _longest(plan, agent.name))
        for agent in workflow.agents
    )


def _longest(plan: Plan, agent: str) -> int:
    limits = [step.complete_within for step in plan.steps if agent in {step.agent, step.undo_agent}]
    return math.ceil(max(limits) / 1000)
