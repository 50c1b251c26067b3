"""D1, I10: worlds with deployments miss the lines that keep a deployment from harming an order in flight.

With these lines, the same worlds break no invariant: `test_seeds` lives through them.
"""

from collections.abc import Sequence

import pytest

from tests.lab.guards.switch import guards, switched_off
from tests.lab.worlds.cast import live

BREAKS: dict[str, tuple[Sequence[int], str]] = {
    "an operation that is not deployed is not refused": ([12, 10, 20], "no service refused it"),
    "an attempt that its agent did not understand is uncounted": ([32, 121, 224], "nothing goes wrong, and"),
    "the Scheduler hears of a request that its agent cannot read": ([162, 824], "nothing goes wrong, and"),
    "an attempt whose reply the Scheduler cannot read is spared": ([121, 563], "nothing goes wrong, and"),
    "an attempt is spared whose reply meets a plan of newer code": ([382, 3834, 6854], "nothing goes wrong, and"),
    "no claim for an agent without a queue": ([62, 216], "nothing goes wrong, and"),
    "the plan is the gate": ([1, 7, 10], "passes over it"),
    "a kind of history of newer code is kept": ([1, 6, 9], "is called corrupt"),
    "what newer code added to a shared record is kept": ([23, 29, 47], "lost what newer code had added"),
    "a message of newer code is no reject": ([117, 201, 234], "was rejected"),
}
"""Guards, the seeds of worlds that break in one of these without it, and what breaks there."""


@pytest.mark.parametrize("name", BREAKS, ids=lambda name: name.replace(" ", "-"))
def test_a_world_with_deployments_misses_a_guard_that_is_off(name: str) -> None:
    seeds, what = BREAKS[name]
    (patch,) = (guard.patch for guard in guards() if guard.name == name)

    with switched_off(patch):
        found = next((finding.what for _, finding in map(live, seeds) if finding), "")

    assert what in found
