"""A service that is down for a while, from the first failure to the last order done: the parts together."""

from collections.abc import Mapping
from typing import Any

import pytest

from stepward.app.agent.breakers import Breakers
from stepward.app.agent.guard import Guard
from stepward.domain.coordination.breaker import AgentPause, Limits
from stepward.domain.errors import RetryLater
from stepward.domain.history import HistoryKind
from stepward.domain.task.record import ProcessState, StepRecord
from stepward.domain.workflow.definition import Call
from tests.factories import MINUTE, ORDER_ID, SECOND, T0
from tests.unit.engine.world import World, operation

LIMITS = Limits(failures=2, open_for=10 * SECOND, longest=20 * SECOND)
PLENTY = 10 * MINUTE


class Shop:
    """One order whose service is down until `up_at`, and what the parts do with it every ten seconds."""

    def __init__(self, up_at: int) -> None:
        self.world, self.up_at = World(), up_at
        self.guard: Guard = self.world.guard(LIMITS)
        self.waiting = {self.world.ask(): self.world.clock.now}
        self.calls = 0

    def __call__(self, _: Call) -> Mapping[str, Any]:
        self.calls += 1
        if self.world.clock.now < self.up_at:
            raise OSError("connection refused")
        return {}

    def ten_seconds(self) -> None:
        """Requests that are visible are served; a Supervisor looks; Schedulers and the queues do their part."""
        world = self.world
        world.clock.now += 10 * SECOND
        for text in [text for text, visible_at in self.waiting.items() if visible_at <= world.clock.now]:
            del self.waiting[text]
            try:
                world.serve(operation(self), operation(self, "ship"), guard=self.guard).handle(text)
            except RetryLater as retry_later:
                self.waiting[text] = world.clock.now + retry_later.seconds * 1000
        world.supervise().sweep(lambda: PLENTY)
        for queue in (world.queues.responses, world.queues.scheduler):
            for text in world.drain(queue):
                world.schedule().handle(text)
        self.waiting |= dict.fromkeys(world.drain(world.queues.agents["worker"]), world.clock.now)

    def run(self, until: int) -> None:
        while self.world.clock.now < until:
            self.ten_seconds()

    def record(self) -> StepRecord:
        return self.world.store.tasks[ORDER_ID].steps["reserve"]


def test_an_outage_of_an_hour_burns_no_failure_and_few_calls() -> None:
    """S5, S13: the breaker is open far beyond complete-by and threshold, and no operator is troubled by each order."""
    shop = Shop(up_at=T0 + 60 * MINUTE)

    shop.run(T0 + 59 * MINUTE)
    assert shop.record().failure_count == 0
    assert shop.record().process_state is not ProcessState.ERROR
    assert shop.calls < 59 * MINUTE // LIMITS.longest + 10

    shop.run(T0 + 65 * MINUTE)
    assert shop.record().process_state is ProcessState.PROCESSED
    assert shop.world.alerts.told == []
    assert shop.world.kinds().count(HistoryKind.BREAKER_CLOSED) == 1


@pytest.mark.parametrize("pause", [MINUTE // 2, MINUTE - 10 * SECOND, 40 * MINUTE])
def test_a_paused_agent_burns_no_failure_and_goes_on_when_it_is_resumed(pause: int) -> None:
    """S13."""
    shop = Shop(up_at=0)
    breakers = Breakers(shop.world.shared_records)
    breakers.pause("worker", AgentPause("ada", "the bank works on it", T0))

    shop.run(T0 + pause)
    assert (shop.calls, shop.record().failure_count) == (0, 0)

    breakers.resume("worker", shop.world.clock.now)
    shop.run(T0 + pause + 3 * MINUTE)
    assert shop.record().failure_count == 0
    assert shop.record().process_state is ProcessState.PROCESSED
    assert shop.world.alerts.told == []
