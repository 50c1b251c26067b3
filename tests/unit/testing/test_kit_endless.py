"""What no attempt can mend ends a test at once, and says what to do."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from stepward import App, Call, Step, Workflow, minutes, service_url
from stepward.service_urls import ADDRESSES
from stepward.testing import Engine, crash_points, worlds
from tests.unit.testing.shop import ORDER, bank


@bank.operation
def unwired(_: Call) -> Mapping[str, Any]:
    return {"url": service_url("bank")}


@bank.operation
def wrong(call: Call) -> Mapping[str, Any]:
    return {"amount": call.order["amuont"]}


def of(operation: Any) -> App:
    return App("shop", workflows=[Workflow("paying", 1, [Step(operation, complete_within=minutes(1))])])


def several(app: App, order: Mapping[str, Any]) -> None:
    """Code that several orders meet is no order's fault, so none of them fails."""
    with Engine(app) as engine:
        for number in range(4):
            engine.submit(None, {**order, "orderId": f"ord-{number}"})
        engine.run()


UNSET = f"Misconfigured: {ADDRESSES} is not set"


@pytest.mark.parametrize(
    ("play", "operation", "says"),
    [
        (several, unwired, UNSET),
        (crash_points, unwired, UNSET),
        (lambda app, order: worlds(app, order, seeds=2), unwired, UNSET),
        (several, wrong, "KeyError: 'amuont'"),
    ],
)
def test_a_test_that_could_only_go_on_for_ever_ends_with_the_cause(
    play: Callable[[App, Mapping[str, Any]], object], operation: Any, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a failure is uncounted: an order in flight waits for a deployment that mends it, and a test gets none."""
    monkeypatch.delenv(ADDRESSES, raising=False)

    with pytest.raises(AssertionError, match=rf"was attempted \d\d times, and would be for ever: {says}") as found:
        play(of(operation), ORDER)

    assert "engine.service(OPERATION).returns" in str(found.value)


def test_no_part_of_the_kit_shows_all_that_happened_in_it() -> None:
    """Trap: at Ctrl-C pytest shows the arguments of each frame; of a long run they were hundreds of megabytes."""
    with Engine(of(unwired)) as engine:
        engine.submit(None, ORDER)
        engine.clock.move(600)
        shown = (engine, engine.parts, engine.pump, engine.services, engine.parts.judge, engine.pump.lines["orders"])

        assert max(len(repr(each)) for each in shown) < 1_000
