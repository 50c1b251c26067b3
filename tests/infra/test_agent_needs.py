"""What a workflow asks of the infrastructure is complete, or refused."""

from __future__ import annotations

import pytest

from infra.agents import agents_of
from infra.settings import MAX_AGENTS, Settings
from stepward.domain.errors import WorkflowError
from stepward.domain.workflow import Agent, Step, Workflow, minutes
from tests.infra.sample import workflow


def test_more_agents_than_one_functions_environment_can_name_are_refused() -> None:
    """S4: the Scheduler is told every agent's queue, and Lambda gives it 4 KB for that."""
    agents = [Agent(f"agent-{number}") for number in range(MAX_AGENTS + 1)]
    steps = [Step(agent.operation(ping), name=agent.name, complete_within=minutes(1)) for agent in agents]
    assert len(agents_of(Workflow("wide", 1, steps[:-1]), Settings())) == MAX_AGENTS
    with pytest.raises(WorkflowError, match=str(MAX_AGENTS)):
        agents_of(Workflow("wide", 1, steps), Settings())


def test_an_undo_may_run_as_long_as_its_step() -> None:
    """S17."""
    needs = {agent.name: agent for agent in agents_of(workflow, Settings())}
    assert needs["refunds"].longest_s == needs["payments"].longest_s == 120


def ping(call: object) -> dict[str, object]:
    """An operation of any agent."""
    return {"call": str(call)}
