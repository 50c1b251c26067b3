"""W7: what a check has to return, and what becomes of a step whose check returns something else."""

from collections.abc import Callable
from typing import Any

import pytest

from stepward import Later
from stepward.testing import Engine
from stepward.testing.services import Service
from tests.unit.agent.test_asking_first import bank, charge, ends_well, engine, find_charge, fulfilment

__all__ = ["engine"]


@pytest.mark.parametrize(("says", "what"), [({}, "{}"), ([], "list"), (Later(), "Later")])
@pytest.mark.parametrize("trouble", [Service.dies_after_effect, Service.dies_before_effect])
def test_a_check_that_says_neither_none_nor_a_result_is_an_error_and_the_step_stays_in_doubt(
    engine: Engine, trouble: Callable[[Service], object], says: Any, what: str
) -> None:
    """Trap: `{}` is what many a service answers of no effect. Taken for one, the order would end without it."""
    trouble(engine.service(charge))
    engine.service(find_charge).returns(says)
    order = engine.submit(fulfilment, {})
    ends_well(engine)

    assert (order.state, "ship" in order.effects, order.effects.count("charge")) == (
        "UndoFailed",
        False,
        len(bank.charges),
    )
    says_so = f"TypeError: check find_charge returned {what}; return None if there is no effect, else its result"
    assert says_so in (order.step("charge/undo").raised or "")
    engine.service(find_charge).finds()
    order.resubmit("charge/undo")
    ends_well(engine)
    assert (order.state, sum(bank.charges.values())) == ("Undone", 0)
