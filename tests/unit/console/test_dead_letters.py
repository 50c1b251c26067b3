"""O3: dead letters in the console: what they are, and which of them go back."""

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pytest
from nicegui.testing import User

from stepward.console.dead_letters import asked_for, redriven
from stepward.console.frame import Console
from stepward.domain.errors import Rejected
from stepward.domain.messages import Undo
from stepward.operator.dead_letters.of_tasks import DeadLetter
from stepward.operator.dead_letters.redrive import Redrive, Wanted
from stepward.stack_outputs import DeadLetters
from stepward.wire.messages import encode
from tests.unit.cli.lives import SUBMITTED
from tests.unit.console.visits import console, visit
from tests.unit.operator.deployed import Deployed, failed_orders


@dataclass
class Buried:
    """A dead-letter queue with these bodies, and what was sent again."""

    bodies: dict[str, str]
    sent: list[str] = field(default_factory=list)

    def send(self, url: str, messages: Any) -> None:
        assert url == "source"
        self.sent += [each.body for each in messages]

    @contextmanager
    def taken(self, most: int) -> Any:
        yield iter([DeadLetter(name, body, SUBMITTED, 6, "") for name, body in self.bodies.items()][:most])

    def depth(self) -> int:
        return len(self.bodies)

    def remove(self, dead_letter: DeadLetter) -> None:
        del self.bodies[dead_letter.message_id]


@pytest.fixture
def deployed() -> Deployed:
    made = Deployed()
    failed_orders(made, 3)
    return made


@pytest.fixture
def buried(monkeypatch: pytest.MonkeyPatch) -> Buried:
    names = [f"ord-{number:05d}" for number in range(3)]
    made = Buried({f"m-{name}": encode(Undo(name, "bob", "withdrawn")) for name in names} | {"m-bad": "{oops"})
    monkeypatch.setattr(Redrive, "source", made)
    return made


def shown(deployed: Deployed, buried: Buried) -> Console:
    connection: Any = replace(deployed.connection, sender=buried)  # type: ignore[arg-type]
    connection.deployment.__dict__["dead_letters"] = {"scheduler": DeadLetters("source", "dead")}
    return replace(console(deployed), connection=connection)


def test_what_is_current_goes_back_once_its_number_is_confirmed(deployed: Deployed, buried: Buried) -> None:
    bodies = list(buried.bodies.values())

    async def act(user: User) -> None:
        await user.open("/dead-letters/scheduler")
        await user.should_see("4 shown", retries=100)
        user.find("Send again what is current").click()
        await user.should_see("3  sent", retries=100)
        await user.should_see("1  kept")
        user.find(marker="why").type("the table is back")
        user.find(marker="go").click()
        await user.should_see("type 3 to confirm", retries=100)
        assert not buried.sent
        user.find(marker="count").type("3")
        user.find(marker="go").click()
        await user.should_see("3 sent, 1 kept", retries=100)

    visit(shown(deployed, buried), act)
    assert (buried.sent, list(buried.bodies)) == (bodies[:3], ["m-bad"])
    entry = deployed.connection.audit_log.of("ord-00001")[-1]
    assert (entry.command, entry.who) == ("redrive scheduler", "ann")
    assert entry.why.startswith("the table is back (bulk redrive-")


def test_a_console_that_is_read_only_redrives_nothing(deployed: Deployed, buried: Buried) -> None:
    looked = replace(shown(deployed, buried), read_only=True)

    async def act(user: User) -> None:
        await user.open("/dead-letters/scheduler")
        await user.should_see("4 shown", retries=100)
        await user.should_not_see("Send again what is current")

    visit(looked, act)
    with pytest.raises(Rejected, match="read only"):
        asyncio.run(redriven(looked, partial(asked_for, looked, "scheduler", Wanted()), "why"))
    assert not buried.sent


def test_a_queue_that_the_stack_lacks_is_named(deployed: Deployed) -> None:
    async def act(user: User) -> None:
        await user.open("/dead-letters/oders")
        await user.should_see("there is no queue oders; the queues: scheduler", retries=100)

    visit(shown(deployed, Buried({})), act)
