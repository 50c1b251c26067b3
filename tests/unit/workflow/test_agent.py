"""What an agent asks of its function is possible, or refused where it is written."""

from __future__ import annotations

import re
from typing import Any

import pytest

from stepward.domain.errors import WorkflowError
from stepward.domain.workflow.agents import Agent


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"secrets": "bank/key"}, "secrets 'bank/key' is one text; write secrets=('bank/key',)"),
        ({"secrets": ("bank/*",)}, "'bank/*' is no secret's name"),
        ({"secrets": ("a,b",)}, "'a,b' is no secret's name"),
        ({"environment": {"STEPWARD_SHARDS": "9"}}, "variable 'STEPWARD_SHARDS'"),
        ({"environment": {"AWS_REGION": "x"}}, "variable 'AWS_REGION'"),
        ({"memory_mb": 64}, "memory_mb 64 is outside 128-10240"),
    ],
)
def test_what_an_agents_function_cannot_have_is_refused(given: dict[str, Any], fault: str) -> None:
    """D4: a wildcard would let it read what is not its own, and a variable of ours would change how it works."""
    with pytest.raises(WorkflowError, match=re.escape(fault)):
        Agent("bank", **given)
