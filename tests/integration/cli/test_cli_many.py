"""O1, O2: orders are found, and mended many at once, on a deployment whose tables and queues are real."""

from __future__ import annotations

import json

import pytest

from stepward.cli.terminal import OUT
from stepward.domain.task.record import ProcessState
from tests.integration.cli.conftest import Run, Shop
from tests.unit.cli.lives import SUBMITTED, Life


def fail(shop: Shop, count: int, error: str = "refused with card_declined", prefix: str = "ord") -> None:
    for number in range(count):
        life = Life(f"{prefix}-{number}").start(number * 1000)
        shop.store(life.answer("reserve", number * 1000 + 10).answer("charge", number * 1000 + 20, error))


def test_orders_are_found_by_what_is_known_of_them_the_newest_first(run: Run, shop: Shop) -> None:
    """O1: on the tables' own indexes."""
    fail(shop, 3)
    shop.store(Life("running").start(60_000))
    shop.store(Life("done").start(0).answer("reserve", 10).answer("charge", 20))

    found = json.loads(run("find", "state=error", "reason~declined", "--json").stdout)
    assert [each["orderId"] for each in found["orders"]] == ["ord-2", "ord-1", "ord-0"]
    assert found["orders"][0]["since"] == SUBMITTED + 2020
    assert (found["read"], found["more"], found["unanswered"]) == (3, False, None)
    assert [each["orderId"] for each in json.loads(run("find", "done", "--json").stdout)["orders"]] == ["done"]
    of_customer = json.loads(run("find", "customer=jane-doe-7", "--json").stdout)
    assert {each["orderId"] for each in of_customer["orders"]} == {"running", "ord-0", "ord-1", "ord-2"}
    scanned = json.loads(run("find", "customer=jane-doe-7", "--scan", "--json").stdout)
    assert [each["orderId"] for each in scanned["orders"]][-1] in {"done", "ord-0", "ord-1", "ord-2", "running"}
    assert len(scanned["orders"]) == 5


def test_a_search_names_what_it_cannot_answer_and_what_to_type(run: Run, shop: Shop) -> None:
    """O1: nothing scans unless it is asked to."""
    fail(shop, 3)
    said = run("find", "customer=jane-doe-7", "--limit", "2").stdout
    assert "2 found among" in said
    assert "no index lists all of a customer's" in said
    assert "stepward find customer=jane-doe-7 --scan --stack" in said
    after = said.partition("--after ")[2].partition("--stack")[0].strip().strip("'")
    assert "1 in all." in run("find", "customer=jane-doe-7", "--after", after).stdout
    assert "add --scan" in run("find", "state=processed").stderr
    assert "'stp=charge' is no condition" in run("find", "stp=charge").stderr


def test_the_newest_are_listed_however_many_there_are(run: Run, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue: with 87 orders, the two newest were not among the 50 shown."""
    monkeypatch.setattr("stepward.operator.scan.MOST_READ", 3)
    fail(shop, 6)
    listed = json.loads(run("list", "--limit", "2", "--json").stdout)
    assert len(listed["orders"]) == 2
    assert listed["more"]
    assert "--scan reads them all" in run("list").stdout
    shop.store(Life("newest").start(999_000))
    assert "newest" in run("list", "--limit", "10").stdout


def test_many_orders_run_again_by_their_reason_and_a_second_run_has_nothing_to_do(
    run: Run, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O2: the dry run sends nothing; each order keeps its own entry in the audit log, with the name of the bulk."""
    # No agent ends what runs again.
    monkeypatch.setattr("stepward.operator.bulk_orders._SETTLED", frozenset(ProcessState))
    fail(shop, 12)
    fail(shop, 2, "account closed", "other")
    where = ("--where", "step=charge reason~declined id^ord-")

    dry = json.loads(run("resubmit", *where, "--dry-run", "--json").stdout)
    assert (dry["count"], dry["oldest"]["orderId"]) == (12, "ord-0")
    assert dry["reasons"] == {"charge: refused with card_declined": 12}
    assert "12 would get the command to resubmit" in run("resubmit", *where, "--dry-run").stdout
    assert "give a reason" in run("resubmit", *where).stderr

    with shop.at_work():
        said = run("resubmit", *where, "--why", "limit raised", "--who", "ada", "--rate", "100", "--name", "cards")
    assert "Bulk cards: 12 applied." in said.stdout
    assert said.exit_code == 0
    entries = json.loads(run("audit-log", "ord-7", "--json").stdout)["entries"]
    assert [(each["who"], each["why"], each["applied"]) for each in entries] == [
        ("ada", "limit raised (bulk cards)", True)
    ]
    assert "Nothing matches" in run("resubmit", *where, "--why", "limit raised").stdout


def test_a_bulk_that_leaves_something_undone_does_not_end_with_0(run: Run, shop: Shop) -> None:
    """Issue: what was refused, or had no outcome, is no success."""
    fail(shop, 1)
    shop.connection.breakers.resume("payments", 1)
    shop.store(Life("ended").start(0).answer("reserve", 10).answer("charge", 20))
    result = run("pause", "--where", "id=ended", "--why", "x")
    assert (result.exit_code, "1 refused" in result.stdout) == (1, True)
    assert run("undo", "ord-0", "--where", "id=ended", "--why", "x").exit_code == 2


def test_the_status_says_what_needs_somebody(run: Run, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Nothing needs you." in run("status").stdout
    fail(shop, 3)
    monkeypatch.setattr(OUT, "width", 40)
    said = run("status").stdout
    assert "line orders in Error" in said
    assert "        stepward find state=Error step=charge --" in said  # in one line, to be copied
    document = json.loads(run("status", "--json").stdout)
    assert [(need["what"], need["count"]) for need in document["needs"]] == [("line orders in Error", 3)]
