"""All functions of a deployment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stepward_cdk.functions.agent import Agent
from stepward_cdk.functions.convoy import Convoy
from stepward_cdk.functions.ledger import Ledger
from stepward_cdk.functions.scheduler import Scheduler
from stepward_cdk.functions.submission import Submission
from stepward_cdk.functions.supervisor import Supervisor
from stepward_cdk.functions.worker import Parts, Worker
from stepward_cdk.settings.agent_needs import AgentNeeds


class Functions(Construct):
    """Submission, Scheduler, Supervisor and convoy, one function per agent, and the ledger processors."""

    def __init__(self, scope: Construct, construct_id: str, *, agents: Sequence[AgentNeeds], parts: Parts) -> None:
        super().__init__(scope, construct_id)
        self.submission = Submission(self, "Submission", parts=parts)
        self.scheduler = Scheduler(self, "Scheduler", parts=parts)
        self.agents = {needs.name: Agent(self, f"Agent-{needs.name}", needs=needs, parts=parts) for needs in agents}
        self.supervisor = Supervisor(self, "Supervisor", agents=agents, parts=parts)
        self.convoy = Convoy(self, "Convoy", parts=parts)
        self.ledgers = {"ledger": Ledger(self, "Ledger", parts=parts)} | {
            f"ledger-{customer}": Ledger(self, f"Ledger-{customer}", customer=customer, parts=parts)
            for customer in parts.queues.customers
        }

        self._update_in_turn()

    def _update_in_turn(self) -> None:
        """Update who understands a new kind of message or plan before who sends it; CloudFormation follows this order.

        The Scheduler, the Supervisor, who sends it messages, then the agents; then those who freeze plans; then the
        ledger processors, who send to the convoy. A template in which nothing depends on anything is updated at once.
        """
        turns: list[list[Worker]] = [
            [self.scheduler],
            [self.supervisor],
            list(self.agents.values()),
            [self.submission, self.convoy],
            list(self.ledgers.values()),
        ]
        for earlier, later in pairwise(turn for turn in turns if turn):
            for worker in later:
                for understands in earlier:
                    worker.update_after(understands)

    @property
    def by_name(self) -> Mapping[str, lambda_.Function]:
        """All functions, by the names that alarms and dashboard use."""
        return {name: worker.function for name, worker in self.workers.items()}

    @property
    def workers(self) -> Mapping[str, Worker]:
        """All functions with the queues that they take from, by the same names."""
        engine = {"submission": self.submission, "scheduler": self.scheduler, "supervisor": self.supervisor}
        agents = {f"agent-{name}": agent for name, agent in self.agents.items()}
        return {**engine, **agents, "convoy": self.convoy, **self.ledgers}
