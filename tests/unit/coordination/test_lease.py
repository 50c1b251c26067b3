"""Who may sweep a shard, by clocks that differ."""

import pytest

from stepward.domain.coordination.lease import Lease, given_back, lease_of, take
from tests.factories import SECOND, T0

LENGTH = 90 * SECOND
MARGIN = 5 * SECOND
HELD = Lease("supervisor-1", 7, T0 + LENGTH)


def taken(lease: Lease | None, now: int, holder: str = "supervisor-2") -> Lease | None:
    return take(lease, holder, now=now, length=LENGTH, skew_margin=MARGIN)


def test_a_shard_that_nobody_ever_had_is_free() -> None:
    """S15."""
    assert taken(None, T0) == Lease("supervisor-2", 1, T0 + LENGTH)


def test_a_shard_that_another_one_holds_is_not() -> None:
    """S15."""
    assert taken(HELD, T0 + 1) is None


@pytest.mark.parametrize(("offset", "free"), [(-1, False), (0, True), (1, True)])
def test_a_lease_is_over_a_margin_after_its_end(offset: int, free: bool) -> None:
    """tl_clock_skew, S15: the holder's clock may be behind, and the holder still at work."""
    assert (taken(HELD, HELD.until + MARGIN + offset) is not None) is free


def test_a_dead_holder_is_replaced_within_two_periods() -> None:
    """S15: with the usual length and margin, and a Supervisor every minute."""
    assert taken(HELD, T0 + 120 * SECOND) == Lease("supervisor-2", 8, T0 + 120 * SECOND + LENGTH)


def test_the_fence_rises_with_each_taking() -> None:
    """tl_zombie_reply: whoever held it before is known apart from whoever holds it now."""
    lease: Lease | None = None
    for number in range(1, 6):
        lease = taken(lease, T0 + number * 2 * LENGTH, f"supervisor-{number}")
        assert lease is not None
        assert lease.fence == number


def test_its_own_lease_may_be_taken_again() -> None:
    """S15: a run that ended early left it."""
    assert taken(HELD, T0 + 1, "supervisor-1") == Lease("supervisor-1", 8, T0 + 1 + LENGTH)


def test_a_lease_given_back_is_free_at_once() -> None:
    """S15: whatever the clock of the next one says."""
    assert given_back(HELD) == Lease("supervisor-1", 7, 0)
    assert taken(given_back(HELD), T0 - MARGIN) == Lease("supervisor-2", 8, T0 - MARGIN + LENGTH)


def test_a_lease_from_a_clock_that_is_far_ahead_holds_nobody_up() -> None:
    """tl_clock_skew: it ends later than any that can be taken now, even by a clock as far ahead as the margin."""
    assert taken(Lease("supervisor-1", 7, T0 + LENGTH + MARGIN), T0) is None
    assert taken(Lease("supervisor-1", 7, T0 + LENGTH + MARGIN + 1), T0) is not None


def test_what_is_stored_is_what_is_read() -> None:
    assert lease_of(HELD.to_body()) == HELD


@pytest.mark.parametrize("body", [{}, {"holder": "x", "fence": "1", "until": 1}, {"holder": None, "fence": 1}])
def test_what_no_holder_wrote_is_no_lease(body: dict[str, object]) -> None:
    assert lease_of(body) is None
