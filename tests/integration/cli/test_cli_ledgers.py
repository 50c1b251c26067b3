import json
from pathlib import Path
from typing import Any

import boto3
import pytest

from stepward.local.access import Access
from tests.integration.cli.conftest import Run, Shop
from tests.unit.cli_convoy.lane_lives import entry

pytestmark = pytest.mark.cloud
ENTRIES = [entry(1, "create", "a"), entry(1, "create", "b"), entry(2, order_id="a", amount=5)]


def written(folder: Path, entries: list[Any], **said: str) -> str:
    path = folder / "today.json"
    path.write_text(json.dumps({"entries": entries, **said}))
    return str(path)


def test_a_small_ledger_goes_to_the_ledgers_as_one_message(run: Run, shop: Shop, tmp_path: Path) -> None:
    """C2."""
    result = run("ledger", "send", written(tmp_path, ENTRIES), "--customer", "shop", "--ledger-id", "l-1")

    assert "3 entries of 2 orders sent as ledger l-1 of shop" in result.stdout
    assert "stepward ledger show l-1 --customer shop" in result.stdout
    (body,) = shop.received(shop.connection.deployment.ledgers_queue_url)
    assert json.loads(body) == {"ledgerId": "l-1", "customerId": "shop", "entries": ENTRIES}


def test_a_customer_with_a_queue_of_its_own_has_its_ledgers_there(run: Run, shop: Shop, tmp_path: Path) -> None:
    """C7."""
    parts = shop.connection.deployment
    run("ledger", "send", written(tmp_path, ENTRIES, customerId="big-shop", ledgerId="l-1"))

    assert shop.received(parts.ledgers_queue_url) == []
    assert len(shop.received(parts.customer_ledger_queue_urls["big-shop"])) == 1


def test_a_large_ledger_is_put_into_the_bucket(run: Run, shop: Shop, tmp_path: Path, cloud_access: Access) -> None:
    """C3: one entry per line, and the message names the object."""
    path = tmp_path / "today.jsonl"
    path.write_text("".join(json.dumps(entry(position, amount="x" * 2_000)) + "\n" for position in range(1, 601)))
    summary = json.loads(run("ledger", "send", str(path), "--customer", "shop", "--json").stdout)

    assert (summary["entries"], summary["orders"], summary["sentAs"]) == (600, 1, "object")
    (body,) = shop.received(shop.connection.deployment.ledgers_queue_url)
    named = {name: summary[name] for name in ("ledgerId", "objectKey")}
    assert json.loads(body) == {"customerId": "shop"} | named
    s3 = boto3.client("s3", **cloud_access)
    found = s3.get_object(Bucket=shop.connection.deployment.ledgers_bucket, Key=summary["objectKey"])
    assert found["Body"].read() == path.read_bytes()


def test_an_invalid_entry_is_reported_and_with_check_nothing_is_sent(run: Run, shop: Shop, tmp_path: Path) -> None:
    """C6."""
    path = written(tmp_path, [*ENTRIES, entry(3, "modify", "a")], customerId="shop")

    checked = run("ledger", "send", path, "--check")
    assert checked.exit_code == 1
    assert "entry 3: modifies: is missing" in checked.stderr
    assert shop.received(shop.connection.deployment.ledgers_queue_url) == []

    sent = run("ledger", "send", path)
    assert sent.exit_code == 0
    assert "will stop its order's lane: entry 3" in sent.stderr
    assert len(shop.received(shop.connection.deployment.ledgers_queue_url)) == 1


def test_a_ledger_that_has_not_begun_says_where_it_may_be(run: Run) -> None:
    result = run("ledger", "show", "l-1", "--customer", "shop")
    assert result.exit_code == 1
    assert "may wait behind another ledger" in result.stderr
