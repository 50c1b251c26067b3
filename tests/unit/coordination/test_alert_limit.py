"""How many single alerts people get."""

from hypothesis import given
from hypothesis import strategies as st

from stepward.domain.coordination.alert_limit import MOST_SINGLES, SPAN, admitted
from tests.factories import T0


def test_ten_alerts_in_a_row_come_singly_and_the_next_does_not() -> None:
    """S7."""
    times: tuple[int, ...] = ()
    for number in range(MOST_SINGLES):
        times = admitted(times, T0 + number) or ()
    assert len(times) == MOST_SINGLES
    assert admitted(times, T0 + MOST_SINGLES) is None


def test_there_is_room_again_once_the_oldest_is_a_span_ago() -> None:
    """S7."""
    times = tuple(T0 + number for number in range(MOST_SINGLES))
    assert admitted(times, T0 + SPAN - 1) is None
    assert admitted(times, T0 + SPAN) == (*times[1:], T0 + SPAN)


def test_a_clock_that_was_far_ahead_silences_nobody() -> None:
    """tl_clock_skew."""
    assert admitted([T0 + SPAN] * MOST_SINGLES, T0) == (T0,)


@given(st.lists(st.integers(0, SPAN), max_size=200))
def test_no_span_ever_has_more_than_its_number(waits: list[int]) -> None:
    """S7: wherever it begins."""
    times: tuple[int, ...] = ()
    let_out, now = [], T0
    for wait in waits:
        now += wait
        if (more := admitted(times, now)) is not None:
            times = more
            let_out.append(now)
    assert all(later - first >= SPAN for first, later in zip(let_out, let_out[MOST_SINGLES:], strict=False))
