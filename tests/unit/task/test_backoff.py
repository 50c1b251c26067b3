from hypothesis import given
from hypothesis import strategies as st

from stepward.domain.backoff import FIRST_WAIT, LONGEST_WAIT, next_wait


def test_waits_double_up_to_a_limit() -> None:
    assert [next_wait(tries, jitter=1.0) for tries in range(7)] == [200, 400, 800, 1_600, 3_200, 5_000, 5_000]


@given(st.integers(0, 10_000), st.floats(0, 1))
def test_a_wait_is_never_nothing_and_never_long(tries: int, jitter: float) -> None:
    """S5: a service that fails gets a pause; the deadline, not the number of tries, ends the attempt."""
    assert FIRST_WAIT / 2 <= next_wait(tries, jitter) <= LONGEST_WAIT


def test_jitter_spreads_the_upper_half() -> None:
    assert [next_wait(3, jitter) for jitter in (0.0, 0.5, 1.0)] == [800, 1_200, 1_600]
