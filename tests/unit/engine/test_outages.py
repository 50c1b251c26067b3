"""A service that is down for a while, from the first failure to the last order done: the parts together."""

from collections.abc import Iterator

import pytest

from stepward.app.agent.breakers import Breakers
from stepward.domain.coordination.breaker import AgentPause, Limits
from stepward.domain.history import HistoryKind
from stepward.testing import Engine, Order, Settings
from tests.factories import SECOND, T0, sequence
from tests.planned_app import PlannedApp

LIMITS = Limits(failures=2, open_for=10 * SECOND, longest=20 * SECOND)
APP = PlannedApp(sequence("reserve", "ship"))
RESERVE = APP.known["worker", "reserve"]


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(APP, Settings(breaker=LIMITS)) as engine:
        yield engine


@pytest.fixture
def order(engine: Engine) -> Order:
    return engine.submit(None, {})


def test_an_outage_of_an_hour_uses_up_no_failure_and_few_calls(engine: Engine, order: Order) -> None:
    """S5, S13: the breaker is open far beyond complete-by and threshold, and no operator is alerted to each order."""
    service = engine.service(RESERVE).fails(times=None)
    engine.submit(None, {})

    engine.clock.move(59 * 60)
    assert order.step(RESERVE).failure_count == 0
    assert order.step(RESERVE).process_state != "Error"
    assert len(service.calls) < 59 * 60 * SECOND // LIMITS.longest + 10

    engine.clock.move(60)
    service.works()
    engine.clock.move(5 * 60)
    assert order.step(RESERVE).process_state == "Processed"
    assert engine.alerts == []
    assert engine.parts.telemetry.count(HistoryKind.BREAKER_CLOSED) == 1


@pytest.mark.parametrize("seconds", [30, 50, 40 * 60])
def test_a_paused_agent_uses_up_no_failure_and_goes_on_once_resumed(engine: Engine, order: Order, seconds: int) -> None:
    """S13."""
    breakers = Breakers(engine.parts.shared_records)
    breakers.pause("worker", AgentPause("ada", "the bank works on it", T0))

    engine.clock.move(seconds)
    assert (engine.calls, order.step(RESERVE).failure_count) == ([], 0)

    breakers.resume("worker", engine.clock.now)
    engine.clock.move(3 * 60)
    assert order.step(RESERVE).failure_count == 0
    assert order.step(RESERVE).process_state == "Processed"
    assert engine.alerts == []
