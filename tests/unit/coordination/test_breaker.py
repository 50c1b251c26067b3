"""The rules of the breaker, one by one."""

from dataclasses import replace
from functools import partial
from itertools import count, pairwise
from typing import Any

import pytest

from stepward.domain.coordination import breaker as rules
from stepward.domain.coordination.blame import Failure
from stepward.domain.coordination.breaker import (
    LONGEST_CALL,
    MOST_ORDERS,
    PAUSE_RECHECK,
    SETTLES_IN,
    AgentPause,
    Breaker,
    Limits,
    Mode,
    Permit,
    Refused,
    level,
    may_probe,
    paused,
    permission,
    probing,
    resumed,
    transition,
    unavailable,
    unsettled,
)
from stepward.domain.coordination.fault import Fault, Origin
from stepward.domain.errors import Corrupt
from stepward.domain.history import HistoryKind
from tests.factories import HOUR, MINUTE, SECOND, T0

LIMITS = Limits(failures=3, open_for=10 * SECOND, longest=60 * SECOND)
PAUSE = AgentPause("ada", "the bank works on it", T0)
DOWN = Fault(Origin.SERVICE, "Transient", "Transient: HTTP 503")
BUG = Fault(Origin.UNKNOWN, "KeyError", "KeyError: 'x'", "ship.py:7 ship")
orders = count()
succeeded = partial(rules.succeeded, operation="ship")


def failed(breaker: Breaker, call: Permit, now: int, limits: Limits, order: str = "", fault: Fault = DOWN) -> Breaker:
    """Another order's call failed, unless this names one."""
    return rules.failed(breaker, call, now, limits, Failure(order or f"order-{next(orders)}", "ship", fault))


def opened(now: int = T0) -> Breaker:
    breaker = Breaker()
    for _ in range(LIMITS.failures):
        breaker = failed(breaker, Permit(now), now, LIMITS)
    return breaker


CALLED_AT_T0 = Permit(T0)


@pytest.fixture
def breaker() -> Breaker:
    """It opened at T0."""
    return opened()


def probed(breaker: Breaker, probe: str = "p-1", within: int = MINUTE) -> tuple[Breaker, Permit]:
    now = breaker.until
    claimed = probing(breaker, now, probe, now + within)
    permit = permission(claimed, now, probe)
    assert isinstance(permit, Permit)
    return claimed, permit


def test_it_opens_after_so_many_failures_in_a_row() -> None:
    breaker = Breaker()
    for number in range(1, LIMITS.failures):
        breaker = failed(breaker, CALLED_AT_T0, T0, LIMITS)
        assert (breaker.mode, breaker.failures) == (Mode.CLOSED, number)

    breaker = failed(breaker, CALLED_AT_T0, T0 + 5, LIMITS)

    assert (breaker.mode, breaker.since, breaker.until) == (Mode.OPEN, T0 + 5, T0 + 5 + LIMITS.open_for)
    assert isinstance(permission(breaker, T0 + 5), Refused)


def test_a_success_ends_a_row_of_failures() -> None:
    breaker = failed(failed(Breaker(), CALLED_AT_T0, T0, LIMITS), CALLED_AT_T0, T0, LIMITS)
    assert succeeded(breaker, CALLED_AT_T0, T0) == Breaker()


def test_an_open_one_lets_nobody_through_until_its_time_is_over(breaker: Breaker) -> None:
    before = breaker.until - 1

    assert not may_probe(breaker, before)
    assert probing(breaker, before, "p-1", before + MINUTE) == breaker
    assert permission(breaker, T0 + 4 * SECOND) == Refused(6 * SECOND, f"the breaker has been open since {T0}")


def test_one_probe_is_let_through_and_the_others_look_again_soon() -> None:
    claimed, permit = probed(opened())

    assert (claimed.mode, permit.probe) == (Mode.HALF_OPEN, "p-1")
    assert isinstance(permission(claimed, permit.at, "p-2"), Refused)
    assert isinstance(permission(claimed, permit.at), Refused)
    assert probing(claimed, permit.at, "p-2", permit.at + MINUTE) == claimed


def test_a_probe_that_succeeds_closes_it() -> None:
    claimed, permit = probed(opened())

    closed = succeeded(claimed, permit, permit.at + 7)

    assert closed == Breaker(since=permit.at + 7)
    assert permission(closed, permit.at + 7) == Permit(permit.at + 7)


def test_each_probe_that_fails_doubles_the_open_time_up_to_the_longest() -> None:
    breaker, times = opened(), [LIMITS.open_for]
    for number in range(8):
        claimed, permit = probed(breaker, f"p-{number}")
        breaker = failed(claimed, permit, permit.at, LIMITS)
        times.append(breaker.until - breaker.since)

    assert times == [10_000, 20_000, 40_000, *[60_000] * 6]


def test_a_prober_that_died_is_replaced_and_its_late_answer_means_nothing() -> None:
    claimed, late = probed(opened())
    at_its_end = claimed.until
    assert not may_probe(claimed, at_its_end - 1)

    taken_over = probing(claimed, at_its_end, "p-2", at_its_end + MINUTE)

    assert taken_over.probe == "p-2"
    assert succeeded(taken_over, late, at_its_end + 1) == taken_over
    assert failed(taken_over, late, at_its_end + 1, LIMITS) == taken_over


def test_no_probe_blocks_the_others_for_longer_than_a_function_can_run() -> None:
    claimed, permit = probed(opened(), within=12 * HOUR)
    assert claimed.until == permit.at + LONGEST_CALL


def test_a_call_from_before_it_closed_does_not_count_against_it() -> None:
    """Calls that hung while the service was down fail long after it is up again."""
    claimed, permit = probed(opened())
    closed = succeeded(claimed, permit, permit.at)
    assert failed(closed, CALLED_AT_T0, permit.at + MINUTE, LIMITS) == closed


def test_the_end_of_a_call_from_before_does_not_move_an_open_one(breaker: Breaker) -> None:
    assert succeeded(breaker, CALLED_AT_T0, T0 + SECOND) == breaker
    assert failed(breaker, CALLED_AT_T0, T0 + SECOND, LIMITS) == breaker


def test_a_pause_holds_whatever_the_breaker_does() -> None:
    """An operator ends it, no success does."""
    assert permission(paused(Breaker(), PAUSE), T0) == Refused(PAUSE_RECHECK, "paused by ada: the bank works on it")
    assert not may_probe(replace(opened(), pause=PAUSE), T0 + HOUR)
    claimed, permit = probed(opened())

    after = succeeded(replace(claimed, pause=PAUSE), permit, T0)

    assert (after.mode, after.pause) == (Mode.CLOSED, PAUSE)
    assert unavailable(after, T0 + HOUR)


def test_what_was_returned_to_its_queue_in_a_pause_has_its_turn_after_it() -> None:
    resumed_at = T0 + HOUR

    ended = resumed(paused(Breaker(), PAUSE), resumed_at)

    assert permission(ended, resumed_at) == Permit(resumed_at)
    assert unsettled(ended, resumed_at + SETTLES_IN - 1)
    assert not unsettled(ended, resumed_at + SETTLES_IN)
    assert resumed(ended, resumed_at + 1) == ended
    assert resumed(paused(opened(), PAUSE), resumed_at) == opened()


def test_it_is_unavailable_only_while_a_request_would_be_returned(breaker: Breaker) -> None:
    """Once a probe is due somebody has to be sent, or nobody would ever try the service again."""
    assert unavailable(breaker, breaker.until - 1)
    assert not unavailable(breaker, breaker.until)
    assert unsettled(breaker, breaker.until)


def test_it_is_settled_when_all_that_was_returned_has_had_its_turn() -> None:
    claimed, permit = probed(opened())
    closed = succeeded(claimed, permit, T0)

    assert unsettled(closed, T0 + SETTLES_IN - 1)
    assert not unsettled(closed, T0 + SETTLES_IN)
    assert not unsettled(Breaker(), T0)


def test_changes_of_mode_and_new_probes_are_logged() -> None:
    claimed, permit = probed(opened())
    again = probing(claimed, claimed.until, "p-2", claimed.until + 1)

    assert transition(Breaker(), opened()) is HistoryKind.BREAKER_OPENED
    assert transition(opened(), claimed) is HistoryKind.BREAKER_PROBING
    assert transition(claimed, again) is HistoryKind.BREAKER_PROBING
    assert transition(claimed, succeeded(claimed, permit, T0)) is HistoryKind.BREAKER_CLOSED
    assert transition(Breaker(), Breaker(failures=1)) is None
    assert [level(b) for b in (Breaker(), claimed, opened(), Breaker(pause=PAUSE))] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "breaker",
    [
        Breaker(),
        opened(),
        replace(probed(opened())[0], pause=PAUSE),
        failed(failed(Breaker(), CALLED_AT_T0, T0, LIMITS), CALLED_AT_T0, T0, LIMITS, fault=BUG),
    ],
)
def test_it_is_read_as_it_was_stored(breaker: Breaker) -> None:
    assert Breaker.of(breaker.body()) == breaker


@pytest.mark.parametrize(
    "body", [{}, {"mode": 7}, {"mode": "open", "pause": {"who": "ada"}}, {"mode": "open", "pause": 1}]
)
def test_a_body_that_is_no_breaker_is_corrupt(body: dict[str, Any]) -> None:
    with pytest.raises(Corrupt, match="a breaker"):
        Breaker.of(body)


def test_the_open_times_do_not_overflow() -> None:
    breaker = replace(opened(), openings=10_000)
    claimed, permit = probed(breaker)
    assert failed(claimed, permit, T0, LIMITS).until == T0 + LIMITS.longest


def test_waits_by_the_clock_are_never_negative(breaker: Breaker) -> None:
    found = [permission(breaker, T0 + step * SECOND) for step in range(30)]

    waits = [each.wait for each in found if isinstance(each, Refused)]
    assert len(waits) == len(found)
    assert min(waits) > 0
    assert all(later <= sooner for sooner, later in pairwise(waits))


def test_one_order_alone_never_opens_it() -> None:
    """S20: however often it is tried."""
    breaker = Breaker()
    for _ in range(20 * LIMITS.failures):
        breaker = failed(breaker, CALLED_AT_T0, T0, LIMITS, order="a")

    assert (breaker.mode, breaker.failures, breaker.orders) == (Mode.CLOSED, 1, ("a",))


def test_the_record_names_a_bounded_number_of_orders() -> None:
    breaker, limits = Breaker(), replace(LIMITS, failures=10 * MOST_ORDERS)
    for _ in range(3 * MOST_ORDERS):
        breaker = failed(breaker, CALLED_AT_T0, T0, limits)

    assert (breaker.failures, len(breaker.orders)) == (3 * MOST_ORDERS, MOST_ORDERS)


def test_an_exception_that_is_not_the_services_opens_nothing() -> None:
    """Case 25: it says nothing about the service, and a probe that meets it is followed by another one at once."""
    breaker = Breaker()
    for _ in range(20):
        breaker = failed(breaker, CALLED_AT_T0, T0, LIMITS, fault=BUG)
    assert (breaker.mode, breaker.failures) == (Mode.CLOSED, 0)
    claimed, permit = probed(opened())

    again = failed(claimed, permit, permit.at, LIMITS, fault=BUG)

    assert (again.mode, again.openings) == (Mode.OPEN, claimed.openings)
    assert may_probe(again, permit.at)
    assert transition(claimed, again) is None


@pytest.mark.parametrize("pause", [None, PAUSE])
def test_an_operator_has_an_open_breaker_let_a_probe_through_at_once(
    breaker: Breaker, pause: AgentPause | None
) -> None:
    """S13, S20: one that fails opens it again, for longer."""
    ended = resumed(replace(breaker, pause=pause), T0 + 1)

    assert may_probe(ended, T0 + 1)
    assert (ended.mode, ended.openings, ended.pause) == (Mode.OPEN, breaker.openings, None)
    assert resumed(Breaker(), T0) == Breaker()
