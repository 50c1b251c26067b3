"""S22: 300 worlds of 20 orders under faults, each made by its seed; `make simulate` lives through many more."""

import pytest

from stepward.testing.seeded.finding import shortest
from tests.depth import depth
from tests.lab.worlds.cast import live, report

WORLDS, AT_ONCE = depth(300, 60), 20


@pytest.mark.parametrize("start", range(0, WORLDS, AT_ONCE))
def test_no_world_breaks_an_invariant(start: int) -> None:
    for seed in range(start, start + AT_ONCE):
        _, finding = live(seed)
        if finding:
            pytest.fail("\n".join(report(shortest(finding))), pytrace=False)
