"""From a ringing telephone to a mended order, among 10,000 of which 300 failed: counted, timed, and photographed.

It is `make screenshots`: docs/console.md shows what it saves.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import pytest
from selenium.webdriver.common.keys import Keys

from tests.browser.forwarded import Forwarded, forwarded
from tests.browser.seed import CALLER, seed
from tests.browser.served import served
from tests.browser.shop import ROOT, Shop, deployed_shop, eventually, ledger
from tests.browser.test_commands import WHY
from tests.browser.window import Window, window

pytestmark = pytest.mark.lab
PICTURES = ROOT / "docs" / "pictures"
LARGEST = 150_000
KEY = "ord-04957"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with deployed_shop(tmp_path_factory.mktemp("many"), customer_index_since="2026-01-01") as made:
        seed(made.connection)
        made.stage.send_ledgers([ledger()])
        made.stage.send(["not JSON"])
        eventually(lambda: len(list(made.connection.lanes.needing_attention())) == 4)
        yield made


def test_a_call_ends_with_a_mended_order(shop: Shop, tmp_path: Path) -> None:
    way = Forwarded(shop.endpoint)
    with forwarded(way) as endpoint, served(endpoint) as address, window(address, tmp_path) as page:
        page.prefer("light")
        began = monotonic()
        with _step(way, "Home"):
            page.open("/")
            page.see("refused with card_expired", "payments: closed")
        _picture(page, "home")
        with _step(way, "the caller's orders"):
            page.keys("/")
            page.write("Order id, or a filter", f"customer={CALLER}" + Keys.ENTER)
            page.see("3 shown", KEY)
        _picture(page, "orders")
        with _step(way, "the order"):
            page.press(KEY)
            page.see(f"Order {KEY}", "charge ended in Error", "inventory.reserve")
        _picture(page, "order")
        with _step(way, "the dry run"):
            page.press("Resubmit charge")
            page.see("charge: Error → Processing")
            page.write(WHY, "the caller has a new card")
        _picture(page, "command")
        with _step(way, "mended"):
            page.keys(Keys.ENTER)
            page.see(f"Order {KEY}\nProcessed")
        sys.stdout.write(f"from the telephone to the mended order: {monotonic() - began:.1f} s\n")
        page.press("Close")
        page.prefer("dark")
        page.gone(WHY)
        page.see("the caller has a new card (applied)")
        _picture(page, "mended")
        page.prefer("light")
        _others(page, way)
        page.open("/stopped")
        page.see("event 2 has not arrived")
        _picture(page, "stopped")


def _others(page: Window, way: Forwarded) -> None:
    """All that failed for the same reason as another, at once."""
    with _step(way, "the orders with one reason"):
        page.open("/orders?where=reason%7Eunknown_sku")
        page.see("30 shown")
    with _step(way, "the dry run of all"):
        page.press("Act on all that match")
        page.see("It would be given to 30:")
    page.write(WHY, "the goods have their numbers again")
    page.write("Type how many, to confirm", "30")
    _picture(page, "many")
    with _step(way, "all of them applied"):
        page.press_in_dialog("Do it")
        eventually(lambda: "30 applied" in page.text())


@contextmanager
def _step(way: Forwarded, name: str) -> Iterator[None]:
    """Say how long a step took, and what it asked of AWS."""
    began = monotonic()
    way.asked.clear()
    yield
    asked = ", ".join(f"{count} {action}" for action, count in sorted(way.asked.items()))
    sys.stdout.write(f"{name}: {monotonic() - began:.1f} s; {asked}\n")


def _picture(page: Window, name: str) -> None:
    file = PICTURES / f"console-{name}.png"
    page.picture(file)
    assert file.stat().st_size <= LARGEST, name
