"""O3: a rejected order message is corrected and sent in the console; the others name their command."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from nicegui.testing import User

from stepward.console.frame import Console
from stepward.console.stopped import send_order
from stepward.domain.errors import Rejected
from stepward.domain.rejects import Reject
from tests.factories import order_text
from tests.unit.cli.lives import SUBMITTED
from tests.unit.console.visits import console, visit
from tests.unit.operator.deployed import Deployed


def shown(*rejects: Reject) -> tuple[Console, list[str]]:
    deployed, sent = Deployed(), list[str]()
    for each in rejects:
        deployed.rejects.keep(each)
    sender: Any = SimpleNamespace(send=lambda url, messages: sent.extend(f"{url} {each.body}" for each in messages))
    return replace(console(deployed), connection=replace(deployed.connection, sender=sender)), sent


def test_an_order_is_corrected_and_what_is_wrong_is_named_before_it_is_sent() -> None:
    looked, sent = shown(Reject("m-1", "orders", SUBMITTED, "(body)", "is not JSON", "{oops"))

    async def act(user: User) -> None:
        await user.open("/stopped")
        await user.should_see("Correct and send", retries=100)
        user.find("Correct and send").click()
        await user.should_see(marker="body", retries=100)
        user.find(marker="body").clear().type(order_text("ord-7").replace("ord-7", ""))
        await user.should_see("It would be rejected: orderId", retries=100)
        user.find(marker="go").click()
        await user.should_see("Failed: orderId", retries=100)
        await user.open("/stopped")
        await user.should_see("Correct and send", retries=100)
        user.find("Correct and send").click()
        await user.should_see(marker="body", retries=100)
        user.find(marker="body").clear().type(order_text("ord-7"))
        await user.should_see("It has what all orders must have.", retries=100)
        user.find(marker="go").click()
        await user.should_see("It was sent.", retries=100)

    visit(looked, act)
    assert sent == [f"https://sqs/orders {order_text('ord-7')}"]


def test_a_ledger_names_its_command_and_a_console_that_is_read_only_sends_nothing() -> None:
    looked, sent = shown(
        Reject("m-1", "orders", SUBMITTED, "(body)", "is not JSON", "{oops"),
        Reject("m-2", "ledgers", SUBMITTED, "entries", "is missing", "{}"),
    )
    looked = replace(looked, read_only=True)

    async def act(user: User) -> None:
        await user.open("/stopped")
        await user.should_see("stepward rejects m-2 --body", retries=100)
        await user.should_see("stepward ledger send order.json")
        await user.should_not_see("Correct and send")

    visit(looked, act)
    with pytest.raises(Rejected, match="read only"):
        asyncio.run(send_order(looked, order_text("ord-7")))
    assert not sent
