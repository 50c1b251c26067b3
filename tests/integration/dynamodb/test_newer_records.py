"""D1: a record of newer code is not corrupt; it waits for code that knows it, or keeps what this code passes over."""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from stepward.domain.convoy.lane import Lane
from stepward.domain.errors import NotUnderstood
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.messages import Cancel
from stepward.domain.wish import Wish
from stepward.domain.workflow.plan import Plan
from tests.contract.worlds.lane_worlds import ORDER_ID, DynamoLaneWorld, applied, stored
from tests.contract.worlds.store_worlds import NOW, PLAN, DynamoWorld, submitted

Item = dict[str, Any]
Change = Callable[[Item], object]
KEY = {"OrderID": {"S": "ord-1"}}
PLAN_KEY = {"OrderID": {"S": f"~plan#{PLAN.plan_id}"}}


def changed(world: DynamoWorld, change: Change, key: Item) -> None:
    table = world.tables.tasks
    item = deepcopy(world.client.get_item(TableName=table, Key=key)["Item"])
    change(item)
    world.client.put_item(TableName=table, Item=item)


def in_step(**attributes: Any) -> Change:
    return lambda item: item["Steps"]["M"]["reserve"]["M"].update(attributes)


def in_plan(change: Callable[[Any], object]) -> Change:
    def write(item: Item) -> None:
        plan = json.loads(item["Body"]["S"])
        change(plan)
        item["Body"] = {"S": json.dumps(plan)}

    return write


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda item: item.update(Signals={"M": {}}), "Signals"),
        (in_step(WaitsFor={"S": "approval"}), "reserve.*WaitsFor"),
        (in_step(ProcessState={"S": "Unheard"}), "reserve.*Unheard"),
    ],
)
def test_a_task_of_newer_code_waits_and_is_never_written_again(moto: DynamoWorld, change: Change, what: str) -> None:
    """To write it would drop what this code does not know."""
    submitted(moto.store, "ord-1")
    changed(moto, change, KEY)

    with pytest.raises(NotUnderstood, match=f"ord-1.*{what}") as error:
        moto.store.load("ord-1")

    assert error.value.since is None or error.value.since >= NOW
    assert [type(found) for found in moto.store.every(None)] == [NotUnderstood]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda plan: plan.update(graph="dynamic"), "graph"),
        (lambda plan: plan["steps"][0].update(kind="unheard-of"), "unheard-of"),
        (lambda plan: plan["steps"][0].update(exhausted=[{"kind": "unheard-of"}]), "unheard-of"),
        (lambda plan: plan["steps"][0].update(exhausted=[{"kind": "wait", "until": 1}]), "until"),
        (lambda plan: plan["steps"][0].update(on_permanent="skip"), "skip"),
    ],
)
def test_a_task_whose_plan_is_of_newer_code_waits(
    moto: DynamoWorld, change: Callable[[Any], object], what: str
) -> None:
    """The plan is the gate: to pass over a field could run a timer as a call. It says since when it has been due."""
    task = submitted(moto.store, "ord-1")
    changed(moto, in_plan(change), PLAN_KEY)

    with pytest.raises(NotUnderstood, match=f"ord-1: plan {PLAN.plan_id}.*{what}") as error:
        replace(moto.store, known_plans={}).load("ord-1")

    assert error.value.since == task.due


def test_a_history_of_newer_code_is_kept_as_it_is(moto: DynamoWorld) -> None:
    task = submitted(moto.store, "ord-1")
    rows = [[NOW, "Skipping", "reserve", 1, "s-1", "why", 7], [NOW, "Failed", "reserve", 1, "s-1", "", 0, {"a": [1]}]]
    changed(moto, lambda item: item.update(History={"S": json.dumps(rows)}), KEY)
    loaded = moto.store.load("ord-1", with_order=False)
    assert loaded is not None
    assert [entry.kind.marks.value for entry in loaded.task.history[:1]] == [0]
    entry = HistoryEntry(NOW, HistoryKind.PAUSED)

    assert moto.store.save(replace(loaded.task, revision=2, history=(*loaded.task.history, entry)), replaces=task)

    item = moto.client.get_item(TableName=moto.tables.tasks, Key=KEY)["Item"]
    assert json.loads(item["History"]["S"]) == [*rows, [NOW, "Paused", "", 0, "", "", 0]]


def test_a_plan_leaves_out_its_defaults() -> None:
    """So that a plan which does not use a newer field keeps its text, and the row of that name."""
    (first, *_) = json.loads(PLAN.to_json())["steps"]
    assert first.keys() <= {"name", "agent", "operation", "after", "complete_within", "threshold", "undo", "undo_agent"}
    assert Plan.from_json(PLAN.to_json()) == PLAN


@pytest.mark.parametrize(
    ("attribute", "value", "what"),
    [
        ("Signals", {"S": "[]"}, "Signals"),
        ("Alerted", {"S": "overfull"}, "overfull"),
        ("Recent", {"M": {"1": {"L": [{"S": "{}"}, {"S": "d"}, {"S": "why"}, {"S": "newer"}]}}}, "more parts"),
        ("Recent", {"M": {"1": {"L": [{"S": "{}"}, {"S": "d\x1fmerge"}]}}}, "merge"),
        ("Recent", {"M": {"1": {"L": [{"S": "{}"}, {"S": "\x1f".join("d" * 11)}]}}}, "more parts"),
    ],
)
def test_a_lane_of_newer_code_waits(moto_lanes: DynamoLaneWorld, attribute: str, value: Any, what: str) -> None:
    lane = replace(applied(1), revision=1)
    assert moto_lanes.lanes.save(lane, replaces=Lane(ORDER_ID))
    (item,) = moto_lanes.raw()
    moto_lanes.put(
        "lane",
        **{name: each for name, each in item.items() if name not in {"OrderID", "Position"}} | {attribute: value},
    )

    with pytest.raises(NotUnderstood, match=f"{ORDER_ID}.*{what}"):
        moto_lanes.lanes.load(ORDER_ID)


def test_a_row_of_newer_code_waits(moto_lanes: DynamoLaneWorld) -> None:
    moto_lanes.put("0000000007", Body={"S": stored(7).event.body}, Summary={"S": "d"}, Signature={"S": "x"})
    with pytest.raises(NotUnderstood, match=f"{ORDER_ID}.*Signature"):
        moto_lanes.lanes.rows(ORDER_ID, 1, 10)


@pytest.mark.parametrize("text", ['{"at":1,"who":"a","why":"b","newer":1}', '{"kept":[{"at":1,"step":"s","newer":1}]}'])
def test_a_wish_that_newer_code_wrote_is_left_to_it(moto: DynamoWorld, text: str) -> None:
    moto.store.remember(Wish.of(Cancel("ord-1", "ada", "x"), NOW))
    row = moto.raw("ord-1") | {"Wish": {"S": text}}
    moto.client.put_item(TableName=moto.tables.tasks, Item=row)

    with pytest.raises(NotUnderstood, match="ord-1: a wish with newer"):
        moto.store.wish("ord-1")
