"""D1, I1, I10, I13, W1: worlds miss the lines that keep an order in flight from harm.

Deployments and other customers would harm it, and a child or a parent that goes its own way.

With these lines, the same worlds break no invariant: `test_seeds` lives through them.
"""

from collections.abc import Sequence

import pytest

from tests.lab.guards.switch import guards, switched_off
from tests.lab.worlds.cast import live

BREAKS: dict[str, tuple[Sequence[int], str]] = {
    "an operation that is not deployed is not refused": ([12, 10, 20], "no service refused it"),
    "the Scheduler hears of an operation that is not deployed": ([32], "nothing goes wrong, and"),
    "an attempt that its agent did not understand is uncounted": ([32, 121, 224], "nothing goes wrong, and"),
    "the Scheduler hears of a request that its agent cannot read": ([162, 824], "nothing goes wrong, and"),
    "an attempt whose reply the Scheduler cannot read is spared": ([121, 563], "nothing goes wrong, and"),
    "an attempt is spared whose reply meets a plan of newer code": ([382, 3834, 6854], "nothing goes wrong, and"),
    "no claim for an agent without a queue": ([62, 216], "nothing goes wrong, and"),
    "the plan is the gate": ([1, 7, 10], "passes over it"),
    "a kind of history of newer code is kept": ([1, 6, 9], "is called corrupt"),
    "what newer code added to a shared record is kept": ([23, 29, 47], "lost what newer code had added"),
    "what this code takes out of a shared record is out": ([1], "stuck in Processing"),
    "customers are told apart in the key": ([14, 21], "was sent and never accepted"),
    "another customer's cancellation": ([6], "another customer has cancelled it"),
    "another customer's event": ([3], "'op': 'create'"),
    "a lane knows its customer": ([0], "nobody sent event 1"),
    "a child is due until its parent has heard": ([11], "is due at None and waits until"),
    "a child hears that its parent knows": ([11], "still due"),
    "the end of an undo is that of the parent's undo": ([17], "is Undone, and it never heard"),
    "what follows a child is asked for again": ([19], "which is handled, and no agent was asked"),
    "a child that never came is put there undone": ([102], "is Undone, and its child part is None"),
    "the end of an item begins the next one": ([8], "is under way and waits for nothing"),
    "an each is done once all its items are": ([8], "name='parcels'"),
    "so many items at once": ([8], "parcels does 3 items at once, not 2"),
    "an each ends once": ([64], "name='parcels'"),
    "a message of newer code is no reject": ([117, 201, 234], "was rejected"),
}
"""Guards, the seeds of worlds that break in one of these without it, and what breaks there."""


@pytest.mark.parametrize("name", BREAKS, ids=lambda name: name.replace(" ", "-"))
def test_a_world_misses_a_guard_that_is_off(name: str) -> None:
    seeds, what = BREAKS[name]
    (patch,) = (guard.patch for guard in guards() if guard.name == name)

    with switched_off(patch):
        found = next((finding.what for _, finding in map(live, seeds) if finding), "")

    assert what in found
