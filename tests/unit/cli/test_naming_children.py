"""How an operator names an order that is a step of another one, and the items that it does: W1, W5."""

from types import SimpleNamespace as Namespace
from typing import Any

import pytest

from stepward.cli.deployment.options import Target
from stepward.cli.orders.refusals import chosen
from stepward.cli.orders.show import key_named
from stepward.cli.user_error import UserError
from stepward.domain.key import Keys, child_key
from stepward.domain.task.record import Loaded
from tests.unit.steps.parcels import app, begun, ship

KEYS = Keys(("sales", "returns", "trips"), frozenset({"trips"}), ("a", "b", "c"))
DEPLOYED: Any = Namespace(deployment=Namespace(keys=KEYS))


@pytest.mark.parametrize(
    ("typed", "beside", "key"),
    [
        ("1042#invoice", {}, "1042#invoice"),
        ("1042#parcels.17", {}, "1042#parcels.17"),
        ("1042#invoice#parcels.2", {}, "1042#invoice#parcels.2"),
        ("1042#invoice", {"workflow": "returns"}, "returns~~1042#invoice"),
        ("1042#invoice", {"workflow": "trips", "customer": "acme"}, "trips~acme~1042#invoice"),
        ("trips~acme~1042#invoice", {}, "trips~acme~1042#invoice"),
        ("0123456789abcdef" * 2 + "#invoice", {}, "0123456789abcdef" * 2 + "#invoice"),
    ],
)
def test_a_child_is_named_by_its_parents_id_and_its_step(typed: str, beside: dict[str, Any], key: str) -> None:
    assert key_named(Target(**beside), DEPLOYED, typed) == key


def test_a_child_is_named_by_the_hash_of_an_id_that_is_too_long() -> None:
    trips: Any = Namespace(deployment=Namespace(keys=Keys(("trips",), frozenset({"trips"}))))
    key = child_key("trips~" + "c" * 80 + "~" + "1" * 110, "invoice")
    assert key_named(Target(), trips, key) == key
    assert len(key) == 40


@pytest.mark.parametrize("typed", ["1042#", "1042##invoice", "#invoice", "1042#In voice", "1042#a.x", "1#a#b#c#d"])
def test_what_cannot_be_a_childs_id_is_said_so(typed: str) -> None:
    with pytest.raises(UserError, match="an order id is 1 to 128"):
        key_named(Target(), DEPLOYED, typed)


def test_an_item_that_a_child_does_is_named_there() -> None:
    engine, order = begun(app(at_once=1), 12)
    engine.service(ship).declines("no address", times=1)
    engine.clock.move(120)
    plan = engine.parts.store.plans[order.task.plan_id]

    with pytest.raises(UserError, match=r"no step parcels\[11\]; the item is parcels\[1\] of order 1#parcels.1"):
        chosen(Target(), Loaded(order.task, plan, {}), "parcels[11]")
    with pytest.raises(UserError, match=r"no step parcels\[12\]; its steps: "):
        chosen(Target(), Loaded(order.task, plan, {}), "parcels[12]")
