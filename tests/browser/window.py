"""A real browser, as a person uses it: by what stands on the page, and with explicit waits only."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from selenium.common.exceptions import (
    ElementClickInterceptedException,
    ElementNotInteractableException,
    NoSuchElementException,
    StaleElementReferenceException,
    TimeoutException,
)
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

T = TypeVar("T")
WITHIN_S = 20.0
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
)
OVERFLOW = """
const width = document.documentElement.clientWidth;
if (document.documentElement.scrollWidth <= width) return [];
return [...document.querySelectorAll("#app *")].filter(each => each.getBoundingClientRect().right > width + 1)
  .map(each => `${each.tagName}.${each.className}: ${each.textContent.slice(0, 40)}`);
"""
"""What reaches beyond the right edge, if the page has to be scrolled sideways for it."""
NOT_YET = (
    ElementClickInterceptedException,
    ElementNotInteractableException,
    NoSuchElementException,
    StaleElementReferenceException,
)
"""A page draws itself anew while it is looked at."""


@dataclass(frozen=True)
class Window:
    """A window of the browser on the console at `address`, which has no path."""

    driver: Any
    address: str
    handle: str

    def open(self, path: str) -> None:
        """Go to a page of the console."""
        self.driver.get(self.address + path)

    def wait(self, look: Callable[[], T | None], what: str) -> T:
        """What `look` finds, once it finds something."""
        waiting: Any = WebDriverWait(self.driver, WITHIN_S, poll_frequency=0.05, ignored_exceptions=NOT_YET)
        try:
            found: T = waiting.until(lambda _: look())
        except TimeoutException:
            raise AssertionError(f"never: {what}; the page says:\n{self.text()[-3000:]}") from None
        return found

    def text(self) -> str:
        """Everything that can be read on the page."""
        return str(self.script("return document.body.innerText"))

    def see(self, *texts: str) -> None:
        """Wait until these stand on the page."""
        for text in texts:
            self.wait(lambda text=text: text in self.text(), text)  # type: ignore[misc]

    def find(self, css: str) -> Any:
        """The first element of this selector that is there, and is shown."""
        return self.wait(lambda: next((e for e in self.all(css) if e.is_displayed()), None), css)

    def all(self, css: str) -> list[Any]:
        """Every element of this selector."""
        return list(self.driver.find_elements(By.CSS_SELECTOR, css))

    def press(self, name: str) -> None:
        """Click the button or the link of this text, as soon as there is one."""
        path = f"//*[self::button or self::a][normalize-space(.)={json.dumps(name)}]"

        def click() -> bool:
            found = self.driver.find_element(By.XPATH, path)
            self.script("arguments[0].scrollIntoView({block: 'center'})", found)  # else the bar on top may cover it
            found.click()
            return True

        self.wait(click, f"a button or link {name}")

    def press_in_dialog(self, name: str) -> None:
        """Click the button of this text in the dialog."""
        path = f"//*[@role='dialog']//button[normalize-space(.)={json.dumps(name)}]"
        self.wait(lambda: self.driver.find_element(By.XPATH, path).click() or True, f"a button {name} in the dialog")

    def tick(self, order: str) -> None:
        """Mark the row of this order."""
        path = f"//tr[.//a[normalize-space(.)={json.dumps(order)}]]//*[@role='checkbox']"

        def click() -> bool:
            box = self.driver.find_element(By.XPATH, path)
            if box.get_attribute("aria-checked") != "true":
                self.script("arguments[0].scrollIntoView({block: 'center'})", box)
                box.click()
            return bool(self.driver.find_element(By.XPATH, path).get_attribute("aria-checked") == "true")

        self.wait(click, f"the row of {order}, marked")

    def gone(self, label: str) -> None:
        """Wait until the field of this label is gone."""
        self.wait(lambda: not self.all(f"[aria-label={json.dumps(label)}]"), f"no field {label}")

    @contextmanager
    def another(self) -> Iterator[Window]:
        """Another window of the same browser, for a second person."""
        mine = self.driver.current_window_handle
        self.driver.switch_to.new_window("window")
        yield replace(self, handle=self.driver.current_window_handle)
        self.driver.close()
        self.driver.switch_to.window(mine)

    def come_to_front(self) -> None:
        """Have the person at this window act."""
        self.driver.switch_to.window(self.handle)

    def write(self, label: str, text: str) -> None:
        """Type into the field of this label, in place of what it has."""

        def put() -> bool:
            field = self.find(f"[aria-label={json.dumps(label)}]")
            field.send_keys(Keys.CONTROL, "a")
            field.send_keys(text)
            return bool(field.get_property("value") == text.removesuffix(Keys.ENTER) or text.endswith(Keys.ENTER))

        self.wait(put, f"a field {label}")

    def keys(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        self.driver.switch_to.active_element.send_keys(*keys)

    def focus(self, attribute: str) -> str | None:
        """An attribute of what has the focus."""
        found: str | None = self.driver.switch_to.active_element.get_attribute(attribute)
        return found

    def tab_to(self, name: str) -> None:
        """Press the tab key until what has this text has the focus."""
        for _ in range(100):
            self.keys(Keys.TAB)
            if self.driver.switch_to.active_element.text.strip() == name:
                return
        raise AssertionError(f"no tab leads to {name}")

    def prefer(self, scheme: str) -> None:
        """Have the system be dark or light."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def narrow(self, width: int) -> None:
        """Make the page so many pixels wide; 0 is as wide as the window."""
        size = {"width": width, "height": 0, "deviceScaleFactor": 0, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def settles(self, script: str, what: str) -> None:
        """Wait until the script lists nothing any more; `what` the page is then."""
        try:
            self.wait(lambda: self.script(script) == [], what)
        except AssertionError:
            raise AssertionError(f"never {what}: {self.script(script)}") from None

    def script(self, text: str, *given: object) -> Any:
        """What a script answers in the page."""
        return self.driver.execute_script(text, *given)

    def asked(self) -> Iterator[str]:
        """The addresses that the browser asked for since this was called last."""
        for line in self.driver.get_log("performance"):
            said = json.loads(line["message"])["message"]
            if said["method"] in {"Network.requestWillBeSent", "Network.webSocketCreated"}:
                yield said["params"].get("url") or said["params"]["request"]["url"]

    def complaints(self) -> list[str]:
        """Errors of scripts, and what a policy refused, since this was called last."""
        return [each["message"] for each in self.driver.get_log("browser") if each["level"] == "SEVERE"]

    def forget(self) -> None:
        """Leave the page, and forget what it asked for and complained of."""
        self.driver.get("about:blank")
        list(self.asked())
        self.complaints()

    def picture(self, file: Path) -> None:
        """Save what the window shows."""
        file.parent.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(file))


@contextmanager
def window(address: str, profile: Path, *, width: int = 1280, height: int = 900) -> Iterator[Window]:
    """A browser with nothing remembered; `address` has the token in it."""
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or "chromium"
    for each in (*OPTIONS, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
        options.add_argument(each)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    service = Service(shutil.which("chromedriver") or "chromedriver", env=dict(os.environ))
    driver: Any = Chrome(options=options, service=service)
    try:
        driver.set_page_load_timeout(WITHIN_S)
        driver.get(address)
        yield Window(driver, address.partition("/?")[0], driver.current_window_handle)
    finally:
        driver.quit()
