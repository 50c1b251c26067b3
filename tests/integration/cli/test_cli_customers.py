"""Orders that are addressed by workflow and customer, too."""

import json

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
