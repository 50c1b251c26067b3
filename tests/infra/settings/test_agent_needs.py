"""What a workflow asks of the infrastructure is complete, or refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stepward.domain.errors import WorkflowError
from stepward.domain.timing import minutes
from stepward.domain.workflow.agents import Agent
from stepward.domain.workflow.application import App
from stepward.domain.workflow.definition import Step, Workflow
from stepward_cdk.settings.agent_needs import agents_of
from stepward_cdk.settings.convoy import MAX_CUSTOMERS
from stepward_cdk.settings.settings import MAX_REQUEST_QUEUES, Settings
from tests.infra.sample import application


def test_more_queues_than_a_stack_has_room_for_are_refused() -> None:
    """S4: a priority queue is one more, and a customer with a queue of its own counts as two."""
    agents = [Agent(f"agent-{number}") for number in range(MAX_REQUEST_QUEUES)]
    assert len(agents_of(asking(*agents), Settings())) == MAX_REQUEST_QUEUES
    for one_more in ([*agents, Agent("more")], [*agents[1:], Agent("more", priority_queue=True)]):
        with pytest.raises(WorkflowError, match=str(MAX_REQUEST_QUEUES)):
            agents_of(asking(*one_more), Settings())
    with pytest.raises(WorkflowError, match=f"takes {MAX_REQUEST_QUEUES - 2} beside 1 customers"):
        agents_of(asking(*agents[1:]), Settings(ledger_customers=("acme",)))
    agents_of(asking(*agents[:13]), Settings(ledger_customers=tuple(f"customer-{it}" for it in range(MAX_CUSTOMERS))))


def test_an_agent_too_small_to_be_shared_gets_no_priority_queue() -> None:
    """S5, S21: SQS takes no limit below two for each queue, and the service gets no more calls than agreed."""
    assert agents_of(asking(Agent("payments", 4, priority_queue=True)), Settings())
    with pytest.raises(WorkflowError, match="max_concurrency 3"):
        agents_of(asking(Agent("payments", 3, priority_queue=True)), Settings())


def test_an_agents_name_that_a_priority_queue_has_already_is_refused() -> None:
    """S21."""
    with pytest.raises(WorkflowError, match="agent-payments-high"):
        agents_of(asking(Agent("payments", priority_queue=True), Agent("payments-high")), Settings())


@pytest.mark.parametrize("most", [4, 5, 7, 8, 20, 1000])
@pytest.mark.parametrize("batch", [1, 3, 10])
def test_a_priority_queue_takes_its_part_of_the_agents_concurrency_and_adds_nothing(most: int, batch: int) -> None:
    """S5, S21: whatever the numbers, both queues together call the service no more often at once than it may be."""
    (agent,) = agents_of(asking(Agent("payments", most, priority_queue=True)), Settings(agent_batch_size=batch))
    assert min(agent.priority_functions, agent.ordinary_functions) >= 2
    assert agent.priority_functions <= agent.ordinary_functions
    assert (agent.priority_functions + agent.ordinary_functions) * agent.batch_size == agent.requests_at_once <= most


@pytest.mark.parametrize(
    ("agent", "other", "seconds"),
    [("courier", "shipping", 1200), ("refunds", "payments", 120)],
    ids=["fallback", "undo"],
)
def test_a_fallback_or_an_undo_may_run_as_long_as_its_step(agent: str, other: str, seconds: int) -> None:
    """S17, S21."""
    needs = {agent.name: agent for agent in agents_of(application, Settings())}
    assert needs[agent].longest_s == needs[other].longest_s == seconds


def test_an_agent_that_drains_has_the_time_that_its_steps_had() -> None:
    """D1: an order in flight still has its old limit."""
    old = Step(Agent("bank").operation(ping), complete_within=minutes(9))
    (workflow,) = asking(Agent("payments")).workflows
    needs = agents_of(App("wide", [replace(workflow, draining=[old])]), Settings())
    assert [(agent.name, agent.longest_s) for agent in needs] == [("bank", 540), ("payments", 60)]


@pytest.mark.parametrize(("threshold", "at_once"), [(1, 1), (2, 5)])
def test_an_agent_whose_step_may_fail_only_once_takes_one_request_at_a_time(threshold: int, at_once: int) -> None:
    """S11: a neighbour that ends its process would use up its only attempt."""
    step = Step(Agent("bank").operation(ping), complete_within=minutes(1), threshold=threshold)
    (agent,) = agents_of(App("wide", [Workflow("wide", 1, [step])]), Settings())
    assert agent.batch_size == at_once


def asking(*agents: Agent) -> App:
    """An application of one workflow, with one step for each of these agents."""
    steps = [Step(it.operation(ping), name=it.name, complete_within=minutes(1)) for it in agents]
    return App("wide", [Workflow("wide", 1, steps)])


def ping(call: object) -> dict[str, object]:
    """An operation of any agent."""
    return {"call": str(call)}
