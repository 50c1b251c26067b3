import json

import pytest

from stepward.domain.rejects import Reject
from tests.integration.cli.conftest import Run, Shop

pytestmark = pytest.mark.cloud


def store_rejects(shop: Shop, count: int) -> None:
    now = shop.connection.now()
    for number in range(count):
        reject = Reject(f"m{number}-0000", "orders", now - 1000 + number, "items", "is missing", f"bödy {number}\r\n")
        shop.connection.rejects.keep(reject)


def test_rejects_are_listed_newest_first_without_their_bodies(run: Run, shop: Shop) -> None:
    store_rejects(shop, 3)

    listed, some = json.loads(run("rejects", "--json").stdout), run("rejects", "--limit", "2")

    assert [reject["messageId"] for reject in listed["rejects"]] == ["m2-0000", "m1-0000", "m0-0000"]
    assert listed["rejects"][0]["field"] == "items"
    assert "body" not in listed["rejects"][0]
    assert "there are more" in some.stdout
    assert "m0-0000" not in some.stdout


def test_the_body_of_a_reject_comes_back_byte_for_byte(run: Run, shop: Shop) -> None:
    """A rejected message is stored whole, so that it can be corrected and sent again."""
    store_rejects(shop, 2)

    assert run("rejects", "m1", "--body").stdout_bytes == "bödy 1\r\n".encode()
    assert json.loads(run("rejects", "m1", "--body", "--json").stdout)["rejects"][0]["body"] == "bödy 1\r\n"
    assert "bödy" not in run("rejects", "m1").stdout


def test_a_large_body_is_shown_and_saved_like_any_other(run: Run, shop: Shop) -> None:
    """S18: from its object in the bucket."""
    large = Reject("m-large", "orders", shop.connection.now(), "items", "is missing", "ö" * 10_000)
    shop.connection.rejects.keep(large)

    assert shop.connection.rejects.newest(1)[0].kept_at
    assert "10,000 characters" in run("rejects", "m-large").stdout
    assert run("rejects", "m-large", "--body").stdout_bytes == large.body.encode()
    assert json.loads(run("rejects", "--body", "--json").stdout)["rejects"][0]["body"] == large.body


def test_a_reject_that_is_not_there_or_not_clear_is_refused(run: Run, shop: Shop) -> None:
    store_rejects(shop, 2)

    assert "the ids of 2 rejected messages begin with m" in run("rejects", "m").stderr
    assert "no rejected message has an id that begins with x" in run("rejects", "x").stderr
    assert run("rejects", "--body").exit_code == 2


def test_no_rejects_is_said_so(run: Run) -> None:
    assert "has rejected no message" in run("rejects").stdout


def test_a_reject_says_how_its_corrected_body_is_sent(run: Run, shop: Shop) -> None:
    """K5: each by the command that reads it as it is."""
    parts, now = shop.connection.deployment, shop.connection.now()
    names = [url.rpartition("/")[2] for url in (parts.orders_queue_url, parts.ledgers_queue_url)]
    for source, command in [
        (names[0], "stepward send order.json"),
        (names[1], "stepward ledger send order.json"),
        ("ledger of c-1", "stepward ledger send order.json --customer c-1"),
        ("the order's lane", "stepward ledger send order.json --customer CUSTOMER"),
    ]:
        shop.connection.rejects.keep(Reject(f"m-{len(source)}", source, now, "items", "is missing", "{}"))
        assert command in run("rejects", f"m-{len(source)}").stdout
    shop.connection.rejects.keep(Reject("m-x", "scheduler", now, "type", "is unknown", "{}"))
    assert "send order.json" not in run("rejects", "m-x").stdout
