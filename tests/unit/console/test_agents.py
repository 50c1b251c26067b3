"""O3: an operator pauses and resumes an agent in the console."""

import asyncio
from dataclasses import replace

import pytest
from nicegui.testing import User

from stepward.console.agents import give_pause, give_resume
from stepward.domain.errors import Rejected
from tests.unit.console.visits import console, visit
from tests.unit.operator.deployed import Deployed


def test_an_agent_is_paused_with_name_and_reason_and_resumed() -> None:
    deployed = Deployed()
    breakers = deployed.connection.breakers

    async def act(user: User) -> None:
        await user.open("/agents")
        await user.should_see("Pause payments", retries=100)
        user.find("Pause payments").click()
        await user.should_see("stop within two seconds", retries=100)
        user.find(marker="go").click()
        await user.should_see("Give a reason", retries=100)
        assert breakers.of("payments").pause is None
        user.find(marker="why").type("the bank is down")
        user.find(marker="go").click()
        await user.should_see("Agent payments is paused.", retries=100)
        pause = breakers.of("payments").pause
        assert pause
        assert (pause.who, pause.why) == ("ann", "the bank is down")
        await user.open("/agents")
        await user.should_see("Resume payments", retries=100)
        await user.should_not_see("Pause payments")
        user.find("Resume payments").click()
        await user.should_see("works again", retries=100)
        user.find(marker="go").click()
        await asyncio.sleep(0.1)

    visit(console(deployed), act)
    assert breakers.of("payments").pause is None


@pytest.mark.parametrize("act", [give_pause, give_resume])
def test_a_console_that_is_read_only_leaves_the_agents_alone(act: object) -> None:
    shown = replace(console(Deployed()), read_only=True)
    with pytest.raises(Rejected, match="read only"):
        asyncio.run(act(shown, "payments", "why"))  # type: ignore[operator]
