"""Each function starts on the environment that its template gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from stepward.wiring.agent import agent
from stepward.wiring.convoy import convoy
from stepward.wiring.ledger import ledger
from stepward.wiring.scheduler import scheduler
from stepward.wiring.submission import submission
from stepward.wiring.supervisor import supervisor
from tests.infra.sample import application
from tests.infra.template import Template

STARTS: Mapping[str, Callable[[Mapping[str, str]], object]] = {
    "submission": lambda env: submission(application, env).worker,
    "scheduler": lambda env: scheduler(env).worker,
    "supervisor": lambda env: supervisor(env).worker,
    "ledger": lambda env: ledger(application, env).worker,
    "convoy": lambda env: convoy(application, env).worker,
}


@pytest.mark.parametrize("handler", STARTS)
def test_a_function_gets_every_setting_that_it_reads(template: Template, handler: str) -> None:
    """S3: a missing setting would only show at the first message."""
    assert STARTS[handler](resolved(template, template.function(handler)))


@pytest.mark.parametrize("name", ["inventory", "payments", "refunds", "shipping"])
def test_an_agent_gets_every_setting_that_it_reads(template: Template, name: str) -> None:
    """S3, S5."""
    assert agent(application, resolved(template, template.function("agent", name))).worker


def resolved(template: Template, function: str) -> Mapping[str, str]:
    """The environment with a made-up value where CloudFormation puts a name."""
    given = template.environment(function)
    return {"AWS_REGION": "eu-west-1"} | {
        name: value if isinstance(value, str) else '{"inventory": "made-up"}' for name, value in given.items()
    }
