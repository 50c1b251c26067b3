"""W8: many instances of one agent call a service that allows so many calls a second."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from stepward.app.agent.serve import Serve
from stepward.cli.cost.estimate import A_SLOT
from stepward.domain.coordination.breaker import Mode, Permit, Refused
from stepward.domain.errors import Corrupt, RetryLater, StepwardError, Transient
from stepward.domain.messages import Outcome
from stepward.domain.workflow.agents import Call
from stepward.testing.faults.rates import Rates
from tests.factories import MINUTE, SECOND, T0, sequence
from tests.planned_app import PlannedApp
from tests.unit.agent.test_guarded_serving import run_until_done
from tests.unit.coordination.test_guard import INSTANCES, LIMITS, breaker, open_it
from tests.unit.engine.troubled import TroubledRecords
from tests.unit.engine.world import World, operation


@dataclass
class Paced(World):
    """A world whose agent has a rate; `called` holds when each call came."""

    rate: float = 50
    called: list[int] = field(default_factory=list)

    def assembly(self, **settings: Any) -> Any:
        return replace(super().assembly(**settings), app=PlannedApp(self.plan, rate=self.rate))

    def charge(self, _: Call) -> Mapping[str, Any]:
        """The service."""
        self.called.append(self.clock())
        return {"ref": "r-1"}

    def instances(self, count: int = INSTANCES) -> list[Serve]:
        """So many processes of the agent."""
        return [self.serve(operation(self.charge)) for _ in range(count)]


def paced(rate: float, within: int = 20 * MINUTE) -> Paced:
    return Paced(sequence("reserve", complete_within=within), rate=rate)


@pytest.mark.parametrize(("rate", "orders"), [(1, 10), (20, 60), (0.1, 5)])
def test_all_instances_together_keep_the_rate_and_every_order_is_done(rate: float, orders: int) -> None:
    """W8, I14. Trap: each instance keeps the rate, and all together exceed it."""
    world, rates = paced(rate), Rates()
    requests = [world.ask(f"ord-{number}") for number in range(orders)]

    run_until_done(world, world.instances(), requests)

    assert [(reply.attempt, reply.outcome) for reply in world.replies()] == [(1, Outcome.OK)] * orders
    assert not [said for at in world.called for said in rates.exceeded("worker", rate, at)]
    assert max(world.clock.slept, default=0) <= 0.3, "the queue does any longer waiting"


def test_the_calls_of_a_grant_are_spread_over_it() -> None:
    world = paced(25)
    requests, serves = [world.ask(f"ord-{number}") for number in range(6)], world.instances(2)

    for number, request in enumerate(requests):
        serves[number // 3].handle(request)

    assert world.called == [T0 + number * 40 for number in range(6)]


def test_a_call_by_itself_costs_what_is_priced() -> None:
    """W8: a read and a write, of a record that fits into the smallest unit."""
    world = paced(50)
    world.shared_records = records = TroubledRecords()
    request, (serve,) = world.ask(), world.instances(1)
    serve.guard.succeeded(Permit(T0), T0, "reserve")
    of_the_breaker = records.reads

    serve.handle(request)

    assert (records.reads - of_the_breaker, records.writes) == (A_SLOT["read units"], A_SLOT["write units"])
    assert len(str(records.kept)) < 1_000


def test_an_agent_without_a_rate_has_no_pacer() -> None:
    """So it reads nothing and writes nothing."""
    assert World().guard().pacer is None


def test_a_call_that_is_tried_again_takes_a_slot_of_its_own() -> None:
    world = paced(20)

    def fails(call: Call) -> Mapping[str, Any]:
        world.charge(call)
        raise Transient("HTTP 503")

    with pytest.raises(RetryLater):
        world.serve(operation(fails)).handle(world.ask())

    assert world.shared_records.kept["pace/worker"].revision >= len(world.called) / 2 > 1


@dataclass
class SlowClock:
    """A clock of a process that was held up for `late` ms each of the first times that it slept."""

    world: World
    late: list[int]

    def sleep(self, seconds: float) -> None:
        self.world.clock.sleep(seconds + (self.late.pop() if self.late else 0) / 1_000)


def test_who_wakes_up_past_the_slot_takes_another_one() -> None:
    """I14: what lapsed may be in use by others."""
    world = paced(50)
    one, other = world.instances(2)
    one.guard.admit(T0, T0 + MINUTE)

    replace(one, sleep=SlowClock(world, [500]).sleep).handle(world.ask())

    (began,) = world.called
    assert began >= T0 + 520
    assert isinstance(permit := other.guard.admit(began, T0 + MINUTE), Permit)
    assert permit.at > began


@pytest.mark.parametrize("trouble", [Transient("throttled"), Corrupt("no JSON")])
@pytest.mark.parametrize("what", ["unread", "unwritten"])
def test_without_the_record_nobody_calls(trouble: StepwardError, what: str) -> None:
    world = paced(50)
    world.shared_records = records = TroubledRecords()
    request, (serve,) = world.ask(), world.instances(1)
    serve.guard.admit(T0 - MINUTE, T0)
    setattr(records, what, trouble)

    with pytest.raises(RetryLater):
        serve.handle(request)

    assert not world.called


def test_a_probe_that_would_have_to_wait_for_its_slot_is_given_up() -> None:
    """Another one may probe at once, so the breaker is not half-open until complete-by."""
    world = paced(1)
    open_it(world)
    due = breaker(world).until
    world.guard(LIMITS).pacer.slot(due)  # type: ignore[union-attr]

    refused = world.guard(LIMITS).admit(due, due + MINUTE)

    assert isinstance(refused, Refused)
    assert refused.others
    assert (breaker(world).mode, breaker(world).until) == (Mode.OPEN, due)


def ask_late(world: Paced, left: int) -> tuple[str, Serve]:
    """A request with so much of its time left, for which there is no slot now; and who gets it."""
    request, (serve,) = world.ask(), world.instances(1)
    world.clock.now = world.clock.now + MINUTE - left
    serve.guard.admit(world.clock(), world.clock() + MINUTE)
    return request, serve


@pytest.mark.parametrize(("left", "asks"), [(40 * SECOND, False), (29 * SECOND, True), (SECOND, True)])
def test_a_request_that_may_expire_before_its_slot_asks_for_more_time(left: int, asks: bool) -> None:
    world = paced(1, within=MINUTE)
    request, serve = ask_late(world, left)

    if asks:
        serve.handle(request)
    else:
        with pytest.raises(RetryLater):
            serve.handle(request)

    waiting = [(reply.outcome, reply.complete_by) for reply in world.replies()]
    assert waiting == ([(Outcome.WAITING, T0 + MINUTE)] if asks else [])
    assert not world.called


def test_its_request_is_sent_once_more_with_more_time() -> None:
    """The Scheduler moves complete-by; the step keeps its attempt, and no failure is counted."""
    world = paced(1, within=MINUTE)
    request, serve = ask_late(world, 20 * SECOND)
    serve.handle(request)

    world.schedule().handle(world.take(world.queues.responses))

    assert not world.queues.agents["worker"].receive(), "the queue holds it back for a while"
    world.clock.now += 8 * SECOND
    serve.handle(world.take(world.queues.agents["worker"]))
    world.schedule().handle(world.take(world.queues.responses))
    record = world.store.tasks["ord-1001"].steps["reserve"]
    assert (record.process_state, record.attempt, record.failure_count) == ("Processed", 1, 0)
    assert len(world.called) == 1


def test_an_attempt_that_was_made_and_failed_gets_no_more_time() -> None:
    world = paced(1, within=MINUTE)

    def fails(call: Call) -> Mapping[str, Any]:
        world.charge(call)
        raise Transient("HTTP 503")

    request = world.ask()
    world.clock.now += 40 * SECOND
    with pytest.raises(RetryLater):
        world.serve(operation(fails)).handle(request)

    assert (len(world.called), world.replies()) == (1, [])
