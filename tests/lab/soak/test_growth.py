"""S12: what a soak counts as growth."""

from collections.abc import Sequence

from tests.lab.soak.report import Limit, trend

TIGHT = Limit(share=0.1, absolute=0)


def grew(series: Sequence[float], limit: Limit) -> bool:
    return trend(series, limit).grew


def test_a_steady_climb_is_growth() -> None:
    assert grew([float(value) for value in range(10, 40)], TIGHT)


def test_what_settles_after_warming_up_did_not_grow() -> None:
    assert not grew([0, 20, 50, 80, 100, 100, 99, 101, 100, 100, 99, 101], TIGHT)


def test_one_peak_is_not_growth() -> None:
    assert not grew([5, 5, 5, 5, 5, 5, 5, 5, 500, 5, 5, 5], TIGHT)


def test_a_little_more_is_allowed_where_little_was() -> None:
    assert not grew([0, 0, 0, 0, 0, 0, 3, 3, 3], Limit(share=0, absolute=5))
    assert grew([0, 0, 0, 0, 0, 0, 6, 6, 6], Limit(share=0, absolute=5))


def test_too_few_samples_show_no_growth() -> None:
    assert not grew([], TIGHT)
    assert not grew([100], TIGHT)
