"""S21: a step whose agent is unavailable or full goes to its fallback at the claim, before anybody was asked."""

from dataclasses import replace

import pytest

from stepward.app.agent.breakers import Breakers
from stepward.app.scheduler.schedule import Schedule
from stepward.domain.coordination.breaker import AgentPause, Breaker, Mode
from stepward.domain.errors import Transient
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Start
from stepward.domain.workflow.plan import Plan
from stepward.testing import Engine
from stepward.testing.memory.queues import MemoryQueues
from stepward.wire.messages import encode
from tests.factories import ALERTS, MINUTE, SECOND, T0, falls_back, order_text, planned
from tests.planned_app import PlannedApp
from tests.unit.engine.troubled import TroubledRecords
from tests.unit.engine.world import World

AT_ONCE = 2
PAY = planned("pay", undo="refund", exhausted=(falls_back("other", undo="unpay"), ALERTS), at_once=AT_ONCE)
PLAN = Plan("line", 1, (PAY,))
PAUSE = AgentPause("ada", "the bank works on it", T0)
OPEN = Breaker(Mode.OPEN, since=T0, until=T0 + MINUTE)
SERVED = AT_ONCE * MINUTE // SECOND


def deployed(*agents: str, plan: Plan = PLAN) -> tuple[World, Schedule, TroubledRecords]:
    """A deployment whose agents have queues and do not work; its Scheduler, and its shared records."""
    world, records = World(plan), TroubledRecords()
    world.queues, world.shared_records = MemoryQueues.new(world.clock, agents), records
    return world, world.assembly().scheduler("scheduler-1"), records


def order(world: World, schedule: Schedule, order_id: str = "ord-1") -> str:
    """Submit and start an order; the agent that was asked."""
    before = {agent: queue.waiting for agent, queue in world.queues.agents.items()}
    world.submit.handle(order_text(order_id))
    schedule.handle(encode(Start(order_id)))
    (asked,) = (agent for agent, queue in world.queues.agents.items() if queue.waiting > before[agent])
    return asked


@pytest.mark.parametrize("breaker", [Breaker(pause=PAUSE), OPEN])
def test_an_agent_that_is_unavailable_gives_way(breaker: Breaker) -> None:
    world, schedule, _ = deployed("worker", "other")
    Breakers(world.shared_records).change("worker", lambda _: breaker)

    assert order(world, schedule) == "other"

    record = world.store.tasks["ord-1"].steps
    assert (list(record), record["pay"].attempt, record["pay"].policy) == (["pay"], 1, 1)
    assert world.telemetry.count(HistoryKind.FELL_BACK) == 1


def test_an_agent_without_a_queue_gives_way() -> None:
    world, schedule, _ = deployed("other")
    assert order(world, schedule) == "other"


def test_an_agent_that_is_full_gives_way() -> None:
    """More requests wait than it serves, at its full concurrency, within the step's complete-by."""
    world, schedule, _ = deployed("worker", "other")
    asked = [order(world, schedule, f"ord-{number}") for number in range(SERVED + 1)]
    assert set(asked) == {"worker"}
    world.clock.now += 2 * SECOND

    assert order(world, schedule, "ord-last") == "other"


def test_a_fallback_that_is_no_better_is_not_taken() -> None:
    world, schedule, _ = deployed("worker", "other")
    for agent in ("worker", "other"):
        Breakers(world.shared_records).pause(agent, PAUSE)
    assert order(world, schedule) == "worker"


def test_an_agent_that_cannot_be_looked_at_is_asked() -> None:
    world, schedule, records = deployed("worker", "other")
    records.unread = Transient("throttled")
    assert order(world, schedule) == "worker"


def test_only_steps_with_a_fallback_cost_a_read_and_that_is_remembered() -> None:
    """Two agents are looked at, once in two seconds."""
    plain = Plan("line", 1, (planned("pay", undo="refund"),))
    for plan, reads in ((plain, 0), (PLAN, 2)):
        world, schedule, records = deployed("worker", "other", plan=plan)
        for number in range(20):
            order(world, schedule, f"ord-{number}")
        assert records.reads == reads


def test_what_the_fallback_did_is_undone_by_the_fallback_alone() -> None:
    with Engine(PlannedApp(PLAN)) as engine:
        breakers = Breakers(engine.parts.shared_records)
        breakers.pause("worker", PAUSE)
        order = engine.submit(None, {})
        engine.run()
        assert (order.state, order.effects) == ("Processed", ["pay/by-other"])

        order.undo()
        engine.run()
        assert (order.state, order.effects) == ("Undone", ["pay/by-other", "pay/by-other/undo"])
        engine.verdict()


def test_a_step_that_its_agent_was_asked_for_goes_to_the_fallback_after_its_undo_only() -> None:
    """Never two executors: who was asked may have had the effect."""
    with Engine(PlannedApp(PLAN)) as engine:
        engine.service(PlannedApp(PLAN).known["worker", "pay"]).hangs()
        order = engine.submit(None, {})
        engine.clock.move(1)
        Breakers(engine.parts.shared_records).pause("worker", replace(PAUSE, at=engine.clock.now))
        engine.clock.move(30 * 60)
        assert order.effects == ["pay"]

        Breakers(engine.parts.shared_records).resume("worker", engine.clock.now)
        engine.run()
        assert (order.state, order.effects) == ("Processed", ["pay", "pay/undo", "pay/by-other"])
        engine.verdict()
