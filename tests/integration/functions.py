"""The functions of a small shop, each made as a project's entry point makes it."""

from dataclasses import dataclass
from typing import Any

from stepward.wiring import Handler
from stepward.wiring.agent import agent as agent_of
from stepward.wiring.convoy import convoy as convoy_of
from stepward.wiring.ledger import ledger as ledger_of
from stepward.wiring.scheduler import scheduler as scheduler_of
from stepward.wiring.submission import submission as submission_of
from stepward.wiring.supervisor import supervisor as supervisor_of
from tests.shop import app


@dataclass(frozen=True)
class Function:
    """What Lambda imports, and its `handler`, which it calls."""

    name: str
    handler: Handler[Any]


submission, scheduler = Function("submission", submission_of(app)), Function("scheduler", scheduler_of())
agent, supervisor = Function("agent", agent_of(app)), Function("supervisor", supervisor_of())
ledger, convoy = Function("ledger", ledger_of(app)), Function("convoy", convoy_of(app))
ALL = (submission, scheduler, agent, supervisor, ledger, convoy)
