"""What a whole ordinary order costs: its item at every moment of its life, and its writes."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from stepward.adapters.dynamodb.task_store import DynamoTaskStore
from stepward.cli.cost.billing import units_of_indexes
from stepward.cli.cost.item_size import KB, size_of, units_of_write
from stepward.domain.coordination.outlook import DeadlineCheck
from stepward.domain.errors import WorkflowError
from stepward.domain.key import ANY, SUBMITTED, Keys
from stepward.domain.messages import Outcome, Reply, Retry, Start, StepRequest
from stepward.domain.submission import Submission
from stepward.domain.task.decide import Event, decide
from stepward.domain.task.record import Parent, ProcessState, new_task
from stepward.domain.timing import minutes
from stepward.domain.workflow.agents import Agent, Call
from stepward.domain.workflow.application import App
from stepward.domain.workflow.definition import Step, Workflow
from stepward.wire.order import Accepted, accept
from tests.contract.worlds.store_worlds import NOW, TIMING, DynamoWorld, changed, submitted, task_in
from tests.shop import app as shop

ORDER_ID = "7f3c9a52-6d1e-4b8a-9c47-0e5d2f1a8b63"
DAY_S = 86_400
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


def accepted(keys: Keys, app: App = shop) -> Accepted:
    accepted = accept(json.dumps(MESSAGE), app.schemas, keys)
    assert isinstance(accepted, Accepted)
    return accepted


@dataclass
class Life:
    """Drives one order through the real store and stores the item after each write."""

    world: DynamoWorld
    keys: Keys
    now: int = NOW
    complete_by: int | None = None
    app: App = shop
    items: list[dict[str, Any]] = field(default_factory=list)
    requests: list[StepRequest] = field(default_factory=list)

    @property
    def store(self) -> DynamoTaskStore:
        return self.world.store

    @property
    def key(self) -> str:
        return accepted(self.keys).order.order_id

    def submit(self) -> None:
        plan = self.app.plans()[SUBMITTED]
        wanted = accepted(self.keys, self.app)
        task = new_task(self.key, plan, self.now, TIMING, complete_by=self.complete_by)
        task = replace(task, reply_to=wanted.reply_to, correlation_id=wanted.correlation_id)
        outcome = self.store.submit(wanted.order, task, plan)
        assert outcome is Submission.ACCEPTED
        self.items.append(self.world.raw(self.key))

    def apply(self, event: Event, after: int = 250) -> None:
        self.now += after
        loaded = self.store.load(self.key)
        assert loaded is not None
        by = SCHEDULERS[len(self.items) % 2]
        decision = decide(loaded.task, loaded.plan, event, now=self.now, by=by, timing=TIMING)
        assert self.store.save(decision.task, replaces=loaded.task)
        self.items.append(self.world.raw(self.key))
        self.requests += [message for message in decision.messages if isinstance(message, StepRequest)]

    def answer(self) -> None:
        asked = self.requests.pop()
        ok = Reply(self.key, asked.step, asked.attempt, asked.token, Outcome.OK, RESULTS[asked.step])
        self.apply(ok, after=1_500)

    def run(self) -> None:
        self.submit()
        self.apply(Start(self.key))
        while self.requests:
            self.answer()

    def recover(self) -> None:
        """The first step's first attempt is overdue, is recovered, and is claimed again."""
        self.submit()
        self.apply(Start(self.key))
        self.requests.clear()
        self.apply(DeadlineCheck(), after=700_000)
        self.apply(Retry(self.key, "reserve", 1), after=1_000)

    def recover_and_run(self) -> None:
        self.recover()
        while self.requests:
            self.answer()


@pytest.fixture(params=[ANY, Keys(("fulfilment",), frozenset({"fulfilment"}))], ids=["by order", "by customer"])
def life(moto: DynamoWorld, request: pytest.FixtureRequest) -> Life:
    return Life(moto, request.param)


def kinds_in(value: Any) -> Iterator[str]:
    """Every kind of DynamoDB attribute value in an item, however deep."""
    if isinstance(value, Mapping):
        yield from value
        for inner in value.values():
            yield from kinds_in(inner)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for inner in value:
            yield from kinds_in(inner)


@pytest.mark.parametrize("run", [Life.run, Life.recover_and_run], ids=["happy path", "a step is recovered"])
def test_an_ordinary_task_stays_under_one_kb_all_its_life(life: Life, run: Callable[[Life], None]) -> None:
    """A write is billed by whole KB: long ids, every step done, every field that the happy path sets."""
    run(life)

    sizes = [size_of(item) for item in life.items]
    assert life.items[-1]["ProcessState"] == {"S": ProcessState.PROCESSED}
    assert max(sizes) < KB, sizes


@pytest.mark.parametrize(("own", "stored"), [(None, None), (NOW + 86_399_999, {"N": str(NOW + 86_399_999)})])
def test_an_orders_own_complete_by_is_stored_only_if_it_has_one(
    moto: DynamoWorld, own: int | None, stored: dict[str, str] | None
) -> None:
    """S24: and it costs no KB more."""
    life = Life(moto, ANY, complete_by=own)
    life.run()

    assert [(item.get("CompleteBy"), item.get("TimeLimit")) for item in life.items] == [(stored, None)] * 5
    assert max(map(size_of, life.items)) < KB


def test_an_ordinary_order_takes_one_kb(life: Life) -> None:
    life.submit()

    row = life.world.client.get_item(TableName=life.world.tables.orders, Key={"OrderID": {"S": life.key}})["Item"]

    assert size_of(row) < KB, size_of(row)


def test_a_whole_order_costs_ten_write_units(life: Life) -> None:
    """Index included; the two writes of the submission count double because they are a transaction."""
    costs_ten(life)


def costs_ten(life: Life) -> None:
    life.run()

    order = life.world.client.get_item(TableName=life.world.tables.orders, Key={"OrderID": {"S": life.key}})["Item"]
    pairs = list(zip([None, *life.items], life.items, strict=False))
    submission = 2 * units_of_write(None, order) + 2 * units_of_write(None, life.items[0])
    changes = sum(units_of_write(before, after) for before, after in pairs[1:])
    index = [units_of_indexes(before or {}, after) for before, after in pairs]
    total = submission + changes + sum(index)
    costs = f"{total} write units: submission {submission}, {len(pairs) - 1} changes {changes}, index {index}"
    assert total <= 10, costs
    assert sum(index) == 2, costs


def test_nothing_is_ever_stored_as_null(life: Life) -> None:
    """Design rule 8: a condition on absence is never true of a NULL."""
    life.recover()
    life.requests, refused = [], life.requests[-1]
    declined = Reply(life.key, "reserve", refused.attempt, refused.token, Outcome.PERMANENT, error="declined")
    life.apply(declined)

    assert life.items[-1]["ProcessState"] == {"S": ProcessState.ERROR}
    kinds = {kind for item in life.items for kind in kinds_in(item)}
    assert {"S", "N", "M"} <= kinds
    assert "NULL" not in kinds


def test_what_is_not_set_is_not_there(life: Life) -> None:
    """S9: LockedBy and CompleteBy start absent; a finished task is in no index."""
    life.run()

    first, last = life.items[0], life.items[-1]
    reserve = first["Steps"]["M"]["reserve"]["M"]
    counts = {name: {"N": "0"} for name in ("FailureCount", "Attempt", "Fence")}
    assert reserve == {"ProcessState": {"S": "Pending"}} | counts
    assert {"Due", "Shard"} <= first.keys()
    assert not {"Due", "Shard", "History", "FenceBase"} & last.keys()


def test_a_large_result_costs_a_row_of_its_own_and_goes_with_its_task(aws: DynamoWorld) -> None:
    """Case 23: later writes of the task do not pay for it."""
    store, before = replace(aws.store, keep_finished=DAY_S), submitted(aws.store, "ord-1")
    done = {
        name: replace(each, process_state=ProcessState.PROCESSED, ended_at=NOW) for name, each in before.steps.items()
    }
    large = replace(done["reserve"], attempt=1, size=7_908, result={"lines": "x" * 7_896})
    running = changed(before, steps={**before.steps, "reserve": large})
    row = {"OrderID": {"S": "~result#ord-1/reserve/1"}}

    assert store.save(running, replaces=before)
    assert units_of_write(None, aws.raw("ord-1")) == 1
    assert "ExpiresAt" not in aws.client.get_item(TableName=aws.tables.tasks, Key=row)["Item"]

    read = task_in(store, "ord-1")
    assert store.save(changed(read, steps=done | {"reserve": read.steps["reserve"]}), replaces=read)
    kept = aws.client.get_item(TableName=aws.tables.tasks, Key=row)["Item"]
    assert kept["ExpiresAt"] == aws.raw("ord-1")["ExpiresAt"] == {"N": str(NOW // 1000 + DAY_S)}
    assert store.result(read.steps["reserve"]) == large.result


def test_a_child_does_not_expire(aws: DynamoWorld) -> None:
    """I13: its parent may still have to undo it."""
    store, before = replace(aws.store, keep_finished=DAY_S), submitted(aws.store, "ord-1")
    done = {
        name: replace(each, process_state=ProcessState.PROCESSED, ended_at=NOW) for name, each in before.steps.items()
    }

    assert store.save(changed(before, steps=done, parent=Parent("ord-0", "part")), replaces=before)

    assert "ExpiresAt" not in aws.raw("ord-1")


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
