"""A record that cannot be understood names its order, and keeps nobody from the others."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pytest

from stepward.domain.errors import Corrupt
from stepward.domain.submission import Submission
from stepward.domain.task.record import Task
from tests.contract.worlds.store_worlds import NOW, PLAN, SHARDS, DynamoWorld, order_of, submitted, task_of

Item = dict[str, Any]
Change = Callable[[Item], object]

PLAN_ROW = {"OrderID": {"S": f"~plan#{PLAN.plan_id}"}}
NULL = {"NULL": True}
TIMESTAMPS = [
    "2026-01-01T12:00:00.000000+0000",
    "2026-01-01T12:00:00.000000+00:00",
    "2026-01-01T12:00:00Z",
    "2026-01-01T12:00:00.5Z",
    "2026-01-01T21:00:00.000000+0900",
    "2026-01-01T12:00:00",
    "1767268800000",
]
TEXTS = ["ProcessState", "Plan", "WriteId"]
NUMBERS = ["CreatedAt", "Revision", "Fence"]
COUNTS_OF_A_STEP = ["FailureCount", "Attempt", "Fence"]
NOT_TEXT: list[Any] = [{"N": "1"}, {"BOOL": True}, {"L": []}, {"M": {}}]
NOT_A_NUMBER: list[Any] = [{"S": "7"}, {"N": "1.5"}, {"BOOL": True}, {"L": []}, {"M": {}}]
NOT_STEPS: list[Any] = [*NOT_A_NUMBER, NULL, {"M": {"reserve": {"S": "x"}}}, {"M": {"reserve": {"M": {}}}}]
HISTORIES = ["x", "[1]", "[[]]", '[[1,"Nonsense"]]', '[[1,2,"",3,"","",4]]', "7"]


@dataclass(frozen=True)
class Spoiler:
    """Puts what a change makes of the item of ord-1 into the table, past the adapter, and reads it."""

    world: DynamoWorld
    item: Item

    def load(self, change: Change = lambda _: None) -> None:
        item = deepcopy(self.item)
        change(item)
        self.world.client.put_item(TableName=self.world.tables.tasks, Item=item)
        replace(self.world.store, known_plans={}).load("ord-1")

    def assert_corrupt(self, change: Change, why: str = "") -> None:
        with pytest.raises(Corrupt, match="ord-1") as error:
            self.load(change)
        assert why in str(error.value)


@pytest.fixture
def spoiler(moto: DynamoWorld) -> Spoiler:
    submitted(moto.store, "ord-1")
    return Spoiler(moto, moto.raw("ord-1"))


def reserve(item: Item) -> Item:
    step: Item = item["Steps"]["M"]["reserve"]["M"]
    return step


def put(name: str, value: Any) -> Change:
    return lambda item: item.update({name: value})


def put_in_step(name: str, value: Any) -> Change:
    return lambda item: reserve(item).update({name: value})


def take(name: str) -> Change:
    return lambda item: item.pop(name)


def take_from_step(name: str) -> Change:
    return lambda item: reserve(item).pop(name)


def test_the_record_is_sound_before_it_is_spoiled(spoiler: Spoiler) -> None:
    spoiler.load()


STEP_TEXTS = ["ProcessState", "LockedBy", "Token", "Error", "Result"]
WRONG_STATE_OR_RESULT = [("ProcessState", {"N": "1"}), ("Result", {"S": "{"}), ("Result", {"S": ""})]
TIMES = product(["CompleteBy", "StartedAt", "EndedAt", "AlertBy"], [{"S": text} for text in TIMESTAMPS])
WRONG_IN_TASK = [*product(TEXTS, NOT_TEXT), *product(NUMBERS, NOT_A_NUMBER), *product(["Steps"], NOT_STEPS)]
WRONG_IN_STEP = [*product(STEP_TEXTS, NOT_TEXT), *product([*COUNTS_OF_A_STEP, "AlertBy"], NOT_A_NUMBER)]
NEEDED = [*TEXTS, *NUMBERS, "Steps"]
SPOILED: dict[str, list[tuple[Change, str]]] = {
    "a time that is not a number": [(put_in_step(name, time), "reserve") for name, time in TIMES],
    # Null is absence: nothing of ours writes NULL, so whoever did has to be found.
    "a lock that is null": [(put_in_step("LockedBy", NULL), "reserve")],
    "a task that lacks something": [(change, n) for n in NEEDED for change in (take(n), put(n, NULL))],
    "a step that lacks something": [(take_from_step(name), name) for name in [*COUNTS_OF_A_STEP, "ProcessState"]],
    "something of the wrong kind in a task": [(put(name, value), "") for name, value in WRONG_IN_TASK],
    "something of the wrong kind in a step": [
        (put_in_step(name, value), "reserve") for name, value in [*WRONG_IN_STEP, *WRONG_STATE_OR_RESULT]
    ],
    "a history that makes no sense": [(put("History", {"S": text}), "") for text in HISTORIES],
    "a task that lacks a step of its plan": [(lambda item: item["Steps"]["M"].pop("ship"), "ship")],
}


@pytest.mark.parametrize("changes", SPOILED.values(), ids=SPOILED)
def test_what_makes_no_sense_is_corrupt(spoiler: Spoiler, changes: list[tuple[Change, str]]) -> None:
    for change, why in changes:
        spoiler.assert_corrupt(change, why)


def test_an_order_that_makes_no_sense_is_corrupt(spoiler: Spoiler) -> None:
    world = spoiler.world
    for body in [{"S": ""}, {"S": "x"}, {"S": "[]"}, {"S": "null"}, {"S": '{"a":NaN}'}, {"S": '"text"'}, {"N": "1"}]:
        row: Item = {"OrderID": {"S": "ord-1"}, "Body": body, "ContentHash": {"S": "x"}, "WriteId": {"S": "x"}}
        world.client.put_item(TableName=world.tables.orders, Item=row)
        spoiler.assert_corrupt(lambda _: None, "order")

    world.client.delete_item(TableName=world.tables.orders, Key={"OrderID": {"S": "ord-1"}})
    spoiler.assert_corrupt(lambda _: None, "its order is not")


def test_a_plan_that_makes_no_sense_makes_its_tasks_corrupt(spoiler: Spoiler) -> None:
    world = spoiler.world
    for text in ["", "x", "[]", "{}", '{"workflow":"w","version":1,"steps":[{}]}']:
        world.client.put_item(TableName=world.tables.tasks, Item={**PLAN_ROW, "Body": {"S": text}})
        spoiler.assert_corrupt(lambda _: None, PLAN.plan_id)
    world.client.put_item(TableName=world.tables.tasks, Item=PLAN_ROW)
    spoiler.assert_corrupt(lambda _: None, PLAN.plan_id)

    world.client.delete_item(TableName=world.tables.tasks, Key=PLAN_ROW)
    spoiler.assert_corrupt(lambda _: None, f"{PLAN.plan_id} is not in the state store")


def test_a_spoiled_record_is_still_listed_as_due_beside_the_others(spoiler: Spoiler) -> None:
    """The index holds keys only, so nothing in a record can stop the Supervisor's list."""
    submitted(spoiler.world.store, "ord-2")
    spoiler.assert_corrupt(lambda item: item.update(Steps={"S": "garbage"}, History={"S": "garbage"}))

    listed = {order_id for shard in range(SHARDS) for order_id in spoiler.world.store.due(shard, NOW + 10**6)}

    assert listed == {"ord-1", "ord-2"}


def test_a_spoiled_record_is_named_beside_the_others_when_people_list_the_store(spoiler: Spoiler) -> None:
    submitted(spoiler.world.store, "ord-2")
    spoiler.assert_corrupt(lambda item: item.update(Steps={"S": "garbage"}))

    others = [found for found in spoiler.world.store.every(None) if isinstance(found, Task)]
    named = [str(found) for found in spoiler.world.store.every(None) if isinstance(found, Corrupt)]
    assert [task.order_id for task in others] == ["ord-2"]
    assert len(named) == 1
    assert "ord-1" in named[0]


def test_a_spoiled_task_does_not_hide_that_its_order_was_submitted(spoiler: Spoiler) -> None:
    spoiler.assert_corrupt(lambda item: item.update(Steps={"S": "garbage"}))

    again = spoiler.world.store.submit(order_of("ord-1"), task_of("ord-1"), PLAN)

    assert again is Submission.DUPLICATE
