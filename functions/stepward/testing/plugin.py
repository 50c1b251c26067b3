"""The pytest plugin: the fixture `engine`, and the timeline of every order beside a failed test."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:  # every run of pytest loads the plugin; only tests that use the kit load it
    from stepward.app.assembly import Application
    from stepward.testing.engine import Engine

LONGEST = 12_000
"""How many characters of a timeline are printed: the newest."""


@pytest.fixture
def app() -> Application:
    """The application under test; each project defines this fixture."""
    pytest.fail(
        "the fixture `engine` needs your application: define a fixture `app` that returns it, such as\n"
        "    @pytest.fixture\n"
        "    def app():\n"
        "        return orders.app",
        pytrace=False,
    )


@pytest.fixture
def engine(app: Application) -> Iterator[Engine]:
    """The whole engine in memory, with the application of the fixture `app`."""
    from stepward.testing.engine import Engine  # noqa: PLC0415 - as above

    with Engine(app) as found:
        yield found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Print the timeline of each order of an engine that the failed test used."""
    report = yield
    kit = sys.modules.get("stepward.testing.engine")
    if kit and call.when == "call" and report.failed:
        engines = [value for value in getattr(item, "funcargs", {}).values() if isinstance(value, kit.Engine)]
        orders = [order for engine in engines for order in engine.orders.values()]
        report.sections += [(f"the timeline of {order.order_id}", order.timeline[-LONGEST:]) for order in orders]
    return report
