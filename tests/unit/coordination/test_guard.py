"""Guards of one agent, each in an instance of its own, that agree by one shared record."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from threading import Lock, Semaphore
from typing import Any, cast

import pytest

from stepward.app.agent.breakers import Breakers
from stepward.domain.backoff import LONGEST_ABSENCE, absence, least_absence
from stepward.domain.coordination.blame import Failure
from stepward.domain.coordination.breaker import SETTLES_IN, AgentPause, Breaker, Limits, Mode, Permit, Refused
from stepward.domain.coordination.outlook import DeadlineCheck
from stepward.domain.errors import Transient
from stepward.domain.history import HistoryKind
from tests.factories import HOUR, MINUTE, SECOND, T0
from tests.unit.coordination.test_breaker import DOWN, orders
from tests.unit.engine.troubled import TroubledRecords
from tests.unit.engine.world import World

LIMITS = Limits(failures=6, open_for=10 * SECOND, longest=40 * SECOND)
INSTANCES = 8
PAUSE = AgentPause("ada", "the bank works on it", T0)
BREAKS = (HistoryKind.BREAKER_OPENED, HistoryKind.BREAKER_PROBING, HistoryKind.BREAKER_CLOSED)


@dataclass
class Door:
    """A lock that counts who asked for it."""

    lock: Lock = field(default_factory=Lock)
    asked: Semaphore = field(default_factory=lambda: Semaphore(0))

    def acquire(self, *, blocking: bool) -> bool:
        self.asked.release()
        return self.lock.acquire(blocking=blocking)

    def release(self) -> None:
        self.lock.release()


def down() -> Failure:
    """The service failed for another order."""
    return Failure(f"order-{next(orders)}", "ship", DOWN)


def breaker(world: World) -> Breaker:
    return Breakers(world.shared_records).of("worker")


def breaks(world: World) -> list[HistoryKind]:
    return [kind for kind in world.kinds() if kind in BREAKS]


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def records(world: World) -> TroubledRecords:
    """The shared records of the world."""
    world.shared_records = records = TroubledRecords()
    return records


def open_it(world: World) -> int:
    """As many failures as open the breaker, each in an instance of its own; when a probe is due."""
    for _ in range(LIMITS.failures):
        world.guard(LIMITS).failed(Permit(T0), T0, down())
    return breaker(world).until


def test_the_shared_record_is_read_once_a_second(world: World, records: TroubledRecords) -> None:
    guard = world.guard(LIMITS)

    for _ in range(50):
        guard.succeeded(Permit(T0), world.clock(), "ship")
        assert isinstance(guard.admit(world.clock(), T0 + MINUTE), Permit)
    assert records.reads == 1

    guard.admit(world.clock() + SECOND, T0 + MINUTE)
    assert records.reads == 2


def test_a_slow_read_of_the_record_holds_up_no_other_request(world: World, records: TroubledRecords) -> None:
    """S20: one thread reads, the others go by what the process knows."""
    guard, later = world.guard(LIMITS), world.clock() + SECOND
    guard.admit(world.clock(), T0 + MINUTE)

    def others() -> None:
        with guard.working():
            for _ in range(INSTANCES):
                assert isinstance(guard.admit(later, T0 + MINUTE), Permit)
            guard.succeeded(Permit(T0), later, "ship")

    with ThreadPoolExecutor(1) as threads:
        records.while_read = lambda: threads.submit(others).result(timeout=4)
        guard.admit(later, T0 + MINUTE)

    assert records.reads == 2


@pytest.mark.parametrize("idle", [0, HOUR], ids=["a new process", "a process that slept"])
def test_who_knows_nothing_waits_for_the_one_that_reads(world: World, records: TroubledRecords, idle: int) -> None:
    """S20: no call past an open breaker, and no read for each of a batch."""
    door, now = Door(), T0 + idle
    guard = replace(world.guard(LIMITS), _reading=cast("Any", door))
    if idle:
        guard.admit(T0, T0 + MINUTE)
        assert door.asked.acquire(blocking=False)
    Breakers(records).pause("worker", PAUSE)
    records.reads = 0

    with ThreadPoolExecutor(INSTANCES) as threads:
        records.while_read = lambda: [door.asked.acquire(timeout=4) for _ in range(INSTANCES)]
        asked = [threads.submit(guard.admit, now, now + MINUTE) for _ in range(INSTANCES)]

    assert all(isinstance(each.result(), Refused) for each in asked)
    assert records.reads == 1


def test_what_was_written_during_a_read_is_not_forgotten_for_it(world: World, records: TroubledRecords) -> None:
    """S20: a read that began before the breaker opened does not close it."""
    guard, later = world.guard(LIMITS), T0 + SECOND
    guard.admit(T0, T0 + MINUTE)
    others = [world.guard(LIMITS) for _ in range(LIMITS.failures - 1)]

    def fail() -> None:
        for each in (*others, guard):
            each.failed(Permit(later), later, down())

    records.while_read = fail

    assert isinstance(guard.admit(later, T0 + MINUTE), Refused)


def test_failures_are_counted_across_instances(world: World) -> None:
    open_it(world)

    assert breaker(world).mode is Mode.OPEN
    assert breaks(world) == [HistoryKind.BREAKER_OPENED]
    assert isinstance(world.guard(LIMITS).admit(T0, T0 + MINUTE), Refused)


def test_a_success_anywhere_ends_the_row(world: World) -> None:
    one, other = world.guard(LIMITS), world.guard(LIMITS)
    for _ in range(LIMITS.failures - 1):
        one.failed(Permit(T0), T0, down())

    other.succeeded(Permit(T0), T0, "ship")
    one.failed(Permit(T0), T0, down())

    assert (breaker(world).mode, breaker(world).failures) == (Mode.CLOSED, 1)


def test_of_many_that_ask_at_the_same_moment_one_probes(world: World) -> None:
    guards = [world.guard(LIMITS) for _ in range(INSTANCES)]
    for guard in guards:
        guard.failed(Permit(T0), T0, down())
    now = breaker(world).until

    found = [guard.admit(now, now + MINUTE) for guard in guards]

    assert [isinstance(each, Permit) for each in found].count(True) == 1
    assert breaks(world) == [HistoryKind.BREAKER_OPENED, HistoryKind.BREAKER_PROBING]


def test_a_second_click_on_pause_or_resume_does_nothing_and_says_so(world: World) -> None:
    """S13."""
    breakers = Breakers(world.shared_records)

    assert breakers.pause("worker", PAUSE)
    assert not breakers.pause("worker", AgentPause("bob", "me too", T0 + 1))
    assert breakers.of("worker").pause == PAUSE
    assert not breakers.resume("worker", T0)[1].pause
    before, after = breakers.resume("worker", T0)
    assert before == after
    assert world.shared_records.writes == 2


def test_a_guard_that_cannot_claim_its_probe_waits(world: World, records: TroubledRecords) -> None:
    guard = world.guard(LIMITS)
    for _ in range(LIMITS.failures):
        guard.failed(Permit(T0), T0, down())
    due = breaker(world).until
    records.unread = Transient("throttled")

    assert isinstance(guard.admit(due, T0 + HOUR), Refused)


def test_supervisors_know_whose_requests_would_only_be_returned(world: World) -> None:
    """Of an agent that is due for a probe the requests go out, and what ran past its time does not count."""
    guard, watch, backlogged = world.guard(LIMITS), world.watch(), frozenset({"other"})
    assert watch.check(backlogged, T0) == DeadlineCheck(backlogged)
    for _ in range(LIMITS.failures):
        guard.failed(Permit(T0), T0, down())
    due, worker = breaker(world).until, frozenset({"worker"})

    opens = {"worker": due}
    known = DeadlineCheck(backlogged, unavailable=worker, unsettled=worker, until=opens)
    assert watch.check(backlogged, due - 1) == known
    assert watch.check(backlogged, due) == DeadlineCheck(backlogged, unsettled=worker, until=opens)

    probe = guard.admit(due, due + MINUTE)
    assert isinstance(probe, Permit)
    guard.succeeded(probe, due, "ship")
    assert watch.check(backlogged, due + SETTLES_IN - 1) == DeadlineCheck(backlogged, unsettled=worker)
    assert watch.check(backlogged, due + SETTLES_IN) == DeadlineCheck(backlogged)


def test_a_supervisor_that_cannot_read_a_breaker_goes_on(world: World, records: TroubledRecords) -> None:
    records.unread = Transient("throttled")
    assert world.watch().check(frozenset(), T0) == DeadlineCheck()
    assert world.kinds() == [HistoryKind.POSTPONED]


@pytest.mark.parametrize("within", [MINUTE, HOUR, 12 * HOUR, 14 * 24 * HOUR])
def test_a_request_never_comes_back_a_thousand_times(within: int) -> None:
    """However briefly it is returned each time: a queue that allows 1,000 receives spares it the dead-letter queue."""
    age, receives = 0, 1
    while age < within:
        age, receives = age + least_absence(age), receives + 1

    assert receives < 1_000
    assert least_absence(14 * 24 * HOUR) < 12 * HOUR, "SQS hides nothing for longer"
    assert absence(2 * HOUR, 1.0) == LONGEST_ABSENCE


def test_guards_agree_by_what_is_stored_and_not_by_what_they_remember(world: World) -> None:
    """A guard that has not heard of the opening yet cannot claim a probe before its time."""
    stale = world.guard(LIMITS)
    stale.admit(T0, T0 + MINUTE)
    open_it(world)
    stored = breaker(world)

    stale.failed(Permit(T0), T0 + 1, down())
    stale.succeeded(Permit(T0), T0 + 1, "ship")

    assert breaker(world) == stored
    assert isinstance(stale.admit(T0 + 2, T0 + MINUTE), Refused)
