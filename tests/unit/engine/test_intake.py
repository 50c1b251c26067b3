import json

import pytest

from stepward.app.intake import Intake, Received
from stepward.domain.errors import Transient
from stepward.domain.history import HistoryKind
from stepward.domain.rejects import Reject
from stepward.testing.memory.task_store import MemoryRejects
from tests.factories import ORDER_ID, T0, order_text
from tests.unit.engine.world import World


def received(world: World, body: str, number: int = 1) -> None:
    intake = Intake(world.submit.handle, world.rejects, world.telemetry, world.clock)
    intake.accept(Received(f"message-{number}", "orders", T0 + number, body))


@pytest.mark.parametrize(
    ("body", "field", "order_id"),
    [
        ("{", "(body)", ""),
        (order_text(version="1"), "version", ORDER_ID),
        (order_text(order_id="../../etc"), "orderId", ""),
        ('{"orderId": "ord-1001"}', "type", ORDER_ID),
    ],
)
def test_a_bad_message_is_stored_with_field_and_reason(world: World, body: str, field: str, order_id: str) -> None:
    """Design rule 11: it is stored whole, counted, and not retried."""
    received(world, body)

    (reject,) = world.rejects.newest(10)
    assert (reject.field, reject.body, reject.order_id) == (field, body, order_id)
    assert (reject.message_id, reject.source, reject.received_at) == ("message-1", "orders", T0 + 1)
    assert reject.reason
    assert world.kinds() == [HistoryKind.REJECTED]
    assert world.store.tasks == {}


def test_a_conflicting_order_is_stored_for_an_operator(world: World) -> None:
    """Design rule 11."""
    received(world, order_text(customerId="customer-7"))

    received(world, order_text(customerId="customer-8"), number=2)

    (reject,) = world.rejects.newest(10)
    assert (reject.order_id, reject.field) == (ORDER_ID, "orderId")
    assert json.loads(reject.body)["customerId"] == "customer-8"


def test_a_bad_message_never_stops_its_neighbours(world: World) -> None:
    """Design rule 10."""
    for number, body in enumerate([order_text("ord-1"), "NaN", order_text("ord-2")]):
        received(world, body, number)

    assert sorted(world.store.tasks) == ["ord-1", "ord-2"]
    assert len(world.rejects.kept) == 1


def test_a_rejected_message_that_comes_twice_is_stored_once(world: World) -> None:
    """S18."""
    received(world, "NaN")
    received(world, "NaN")

    assert len(world.rejects.kept) == 1


def test_only_what_may_pass_goes_back_to_the_queue(world: World) -> None:
    """Design rule 11: Transient is passed on, and nothing is stored."""
    world.queues.scheduler.faults = lambda _: "InternalError"

    with pytest.raises(Transient):
        received(world, order_text())

    assert world.rejects.kept == {}


class FullRejects(MemoryRejects):
    def keep(self, reject: Reject) -> None:
        raise Transient(f"{reject.message_id}: the rejects table is throttled")


def test_what_cannot_be_kept_comes_back(world: World) -> None:
    """Nothing is lost: a reject is acknowledged only after it is stored."""
    intake = Intake(world.submit.handle, FullRejects(), world.telemetry, world.clock)
    with pytest.raises(Transient, match="throttled"):
        intake.accept(Received("m", "orders", T0, "NaN"))

    assert world.kinds() == []
