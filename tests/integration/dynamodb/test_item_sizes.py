"""What a whole ordinary order costs: its item at every moment of its life, and its writes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from orders import app
from orders.messages import OrderSubmitted
from stepward.domain.errors import WorkflowError
from stepward.domain.submission import Submission
from stepward.domain.task.change import Decision
from stepward.domain.task.decide import Event
from stepward.domain.task.record import ProcessState
from stepward.domain.workflow.definition import Agent, Call, Step, Workflow, minutes
from stepward.wire.order import Accepted, accept
from tests.contract.worlds.store_worlds import NOW, TIMING, DynamoWorld
from tests.factories import Life, answer
from tests.integration.dynamodb.item_size import KB, size_of, units_of_index, units_of_write

ORDER_ID = "7f3c9a52-6d1e-4b8a-9c47-0e5d2f1a8b63"
SCHEDULERS = ("scheduler-0a1b2c3d4e5f", "scheduler-5f4e3d2c1b0a")
RESULTS = {
    "reserve": {"reservation": "reserve-3f2a9b1c-8d7e-4c5b"},
    "charge": {"charge": "charge-9c1d7e5f-2b3a-4f6e"},
    "ship": {"shipment": "ship-1e4d8c7b-5a6f-4d2c"},
}
MESSAGE = {
    "type": "order.submitted",
    "orderId": ORDER_ID,
    "version": 1,
    "submittedAt": "2026-01-01T00:00:00Z",
    "customerId": "customer-7",
    "correlationId": "checkout-5501",
    "replyTo": "https://sqs.us-east-1.amazonaws.com/111122223333/replies-shop-a",
    "currency": "EUR",
    "items": [
        {"sku": "SKU-1", "qty": 2, "unitPrice": "12.30"},
        {"sku": "SKU-2", "qty": 1, "unitPrice": "4.05"},
        {"sku": "SKU-3", "qty": 10, "unitPrice": "199.99"},
    ],
}


def accepted() -> Accepted:
    accepted = accept(json.dumps(MESSAGE), OrderSubmitted)
    assert isinstance(accepted, Accepted)
    return accepted


@dataclass(kw_only=True)
class StoredLife(Life):
    """A life in the real store, that keeps what lay in the table after each write."""

    world: DynamoWorld
    items: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        assert self.world.store.submit(accepted().order, self.task, self.plan) is Submission.ACCEPTED
        self.items.append(self.world.raw(ORDER_ID))

    def apply(self, event: Event, *, at: int | None = None, by: str = "") -> Decision:
        loaded = self.world.store.load(ORDER_ID)
        assert loaded is not None
        self.task, self.plan = loaded.task, loaded.plan
        by = SCHEDULERS[len(self.items) % 2]
        decision = super().apply(event, at=self.now + 250 if at is None else at, by=by)
        assert self.world.store.save(decision.task, replaces=loaded.task)
        self.items.append(self.world.raw(ORDER_ID))
        return decision

    def run(self) -> None:
        """Every step that is asked for is done."""
        while self.asked:
            request = self.asked.pop()
            self.apply(answer(request, result=RESULTS[request.step]), at=self.now + 1_500)

    def recover(self, step: str, attempt: int) -> None:
        """The running attempt is overdue, is recovered, and is claimed again."""
        self.asked.clear()
        self.check(at=self.now + 700_000)
        self.retry(step, attempt, at=self.now + 1_000)


@pytest.fixture
def life(moto: DynamoWorld) -> StoredLife:
    """It was submitted."""
    wanted = accepted()
    return StoredLife(app.plan(), TIMING, NOW, wanted.reply_to, wanted.correlation_id, ORDER_ID, world=moto)


def kinds_in(value: Any) -> Iterator[str]:
    """Every kind of DynamoDB attribute value in an item, however deep."""
    if isinstance(value, Mapping):
        yield from value
        for inner in value.values():
            yield from kinds_in(inner)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for inner in value:
            yield from kinds_in(inner)


def test_an_ordinary_task_stays_under_one_kb_all_its_life(life: StoredLife) -> None:
    """A write is billed by whole KB: long ids, every step done, every field that the happy path sets."""
    life.start()
    life.run()

    sizes = [size_of(item) for item in life.items]
    assert life.items[-1]["ProcessState"] == {"S": ProcessState.PROCESSED}
    assert max(sizes) < KB, sizes


def test_an_ordinary_task_stays_under_one_kb_while_a_step_is_recovered(life: StoredLife) -> None:
    life.start()
    life.recover("reserve", 1)
    life.run()

    sizes = [size_of(item) for item in life.items]
    assert life.items[-1]["ProcessState"] == {"S": ProcessState.PROCESSED}
    assert max(sizes) < KB, sizes


def test_an_ordinary_order_takes_one_kb(life: StoredLife) -> None:
    row = life.world.client.get_item(TableName=life.world.tables.orders, Key={"OrderID": {"S": ORDER_ID}})["Item"]

    assert size_of(row) < KB, size_of(row)


def test_a_whole_order_costs_ten_write_units(life: StoredLife) -> None:
    """Index included; the two writes of the submission count double because they are a transaction."""
    life.start()
    life.run()

    order = life.world.client.get_item(TableName=life.world.tables.orders, Key={"OrderID": {"S": ORDER_ID}})["Item"]
    pairs = list(zip([None, *life.items], life.items, strict=False))
    submission = 2 * units_of_write(None, order) + 2 * units_of_write(None, life.items[0])
    changes = sum(units_of_write(before, after) for before, after in pairs[1:])
    index = [units_of_index(before, after) for before, after in pairs]
    total = submission + changes + sum(index)
    told = f"{total} write units: submission {submission}, {len(pairs) - 1} changes {changes}, index {index}"
    assert total <= 10, told
    assert sum(index) == 2, told


def test_nothing_is_ever_stored_as_null(life: StoredLife) -> None:
    """Design rule 8: a condition on absence is never true of a NULL."""
    life.start()
    life.recover("reserve", 1)
    life.declined("reserve", "declined")

    assert life.items[-1]["ProcessState"] == {"S": ProcessState.ERROR}
    kinds = {kind for item in life.items for kind in kinds_in(item)}
    assert {"S", "N", "M"} <= kinds
    assert "NULL" not in kinds


def test_what_is_not_set_is_not_there(life: StoredLife) -> None:
    """S9: LockedBy and CompleteBy start absent; a finished task is in no index."""
    life.start()
    life.run()

    first, last = life.items[0], life.items[-1]
    reserve = first["Steps"]["M"]["reserve"]["M"]
    assert reserve == {"ProcessState": {"S": "Pending"}} | {
        name: {"N": "0"} for name in ("FailureCount", "Attempt", "Fence")
    }
    assert {"Due", "Shard"} <= first.keys()
    assert not {"Due", "Shard", "History", "FenceBase"} & last.keys()


@pytest.mark.parametrize("count", [51, 99, 100, 150])
def test_more_steps_than_a_task_can_hold_are_refused_at_import(count: int) -> None:
    """One task is one item, so the number of its steps is bounded where the workflow is defined."""
    agent = Agent("inventory")

    @agent.operation
    def reserve(_call: Call) -> Mapping[str, Any]:
        return {}

    steps = [Step(reserve, name=f"step-{number}", complete_within=minutes(1)) for number in range(count)]

    with pytest.raises(WorkflowError, match="50"):
        Workflow("long", 1, steps)


def test_the_size_rules_are_those_of_dynamodb() -> None:
    assert size_of({"a": {"S": "é"}}) == 3
    assert size_of({"a": {"N": "0"}}) == 2
    assert size_of({"a": {"N": "1767225600000"}}) == 1 + 5
    assert size_of({"a": {"N": "-100"}}) == 1 + 3
    assert size_of({"a": {"M": {}}}) == 4
    assert size_of({"a": {"M": {"b": {"S": "c"}}}}) == 1 + 3 + 1 + 2
    assert size_of({"a": {"L": [{"BOOL": True}, {"NULL": True}]}}) == 1 + 3 + 2 * 2
