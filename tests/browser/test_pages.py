"""O3: each page with real data, in a real browser: large and small, dark and light, with the keyboard alone."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.keys import Keys

from tests.browser.shop import RETURN, Shop
from tests.browser.window import OVERFLOW, Window

PAGES = {
    "/": [
        "What needs you, the worst first",
        "fulfilment orders in Error",
        "lanes blocked",
        "lane with a gap",
        "payments: closed",
    ],
    "/orders": ["ord-0", "refused with declined", "read"],
    "/orders/ord-0": ["Order ord-0", "charge ended in Error", "inventory.reserve", "Nobody has given a command"],
    f"/orders/{RETURN}": ["returns version 1", "goods", "cooling-off"],
    "/stopped": ["event 2 has not arrived", "orders: 1", "Invalid enum value 'multiply'"],
    "/lanes/poison-1": ["Lane of order poison-1", "blocked", "Event 2: unknown, stops the lane"],
}
SIZES = {"a small window at 200 percent": 640, "a telephone": 375}
GROUND = "return getComputedStyle(document.body).backgroundColor"
DIM = """
const dot = Object.assign(document.createElement("canvas"), {width: 1, height: 1}).getContext("2d");
const rgb = colour => {
  dot.clearRect(0, 0, 1, 1);
  dot.fillStyle = colour;
  dot.fillRect(0, 0, 1, 1);
  const [r, g, b, alpha] = dot.getImageData(0, 0, 1, 1).data;
  return [r, g, b, alpha / 255];
};
const light = c => [0, 1, 2].map(i => c[i] / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
const over = (top, below) => { const a = top[3] ?? 1; return [0, 1, 2].map(i => a * top[i] + (1 - a) * below[i]); };
const behind = element => {
  if (!element) return [255, 255, 255];
  const own = rgb(getComputedStyle(element).backgroundColor);
  return (own[3] ?? 1) === 1 ? own : over(own, behind(element.parentElement));
};
const opacity = element => element ? getComputedStyle(element).opacity * opacity(element.parentElement) : 1;
const dim = [];
for (const element of document.querySelectorAll("#app *:not(svg *)")) {
  const own = [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
  if (!own || !element.checkVisibility() || element.closest(".q-icon, style, script, [disabled]")) continue;
  const back = behind(element), front = rgb(getComputedStyle(element).color);
  const [a, b] = [light(over([...front.slice(0, 3), (front[3] ?? 1) * opacity(element)], back)), light(back)];
  const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (contrast < 4.5) dim.push(`${contrast.toFixed(1)} ${element.textContent.trim().slice(0, 60)}`);
}
return dim;
"""
"""The texts whose contrast with what is behind them is less than 4.5, which WCAG asks for."""


@pytest.mark.parametrize("path", PAGES)
def test_each_page_shows_real_data_that_can_be_read(page: Window, path: str) -> None:
    page.open(path)
    for scheme, ground in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(18, 18, 18)")):
        page.prefer(scheme)
        page.see(*PAGES[path])
        page.wait(lambda: page.script(GROUND) == ground, f"a {scheme} page")  # noqa: B023 - it waits here
        page.settles(DIM, f"readable in {scheme}")


@pytest.mark.parametrize("path", PAGES)
def test_each_page_fits_a_narrow_window(page: Window, path: str) -> None:
    page.open(path)
    page.see(*PAGES[path])
    try:
        for size, width in SIZES.items():
            page.narrow(width)
            page.wait(lambda: page.script("return innerWidth") == width, size)  # noqa: B023 - it waits here
            page.settles(OVERFLOW, f"as narrow as {size}")
    finally:
        page.narrow(0)


def test_an_order_is_found_and_mended_with_the_keyboard_alone(page: Window, shop: Shop) -> None:
    (key,) = shop.failing()
    page.open("/")
    page.see("Agents")
    page.keys("/")
    page.wait(lambda: page.focus("aria-label") == "Order id, or a filter", "the focus in the search field")
    page.keys(key, Keys.ENTER)
    page.see("1 shown")
    page.tab_to(key)
    page.keys(Keys.ENTER)
    page.see(f"Order {key}")
    page.tab_to("Resubmit charge")
    page.keys(Keys.ENTER)
    page.see("charge: Error → Processing")
    page.wait(lambda: page.focus("aria-label") == "Why, for the audit log", "the focus in the reason")
    page.keys("the card is good now", Keys.ENTER)
    page.see("ada: resubmit charge, the card is good now (applied)")
    shop.becomes(key, "Processed")
