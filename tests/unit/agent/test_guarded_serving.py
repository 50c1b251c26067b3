"""Many instances of one agent call one service, each behind a guard of its own, under one clock."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from stepward.app.agent.breakers import Breakers
from stepward.app.agent.serve import Serve
from stepward.domain.coordination.breaker import Breaker, Mode, Permit
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.errors import Corrupt, Permanent, RetryLater, StepwardError, Transient
from stepward.domain.health import Called, Health
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Outcome
from stepward.domain.workflow.agents import Call
from tests.factories import HOUR, MINUTE, SECOND, T0, sequence
from tests.unit.coordination.test_guard import INSTANCES, LIMITS, PAUSE, breaker, breaks, down
from tests.unit.engine.troubled import TroubledRecords
from tests.unit.engine.world import World, operation

CALLS_OF_ONE = 4
"""So often one order's delivery calls a service that fails, within the two seconds that it may wait."""


@dataclass(slots=True)
class Bank:
    """A service that is down until `up_at`; `asked` holds when each call came."""

    world: World
    up_at: int
    asked: list[int] = field(default_factory=list)

    def __call__(self, _: Call) -> Mapping[str, Any]:
        self.asked.append(self.world.clock())
        if self.world.clock() < self.up_at:
            raise OSError("connection refused")
        return {"ref": "r-1"}


def slow_world(orders: int = 1) -> tuple[World, list[str]]:
    """Orders whose one step may take 20 minutes, and the requests that follow."""
    world = World(sequence("reserve", complete_within=20 * MINUTE))
    return world, [world.ask(f"ord-{number}") for number in range(orders)]


def run_until_done(world: World, serves: list[Serve], requests: list[str]) -> dict[str, int]:
    """Deliver each request whenever it is visible, to the instances in turn; how often each was delivered."""
    due = dict.fromkeys(requests, world.clock.now)
    deliveries = dict.fromkeys(requests, 0)
    while due:
        text = min(due, key=lambda one: due[one])
        world.clock.now = max(world.clock.now, due[text])
        deliveries[text] += 1
        try:
            serves[sum(deliveries.values()) % len(serves)].handle(text)
            del due[text]
        except RetryLater as retry_later:
            due[text] = world.clock.now + retry_later.seconds * 1000
    return deliveries


def test_a_service_that_is_down_for_minutes_is_left_alone_and_found_again() -> None:
    """S5: open, half-open with one probe at a time, closed; every order is done at its first attempt."""
    world, requests = slow_world(orders=20)
    bank = Bank(world, up_at=T0 + 5 * MINUTE)
    serves = [world.serve(operation(bank), guard=world.guard(LIMITS)) for _ in range(INSTANCES)]

    deliveries = run_until_done(world, serves, requests)

    assert [reply.attempt for reply in world.replies()] == [1] * 20
    kinds = breaks(world)
    assert kinds[:2] == [HistoryKind.BREAKER_OPENED, HistoryKind.BREAKER_PROBING]
    assert kinds[-2:] == [HistoryKind.BREAKER_PROBING, HistoryKind.BREAKER_CLOSED]
    while_down = [at for at in bank.asked if at < bank.up_at]
    believed_it_healthy = INSTANCES - 1
    until_it_opened = LIMITS.failures * CALLS_OF_ONE
    assert len(while_down) < until_it_opened + kinds.count(HistoryKind.BREAKER_PROBING) + believed_it_healthy
    assert breaker(world).mode is Mode.CLOSED
    assert bank.asked[len(while_down)] <= bank.up_at + LIMITS.longest + 2 * SECOND
    assert max(deliveries.values()) < 1_000


def test_a_healthy_service_costs_no_write() -> None:
    """The shared record is not even made."""
    world, requests = slow_world(orders=30)
    serves = [world.serve(operation(Bank(world, up_at=T0)), guard=world.guard(LIMITS)) for _ in range(INSTANCES)]

    run_until_done(world, serves, requests)

    assert len(world.replies()) == 30
    assert (world.shared_records.writes, world.shared_records.read("breaker/worker")) == (0, None)


def test_a_refusal_by_the_service_shows_that_it_is_healthy() -> None:
    """S7: `declined` is an answer."""
    world, (text,) = slow_world()
    guard = world.guard(LIMITS)
    guard.failed(Permit(T0), T0, down())

    def decline(_: Call) -> Mapping[str, Any]:
        raise Permanent("card declined")

    world.serve(operation(decline), guard=guard).handle(text)

    assert breaker(world).failures == 0


def test_an_operation_that_is_not_deployed_says_nothing_about_the_service() -> None:
    world, (text,) = slow_world()
    guard = world.guard(LIMITS)
    for _ in range(LIMITS.failures):
        guard.failed(Permit(T0), T0, down())
    world.clock.now = breaker(world).until

    with pytest.raises(RetryLater, match="does not know operation"):
        world.serve(guard=guard).handle(text)

    assert breaker(world).mode is Mode.OPEN
    assert [reply.outcome for reply in world.replies()] == [Outcome.NOT_UNDERSTOOD]


def test_while_an_agent_is_paused_its_service_is_not_called() -> None:
    """S13: nothing is answered, no attempt is used up, and the request comes back until somebody resumes."""
    world, (text,) = slow_world()
    bank = Bank(world, up_at=T0)
    breakers, serve = Breakers(world.shared_records), world.serve(operation(bank), guard=world.guard(LIMITS))
    assert breakers.pause("worker", PAUSE)

    for _ in range(3):
        with pytest.raises(RetryLater, match="paused by ada: the bank works on it; back in 60 s"):
            serve.handle(text)
        world.clock.now += MINUTE
    assert (bank.asked, world.replies()) == ([], [])

    breakers.resume("worker", T0)
    serve.handle(text)
    assert [reply.attempt for reply in world.replies()] == [1]


def test_a_request_does_not_come_back_later_than_its_complete_by() -> None:
    """S6: it comes back at that time, and is dropped without a reply."""
    world = World(sequence("reserve", complete_within=30 * SECOND))
    text = world.ask()
    Breakers(world.shared_records).pause("worker", PAUSE)
    serve = world.serve(operation(Bank(world, up_at=T0)))

    with pytest.raises(RetryLater) as caught:
        serve.handle(text)
    assert caught.value.seconds == 30

    world.clock.now += 30 * SECOND
    serve.handle(text)
    assert (world.kinds()[-1], world.replies()) == (HistoryKind.EXPIRED, [])


@pytest.mark.parametrize("trouble", [Transient("throttled"), Corrupt("breaker: ?")])
def test_a_guard_that_cannot_read_lets_the_work_go_on(trouble: StepwardError) -> None:
    """It logs its trouble, and asks again a second later."""
    world, (text,) = slow_world()
    world.shared_records = TroubledRecords(unread=trouble)

    world.serve(operation(Bank(world, up_at=T0)), guard=world.guard(LIMITS)).handle(text)

    assert len(world.replies()) == 1
    logged = {HistoryKind.POSTPONED, HistoryKind.CORRUPT}
    entries = [entry for _, entry in world.telemetry.history if entry.kind in logged]
    assert [(entry.by, entry.note) for entry in entries] == [("worker", str(trouble))]


def test_the_health_of_a_service_is_reported_after_each_call() -> None:
    """S22."""
    world, (text,) = slow_world()
    guard = world.guard(replace(LIMITS, failures=2))
    bank = Bank(world, up_at=T0 + MINUTE)
    guard.failed(Permit(T0), T0, down())

    with pytest.raises(RetryLater):
        world.serve(operation(bank), guard=guard).handle(text)

    assert world.telemetry.health_reports == [
        Called("worker", in_flight=0, breaker=0, took=0, succeeded=False),
        Called("worker", in_flight=1, breaker=2, took=0, succeeded=False),
        Health("worker", in_flight=1, breaker=2),
    ]
    assert guard.in_flight == 0


def test_every_call_needs_a_new_permit() -> None:
    """Within one delivery too: a breaker that opens meanwhile stops the retries."""
    world, (text,) = slow_world()
    bank, guard = Bank(world, up_at=T0 + HOUR), world.guard(replace(LIMITS, failures=2))
    guard.failed(Permit(T0), T0, down())

    with pytest.raises(RetryLater, match="the breaker has been open"):
        world.serve(operation(bank), guard=guard).handle(text)

    assert len(bank.asked) == 1


def test_what_an_attempt_met_is_reported_once_by_whichever_instance() -> None:
    """S5: and a call that a retry in the same delivery gets over is not reported at all."""
    world, requests = slow_world(orders=2)
    bank = Bank(world, up_at=T0 + 5 * MINUTE)
    serves = [world.serve(operation(bank), guard=world.guard()) for _ in range(INSTANCES)]

    deliveries = run_until_done(world, serves, requests)

    assert min(deliveries.values()) > 2
    assert world.reports() == ["OSError: connection refused"] * 2


def test_nothing_is_reported_past_complete_by() -> None:
    """S6: the shared record may have taken its time."""
    world, (text,) = slow_world()

    class Slow(TroubledRecords):
        def write(self, shared_record: SharedRecord, *, replaces: SharedRecord | None) -> bool:
            world.clock.now += 20 * MINUTE * ("reported" in shared_record.body.get("blame", {}))
            return TroubledRecords.write(self, shared_record, replaces=replaces)

    world.shared_records = Slow()
    with pytest.raises(RetryLater):
        world.serve(operation(Bank(world, up_at=T0 + HOUR)), guard=world.guard()).handle(text)

    assert world.shared_records.writes == 2
    assert world.reports() == []


def test_a_request_that_is_only_returned_is_not_reported() -> None:
    world, (text,) = slow_world()
    Breakers(world.shared_records).change("worker", lambda _: Breaker(Mode.OPEN, since=T0, until=T0 + HOUR))

    with pytest.raises(RetryLater):
        world.serve(operation(Bank(world, up_at=T0)), guard=world.guard(LIMITS)).handle(text)

    assert world.reports() == []
