"""Orders that are addressed by workflow and customer, too."""

import json
from pathlib import Path

import pytest

from stepward.domain.messages import Cancel
from stepward.wire.messages import decode_for_scheduler
from tests.integration.cli.conftest import Run, Shop
from tests.unit.cli.lives import Life, failed

pytestmark = pytest.mark.cloud
KEY = "gifts~jane-doe-7~ord-1"
ADDRESS = ["ord-1", "--workflow", "gifts", "--customer", "jane-doe-7"]


@pytest.mark.parametrize("words", [ADDRESS, [KEY]])
def test_an_order_is_shown_by_its_address_or_its_key(run: Run, shop: Shop, words: list[str]) -> None:
    shop.store(failed())
    shop.store(Life(KEY).start(10))

    shown = json.loads(run("show", *words, "--json").stdout)
    assert (shown["orderId"], shown["customerId"], shown["state"]) == ("ord-1", "jane-doe-7", "Processing")
    assert "Order ord-1 (customer jane-doe-7)" in run("show", *words).stdout
    assert json.loads(run("show", "ord-1", "--json").stdout)["customerId"] is None


def test_a_list_names_workflow_and_customer(run: Run, shop: Shop) -> None:
    shop.store(failed())
    shop.store(Life(KEY).start(10))

    found = json.loads(run("list", "--json").stdout)["orders"]
    assert {(each["orderId"], each["workflow"], each["customerId"]) for each in found} == {
        ("ord-1", "line", None),
        ("ord-1", "gifts", "jane-doe-7"),
    }


@pytest.mark.parametrize("options", [[], ["--needs-attention"]])
def test_a_list_may_be_of_one_workflow(run: Run, shop: Shop, options: list[str]) -> None:
    """W1: with several, each line says which one, and every workflow has to be one of the application's."""
    shop.store(failed())
    shop.store(Life(KEY).start(10).answer("reserve", 20, "sold out").alerted("reserve", 30))

    found = {name: run("list", *options, "--workflow", name) for name in ("line", "gifts", "refunds")}

    shown = {name: " ".join(result.stdout.split()) for name, result in found.items()}
    assert "gifts Error" in shown["gifts"]
    assert "ord-1 line Error" in shown["line"]
    assert all("1 in all." in shown[name] for name in ("line", "gifts"))
    assert "--workflow: is 'refunds'; there are line, gifts" in found["refunds"].stderr


def test_the_first_of_the_sent_orders_is_named_in_its_workflow(run: Run, tmp_path: Path) -> None:
    """W1: and a type that the deployment does not know is found before anything is sent."""
    gift = {"orderId": "a", "type": "gift.submitted", "version": 1, "submittedAt": "2026-01-01T00:00:00Z"}
    (file := tmp_path / "gift.json").write_text(json.dumps({**gift, "customerId": "jane"}))
    assert "To see the first: stepward show 'gifts~jane~a'" in run("send", str(file), "--check").stdout

    named = {"orderId": "a", "workflow": "gifts", "customerId": "jane"}
    for message in ({"type": "order.cancelled"}, {"type": "order.signal", "name": "paid", "signalId": "1", "data": {}}):
        file.write_text(json.dumps(named | message))
        assert "To see the first: stepward show 'gifts~jane~a'" in run("send", str(file), "--check").stdout

    file.write_text(json.dumps({**gift, "type": "present.submitted"}))
    refused = run("send", str(file), "--check")
    assert (refused.exit_code, "is 'present.submitted'; an order's is order.submitted or gift" in refused.stderr) == (
        1,
        True,
    )


def test_a_command_goes_to_the_order_of_that_customer(run: Run, shop: Shop) -> None:
    shop.store(Life(KEY).start(10))

    result = run("cancel", *ADDRESS, "--why", "fixed", "--who", "alex", "--no-wait")

    assert f"To see the order: stepward show {KEY}" in result.stdout.replace("'", "")
    (body,) = shop.received(shop.connection.deployment.scheduler_queue_url)
    assert decode_for_scheduler(body) == Cancel(KEY, "alex", "fixed")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--workflow", "gifts"], "--customer: is missing; the workflow gifts tells customers apart"),
        (["--workflow", "refunds"], "--workflow: is 'refunds'; there are line, gifts"),
        (["--customer", "globex"], "--customer: is 'globex'; the order is one of 'jane-doe-7'"),
        (["--customer", "globex", "--workflow", "gifts"], "no order ord-1 (customer globex) in stack"),
    ],
)
def test_an_address_that_is_wrong_is_said_so(run: Run, shop: Shop, words: list[str], complaint: str) -> None:
    shop.store(failed())

    refused = run("undo", "ord-1", *words, "--why", "fixed")

    assert (refused.exit_code, complaint in " ".join(refused.stderr.split())) == (1, True)
