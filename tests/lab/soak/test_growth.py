"""S12: what a soak counts as growth."""

import pytest

from tests.lab.soak.report import Limit, trend

TIGHT, LOOSE = Limit(share=0.1, absolute=0), Limit(share=0, absolute=5)


@pytest.mark.parametrize(
    ("series", "limit", "grew"),
    [
        pytest.param([*range(10, 40)], TIGHT, True, id="a steady climb"),
        pytest.param(
            [0, 20, 50, 80, 100, 100, 99, 101, 100, 100, 99, 101], TIGHT, False, id="settles after warming up"
        ),
        pytest.param([5, 5, 5, 5, 5, 5, 5, 5, 500, 5, 5, 5], TIGHT, False, id="one peak"),
        pytest.param([0, 0, 0, 0, 0, 0, 3, 3, 3], LOOSE, False, id="a little more where little was"),
        pytest.param([0, 0, 0, 0, 0, 0, 6, 6, 6], LOOSE, True, id="more than a little"),
        pytest.param([], TIGHT, False, id="no sample"),
        pytest.param([100], TIGHT, False, id="too few samples"),
    ],
)
def test_a_measure_grows_if_its_later_half_is_above_its_earlier_one(
    series: list[float], limit: Limit, grew: bool
) -> None:
    assert trend(series, limit).grew is grew
