"""The kit finds what a user's operation does wrong when somebody dies, and names the call."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest

from stepward import UNDO, Agent, App, Call, Step, Workflow, minutes
from stepward.domain.task import claim
from stepward.domain.task.change import TaskChange
from stepward.domain.workflow.plan import PlannedStep
from stepward.testing import Engine, crash_points, worlds
from tests.unit.testing.shop import ORDER, app, charge, release, reserve
from tests.unit.testing.test_kit_endless import unwired

bank = Agent("bank")


class Bank:
    """An account that honours keys, if it is given any."""

    def __init__(self) -> None:
        self.charges: dict[str, int] = {}

    def charge(self, key: str) -> Mapping[str, Any]:
        return {"charge": self.charges.setdefault(key, len(self.charges) + 1)}


account = Bank()


@bank.operation
def careful(call: Call) -> Mapping[str, Any]:
    return account.charge(call.idempotency_key)


@bank.operation
def careless(call: Call) -> Mapping[str, Any]:
    """It ignores its idempotency key."""
    return account.charge(f"{call.idempotency_key} {len(account.charges)}")


@bank.operation
def forgetful(call: Call) -> Mapping[str, Any]:
    """The same, and its answer does not show it."""
    account.charge(f"{call.idempotency_key} {len(account.charges)}")
    return {}


def paying(operation: Any) -> App:
    steps = [
        Step(reserve, undo=release, complete_within=minutes(1)),
        Step(operation, complete_within=minutes(1), on_permanent=UNDO),
    ]
    return App("shop", workflows=[Workflow("paying", 1, steps)])


def _empty(*_: Engine) -> None:
    account.charges.clear()


def _charged_once(*_: Engine) -> None:
    assert len(account.charges) == 1, f"charged {len(account.charges)} times"


def test_an_honest_application_survives_every_crash_point() -> None:
    found = crash_points(app, ORDER)

    assert found.points == found.survived >= 4 * found.calls > 80


def test_so_does_its_undo() -> None:
    found = crash_points(app, ORDER, before=lambda engine: engine.service(charge).declines())

    assert found.points == found.survived > 80


def test_what_a_user_asserts_is_asked_at_every_point() -> None:
    found = crash_points(paying(careful), ORDER, before=_empty, after=_charged_once)

    assert found.points == found.survived


def test_an_operation_that_ignores_its_key_is_found_by_its_answers() -> None:
    with pytest.raises(AssertionError, match="under one idempotency key: pass") as found:
        crash_points(paying(careless), ORDER, before=_empty)

    assert "service.call(Operation careless)  <- dies after" in str(found.value)


def test_or_by_what_its_user_asserts() -> None:
    with pytest.raises(AssertionError, match="BROKEN: charged 2 times"):
        crash_points(paying(forgetful), ORDER, before=_empty, after=_charged_once)


def test_pairs_of_deaths_are_tried_as_well() -> None:
    steps = [Step(reserve, undo=release, complete_within=minutes(1))]

    found = crash_points(App("shop", workflows=[Workflow("short", 1, steps)]), ORDER, pairs=True)

    assert found.pairs > found.points
    assert not found.lost


def test_worlds_of_an_honest_application_hold() -> None:
    assert worlds(app, ORDER, seeds=10) == 10


def test_worlds_find_an_operation_that_ignores_its_key() -> None:
    with pytest.raises(AssertionError, match=r"careless answered .* under one idempotency key") as found:
        worlds(paying(careless), ORDER, seeds=10, before=_empty)

    assert "again: worlds(app, order, seeds=[" in str(found.value)


def _claims_out_of_turn(change: TaskChange) -> list[PlannedStep]:
    """What `ready` would say if steps did not wait for each other."""
    pending = (record.name for record in change.steps.values() if record.process_state == "Pending")
    return [] if change.halted else [change.plan.by_name[name] for name in pending]


def test_both_find_an_engine_that_claims_steps_out_of_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claim, "ready", _claims_out_of_turn)

    with pytest.raises(AssertionError, match=r"BROKEN: I3: charge was claimed while \['reserve'\] were"):
        crash_points(app, ORDER)
    with pytest.raises(AssertionError, match=r"I3: charge was claimed while \['reserve'\] were"):
        worlds(app, ORDER, seeds=10)


def test_worlds_ask_what_their_user_asserts() -> None:
    def after() -> None:
        assert not account.charges, "there are charges"

    with pytest.raises(AssertionError, match="there are charges"):
        worlds(paying(careful), ORDER, seeds=[1], orders=1, before=_empty, after=after)


@pytest.mark.parametrize("play", [crash_points, partial(worlds, seeds=2)])
def test_both_prepare_and_ask_by_the_same_functions_of_the_engine(play: Callable[..., object]) -> None:
    """The operations fail as they are: nothing gives them an address."""
    results: list[Mapping[str, Any]] = []

    def after(engine: Engine) -> None:
        results.extend(order.result(unwired) for order in engine.orders.values() if order.state == "Processed")

    play(paying(unwired), ORDER, before=Engine.stand_in, after=after)

    assert {"reference": "unwired-1"} in results
    assert len(set(map(str, results))) == 1
