"""O3: whatever stands in an order, an event, a message or a reason is text on the page; it runs nothing, and fits."""

from __future__ import annotations

import json

from stepward.domain.rejects import Reject
from stepward.domain.submission import Order
from stepward.domain.workflow.plan import Plan, PlannedStep
from tests.browser.shop import Shop, eventually, ledger
from tests.browser.test_commands import give
from tests.browser.window import OVERFLOW, Window
from tests.unit.cli.lives import Life

MARKUP = (
    '<script>window.taken=1</script><img src=x onerror="window.taken=1">'
    '{{constructor.constructor("window.taken=1")()}} [a](javascript:window.taken=1) **b** `c`'
)
MERMAID = 'x"] --> y; click s0 href "javascript:window.taken=1"; %%{init: {"securityLevel": "loose"}}%% #quot; end'
BACKWARDS = "\u202eabc\u0627\u0644\u0639\u0631\u0628\u064a\u0629\u2066"
LONG = "w" * 8_192
TEXTS = f"{MARKUP} {MERMAID} {BACKWARDS} {LONG}"


def test_hostile_texts_are_text_on_every_page(page: Window, shop: Shop) -> None:
    key = f"hostile-{shop.connection.new_id()[:8]}"
    _store(shop, key)
    for path, told in (
        ("/", [MARKUP[:60]]),
        ("/orders?where=id%5Ehostile", [key, MARKUP]),
        (f"/orders/{key}", [MARKUP, MERMAID[:60] + "\npayments." + MARKUP[:40]]),
        ("/stopped", [MARKUP[:60]]),
        (f"/lanes/{key}-lane", ["Event 2"]),
        ("/orders?where=" + MARKUP.replace("&", "").replace("#", ""), ["This cannot be shown"]),
        ("/orders/%3Cscript%3Ealert(1)", ["<script>alert(1)"]),
    ):
        page.open(path)
        page.see(*told)
        page.script("for (const each of document.querySelectorAll('[role=button][aria-expanded=false]')) each.click()")
        page.settles(OVERFLOW, f"no wider than the window: {path}")
        _nothing_ran(page)


def test_a_hostile_reason_is_text_in_the_audit_log(page: Window, shop: Shop) -> None:
    (key,) = shop.failing()
    page.open(f"/orders/{key}")
    give(page, "Pause the order", MARKUP, "is paused")
    page.see(f"ada: pause , {MARKUP} (applied)")
    page.settles(OVERFLOW, "no wider than the window")
    _nothing_ran(page)


def _nothing_ran(page: Window) -> None:
    assert page.script("return window.taken") is None
    assert (
        page.script("return document.querySelectorAll('img[src=x], script[onerror], a[href^=javascript]').length") == 0
    )


def _store(shop: Shop, key: str) -> None:
    """An order, a reject and a lane, full of such texts: an error of a service, a plan, a body, an event."""
    step = PlannedStep(MERMAID[:60], "payments", MARKUP[:80], (), 10_000, 3)
    plan = Plan("fulfilment", 99, (step,))
    life = Life(key, plan).start(0).answer(step.name, 20, TEXTS)
    store = shop.connection.store
    first = Life(key, plan).task
    store.submit(Order(key, json.dumps({"orderId": key, "customerId": TEXTS}), "hash"), first, plan)
    assert store.save(life.task, replaces=first)
    shop.connection.rejects.keep(Reject("hostile", MARKUP, shop.connection.now(), MARKUP, TEXTS, TEXTS))
    create, *_ = ledger()["entries"]
    wrong = {"orderId": f"{key}-lane", "sequence": 2, "op": MARKUP, "amount": TEXTS}
    entries = [{**create, "orderId": f"{key}-lane"}, wrong]
    shop.stage.send_ledgers([{**ledger(), "ledgerId": key, "entries": entries}], first=9)
    eventually(lambda: (lane := shop.connection.lanes.load(f"{key}-lane")) and lane.blocked)
