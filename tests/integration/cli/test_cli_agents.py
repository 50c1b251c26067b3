import json

import pytest

from stepward.domain.coordination.blame import Blame, Suspect
from stepward.domain.coordination.breaker import AgentPause, Breaker, Mode, may_probe
from tests.integration.cli.conftest import Run, Shop
from tests.unit.cli.lives import UNDOABLE, Life

pytestmark = pytest.mark.cloud


def test_an_agent_is_paused_and_resumed_and_a_double_click_changes_nothing(run: Run, shop: Shop) -> None:
    """S20, S21: an operator has an agent leave its service alone."""
    first = run("pause", "--agent", "payments", "--why", "the bank is down", "--who", "ada")
    second = json.loads(run("pause", "--agent", "payments", "--why", "again", "--who", "eve", "--json").stdout)
    listed = run("agents")

    assert "resume --agent payments" in first.stdout
    assert second == {"agent": "payments", "paused": True, "who": "ada", "why": "the bank is down", "changed": False}
    assert "by ada" in listed.stdout
    assert shop.connection.breakers.of("payments").pause is not None

    assert "works again" in run("resume", "--agent", "payments").stdout
    assert "was not paused" in run("resume", "--agent", "payments").stdout
    assert shop.connection.breakers.of("payments").pause is None


def test_an_open_breaker_is_told_to_try_again_at_once(run: Run, shop: Shop) -> None:
    """S13, S20: and a click too many says that there is nothing to do."""
    breakers, now = shop.connection.breakers, shop.connection.now()
    breakers.change("payments", lambda _: Breaker(Mode.OPEN, openings=3, since=now, until=now + 300_000))

    first = run("resume", "--agent", "payments").stdout

    assert "The breaker of payments was open; the next request tries the service at once." in first
    assert may_probe(breakers.of("payments"), shop.connection.now())
    breakers.change("payments", lambda _: Breaker())
    second = json.loads(run("resume", "--agent", "payments", "--json").stdout)
    assert (second["breaker"], second["changed"]) == ("closed", False)
    assert "its breaker is closed. Nothing was changed" in " ".join(run("resume", "--agent", "payments").stdout.split())


def test_a_defect_is_shown_with_its_agent_and_with_the_orders_that_wait_for_it(run: Run, shop: Shop) -> None:
    """S20: with the exception, where it rose, and that no order is to blame."""
    shop.store(Life(plan=UNDOABLE).start(0))
    suspect = Suspect("reserve", "KeyError", "shop.py:7 reserve", "KeyError: 'x'", since=1, orders=("a", "b", "c"))
    shop.connection.breakers.change("inventory", lambda _: Breaker(blame=Blame((suspect,))))

    for shown in (run("agents").stdout, run("show", "ord-1").stdout):
        text = " ".join(shown.split())
        assert "Agent inventory fails: reserve raises KeyError: 'x' at shop.py:7 reserve, in 3 orders since" in text
        assert "no order's failure is counted" in text
    (document,) = [
        each for each in json.loads(run("agents", "--json").stdout)["agents"] if each["agent"] == "inventory"
    ]
    assert document["defects"][0]["error"] == "KeyError: 'x'"


def test_the_agents_are_listed_with_their_breakers(run: Run, shop: Shop) -> None:
    """S20: where each breaker stands, and since when."""
    now = shop.connection.now()
    opened = Breaker(Mode.OPEN, openings=1, since=now - 5_000, until=now + 25_000)
    shop.connection.breakers.change("payments", lambda _: opened)

    text = run("agents").stdout
    by_name = {each["agent"]: each for each in json.loads(run("agents", "--json").stdout)["agents"]}

    assert "then one probe" in " ".join(text.split())
    assert sorted(by_name) == ["inventory", "payments", "shipping"]
    assert (by_name["payments"]["breaker"], by_name["payments"]["since"]) == ("open", now - 5_000)
    assert (by_name["inventory"]["breaker"], by_name["inventory"]["since"]) == ("closed", None)


def test_an_order_that_waits_for_a_stopped_agent_says_so(run: Run, shop: Shop) -> None:
    """An operator who looks at an order learns that its agent was paused, or that its service fails."""
    shop.store(Life(plan=UNDOABLE).start(0))
    shop.store(Life("ord-2").start(0).answer("reserve", 1_000).answer("charge", 2_000))
    breakers, now = shop.connection.breakers, shop.connection.now()
    breakers.change("inventory", lambda _: Breaker(Mode.OPEN, since=now, until=now + 9_000))
    failing = run("show", "ord-1").stdout
    breakers.pause("inventory", AgentPause("ada", "stocktaking", now))

    assert "The service of inventory fails: its breaker is open since" in failing
    assert "ada paused agent inventory: stocktaking. To resume it: stepward resume" in run("show", "ord-1").stdout
    assert "inventory" not in run("show", "ord-2").stdout


def test_an_agent_that_is_not_there_is_named_with_those_that_are(run: Run) -> None:
    result = run("pause", "--agent", "paint", "--why", "x")

    assert result.exit_code == 1
    assert "there is no agent paint" in result.stderr
    assert "inventory, payments, shipping" in result.stderr
