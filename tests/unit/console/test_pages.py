"""O3: the pages, as a simulated user sees them; hostile texts stand on them as text."""

import asyncio
from dataclasses import replace

import pytest
from nicegui.testing import User

from stepward.console.frame import order_address, orders_address
from stepward.console.giving import give, give_lane
from stepward.console.home import _address
from stepward.console.many import Asking, Run
from stepward.console.order import told
from stepward.domain.convoy.commands import RetryLane
from stepward.domain.errors import Rejected
from stepward.domain.messages import Resubmit, Undo
from stepward.domain.rejects import Reject
from stepward.operator import bulk
from stepward.operator.bulk import Bulk
from stepward.operator.filters import Filter
from stepward.operator.overview import Need, Rank
from stepward.testing.memory.queues import MemoryQueues
from tests.unit.cli.lives import SUBMITTED, Life
from tests.unit.console.visits import console, visit
from tests.unit.operator.deployed import Deployed, failed_orders

HOSTILE = '<img src=x onerror="alert(1)">{{constructor.constructor("alert(1)")()}}'


PAGES: list[tuple[str, list[str]]] = [
    ("/", ["What needs you, the worst first", "refused with card_declined", "payments: closed"]),
    ("/orders?where=state%3DError", ["3 shown"]),
    ("/orders?where=nonsense%3D1", ["This cannot be shown", "The fields: id"]),
    ("/orders?where=ord-9", ["No order was found."]),
    ("/orders?where=customer%3Dacme", ["0 shown", "no index lists all of a customer's"]),
    ("/orders?where=state%3DProcessed", ["no index lists the orders that are Processed", "Read the whole state"]),
    ("/orders?where=state%3DProcessed&scan_all=true", ["0 shown, 3 read"]),
    (
        order_address("ord-00001"),
        ["Order ord-00001", "charge ended in Error", "Resubmit charge", "Audit log", "names begin with shop-"],
    ),
    (order_address("ord-9"), ["there is no order ord-9 in shop"]),
    ("/stopped", ["No lane waits for you", HOSTILE]),
    ("/agents", ["payments", "breaker closed", "Its calls: go through", "Pause payments"]),
    ("/lanes/ord-00001", ["has received no event of order ord-00001"]),
]


@pytest.fixture
def deployed() -> Deployed:
    made = Deployed()
    failed_orders(made, 3)
    made.rejects.keep(Reject("m-1", "orders", SUBMITTED, "orderId", HOSTILE, HOSTILE))
    return made


def test_each_page_shows_what_it_is_for(deployed: Deployed) -> None:
    async def act(user: User) -> None:
        for path, texts in PAGES:
            await user.open(path)
            for text in texts:
                await user.should_see(text, retries=100)

    visit(console(deployed), act)


def test_a_command_is_given_with_the_reason_and_the_name(deployed: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[object] = []
    monkeypatch.setattr(MemoryQueues, "to_scheduler", lambda _, messages: sent.extend(messages))

    async def act(user: User) -> None:
        await user.open(order_address("ord-00001"))
        await user.should_see("Resubmit charge", retries=100)
        user.find("Resubmit charge").click()
        await user.should_see("charge: Error → Processing", retries=100)
        user.find(marker="why").type("the card is good now")
        user.find(marker="go").click()
        await user.should_see("waiting for what comes of it", retries=100)
        await asyncio.sleep(0.2)

    visit(console(deployed), act)
    assert sent == [Resubmit("ord-00001", "charge", 1, "ann", "the card is good now")]


@pytest.mark.parametrize("lane", [False, True])
def test_a_console_that_is_read_only_gives_no_command(deployed: Deployed, *, lane: bool) -> None:
    shown = replace(console(deployed), read_only=True)
    order, at_lane = Undo("ord-00001", "ann", "why"), RetryLane("ord-00001", "ann", "why", "c-1")
    with pytest.raises(Rejected, match="read only"):
        asyncio.run(give_lane(shown, at_lane) if lane else give(shown, order))
    with pytest.raises(Rejected, match="read only"):
        Asking(shown, Filter(), None).done(Bulk("undo", "b-1", "ann", "why"), 20, Run())


def test_a_read_only_console_shows_no_button(deployed: Deployed) -> None:
    async def act(user: User) -> None:
        await user.open(order_address("ord-00001"))
        await user.should_see("charge ended in Error", retries=100)
        await user.should_not_see("Resubmit charge")

    visit(replace(console(deployed), read_only=True), act)


def test_production_is_named_on_each_page(deployed: Deployed) -> None:
    async def act(user: User) -> None:
        for path in ("/", "/orders", "/stopped", "/agents", order_address("ord-00001"), "/lanes/ord-00001"):
            await user.open(path)
            await user.should_see("PRODUCTION")

    visit(replace(console(deployed), production=True), act)


def test_many_are_asked_only_once_their_number_is_confirmed(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[object] = []
    monkeypatch.setattr(MemoryQueues, "to_scheduler", lambda _, messages: sent.extend(messages))
    monkeypatch.setattr(bulk, "WITHIN_MS", 0)

    async def act(user: User) -> None:
        await user.open("/orders?where=state%3DError")
        await user.should_see("3 shown", retries=100)
        user.find(marker="every").click()
        await user.should_see("It would be given to 3:", retries=100)
        user.find(marker="why").type("the bank is back")
        user.find(marker="go").click()
        await user.should_see("type 3 to confirm", retries=100)
        assert not sent
        user.find(marker="count").type("3")
        user.find(marker="go").click()
        await user.should_see(marker="ended", retries=100)

    visit(console(deployed), act)
    assert len(sent) == 3


def test_the_submitter_was_told_what_the_order_says() -> None:
    life = Life("ord-1").start(0).answer("reserve", 10).answer("charge", 20, "declined")
    assert list(told(life.task, SUBMITTED)) == []
    lines = list(told(replace(life.task, reply_to="https://sqs/replies"), SUBMITTED))
    assert [line.partition("  ")[2] or line for line in lines] == [
        "in the queue https://sqs/replies:",
        "received ",
        "step-completed reserve",
        "now: failed",
    ]


def test_a_signal_for_many_is_of_one_workflow_and_names_its_step(deployed: Deployed) -> None:
    async def act(user: User) -> None:
        await user.open("/orders?where=workflow%3Dline")
        await user.should_see("3 shown", retries=100)
        user.find(marker="every").click()
        await user.should_see("It would be given to 3:", retries=100)
        user.find(marker="command").click()
        user.find("signal").click()
        await user.should_see("name the step that waits for it", retries=100)
        user.find(marker="step").type("approval")
        await user.should_see("3  refused: 'approval'", retries=100)

    visit(console(deployed), act)
    given = Bulk("signal", "b-1", "ann", "", "approval", {"by": "ann"})
    with pytest.raises(Rejected, match="one of line, gifts"):
        Asking(console(deployed), Filter(), None).checked(given)
    assert Asking(console(deployed), Filter.parse("workflow=gifts"), None).checked(given) == given


def test_what_needs_somebody_leads_to_the_orders_that_do(deployed: Deployed) -> None:
    async def act(user: User) -> None:
        await user.open("/")
        await user.should_see("line orders in Error", retries=100)
        user.find("line orders in Error").click()
        await user.should_see("3 shown", retries=100)

    visit(console(deployed), act)


@pytest.mark.parametrize(
    ("reason", "where"),
    [
        ("charge: refused with card_declined", "state=Error step=charge 'reason=charge: refused with card_declined'"),
        ("charge: refused for order 17", "state=Error step=charge"),
    ],
)
def test_a_card_leads_to_the_orders_that_it_counts(reason: str, where: str) -> None:
    """Those that failed at the same step for another reason would get the same command."""
    need = Need(Rank.ERROR, "line orders in Error", 3, SUBMITTED, reason, ("find", "state=Error", "step=charge"))
    assert _address(need) == orders_address(where)
