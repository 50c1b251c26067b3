"""O3: an operator mends a lane in the console."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from nicegui.testing import User

from stepward.console.frame import Console
from stepward.operator import bulk
from stepward.wire.convoy import decode_for_lane
from tests.unit.cli_convoy.lane_lives import LaneLife, entry, flowing, poisoned, torn
from tests.unit.console.visits import console, visit
from tests.unit.operator.deployed import Deployed


@dataclass
class Asking:
    """The queue of order events: the convoy acts at once on what is sent."""

    life: LaneLife

    def send(self, messages: Any) -> None:
        for each in messages:
            command: Any = decode_for_lane(each.body)
            self.life.ask(command)


def shown(life: LaneLife) -> Console:
    queue: Any = Asking(life)
    connection = replace(Deployed().connection, lanes=life.lanes, audit_log=life.audit_log, lane_queue=queue)
    return replace(console(Deployed()), connection=connection)


@pytest.mark.parametrize(
    ("life", "offered", "missing"),
    [
        (poisoned, ["Retry the event", "Skip event 4", "Replace event 4"], []),
        (torn, ["Skip event 4", "Replace event 4"], ["Retry the event"]),
        (flowing, ["Lane of order ord-1"], ["Retry the event", "Skip event 4", "Replace event 4"]),
    ],
)
def test_a_lane_offers_what_it_would_not_refuse(
    life: Callable[[], LaneLife], offered: list[str], missing: list[str]
) -> None:
    async def act(user: User) -> None:
        await user.open("/lanes/ord-1")
        for text in offered:
            await user.should_see(text, retries=100)
        for text in missing:
            await user.should_not_see(text)

    visit(shown(life()), act)


def test_a_poison_event_is_corrected_and_what_is_wrong_is_named_before_it_is_sent() -> None:
    life = poisoned()

    async def act(user: User) -> None:
        await user.open("/lanes/ord-1")
        await user.should_see("Replace event 4", retries=100)
        user.find("Replace event 4").click()
        await user.should_see(marker="body", retries=100)
        body = next(iter(user.find(marker="body").elements))
        assert json.loads(body.value) == entry(4, "modify", modifies=3, amount=1)  # type: ignore[attr-defined]
        user.find(marker="body").clear().type(json.dumps(entry(9, amount=4)))
        await user.should_see("the new event has the sequence 9; it has to be 4", retries=100)
        user.find(marker="body").clear().type(json.dumps(entry(4, op=7)))  # type: ignore[arg-type]
        await user.should_see("the new event is not valid: op", retries=100)
        user.find(marker="body").clear().type(json.dumps(entry(4, amount=4)))
        await user.should_see("The lane would take it.", retries=100)
        user.find(marker="why").type("a typo")
        user.find(marker="go").click()
        await user.should_see("Event 4 was replaced", retries=100)

    visit(shown(life), act)
    assert (life.lane.last, life.lane.blocked) == (5, None)
    assert [(each.command, each.who, each.why) for each in life.audit_log.of("ord-1")] == [
        ("convoy replace", "ann", "a typo")
    ]


def test_all_lanes_that_match_are_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    life = poisoned()
    monkeypatch.setattr(bulk, "WITHIN_MS", 0)

    async def act(user: User) -> None:
        await user.open("/stopped")
        await user.should_see("Retry all lanes that match", retries=100)
        user.find("Retry all lanes that match").click()
        await user.should_see("It would be given to 1:", retries=100)
        user.find(marker="why").type("the price list is mended")
        user.find(marker="go").click()
        await user.should_see(marker="ended", retries=100)

    visit(shown(life), act)
    (entry,) = life.audit_log.of("ord-1")
    assert (entry.command, entry.why) == ("convoy retry", "the price list is mended (bulk id-1)")
