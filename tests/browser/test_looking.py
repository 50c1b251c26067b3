"""O3: who may only look does no more: the console shows no command, and what AWS refuses is a sentence."""

from __future__ import annotations

from pathlib import Path

from tests.browser.forwarded import Forwarded, forwarded
from tests.browser.served import served
from tests.browser.shop import Shop
from tests.browser.test_commands import WHY
from tests.browser.window import window

CHANGES = {"SendMessage", "SendMessageBatch", "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "Publish"}


def test_a_read_only_console_has_no_command_on_any_page(shop: Shop, tmp_path: Path) -> None:
    way = Forwarded(shop.endpoint)
    with forwarded(way) as endpoint, served(endpoint, "--read-only") as address, window(address, tmp_path) as page:
        for path, told in (
            ("/", "Agents"),
            ("/orders", "shown"),
            ("/orders/ord-0", "Audit log"),
            ("/lanes/poison-1", "Event 2"),
            ("/stopped", "Rejected messages"),
        ):
            page.open(path)
            page.see(told, "ada, read only")
            assert (len(page.all("main")), page.all("main button")) == (1, []), path
    assert not CHANGES & set(way.asked)


def test_what_aws_refuses_is_said_in_a_sentence(shop: Shop, tmp_path: Path) -> None:
    way = Forwarded(shop.endpoint, refused=set(CHANGES))
    with forwarded(way) as endpoint, served(endpoint) as address, window(address, tmp_path) as page:
        page.open("/orders/ord-0")
        page.press("Resubmit charge")
        page.write(WHY, "only looking")
        page.press_in_dialog("Resubmit")
        page.see("Failed: ", "AccessDenied")
        assert shop.steps("ord-0")["charge"] == "Error"
        way.refused.add("Query")
        page.open("/")
        page.see("This cannot be shown", "AccessDenied", "The page tries again by itself.")
        way.refused.remove("Query")
        page.see("Agents")
