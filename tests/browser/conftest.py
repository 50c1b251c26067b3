"""The example's stack on the local cloud, a console of it in a process of its own, and a real browser.

`make browser-test` puts the browser's driver on the import path; without it there is nothing to collect here.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from tests.browser.served import served
from tests.browser.shop import Shop, opened

if TYPE_CHECKING:
    from tests.browser.window import Window

collect_ignore_glob = [] if find_spec("selenium") else ["test_*.py"]


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """The stack, with orders that failed, wait and stand still."""
    with opened(tmp_path_factory.mktemp("shop")) as made:
        yield made


@pytest.fixture(scope="session")
def address(shop: Shop) -> Iterator[str]:
    """Where the console is, with its token."""
    with served(shop.endpoint) as printed:
        yield printed


@pytest.fixture(scope="session")
def browser(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    from tests.browser.window import window  # noqa: PLC0415 - only where its driver is

    with window(address, tmp_path_factory.mktemp("profile")) as opened_window:
        yield opened_window


@pytest.fixture
def page(browser: Window) -> Iterator[Window]:
    """The browser; afterwards it has asked nobody but the console, and no script or policy has failed."""
    browser.forget()
    yield browser
    ours = (browser.address, browser.address.replace("http", "ws"), "data:", "blob:", "about:")
    assert [each for each in browser.asked() if not each.startswith(ours)] == []
    assert browser.complaints() == []
