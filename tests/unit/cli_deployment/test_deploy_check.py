"""What would strand work, lose data or take a protection away is refused before anything is changed."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest

from stepward.cli.deploy_check.change import Change, Stack
from stepward.cli.deploy_check.questions import QUESTIONS, refusals
from tests.unit.cli_deployment.changes import FILE, SETTINGS, FakeFacts, refused, stack


def kept(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::{kind}", "DeletionPolicy": "Retain", "Properties": properties}


RESOURCES = {
    "Tasks": kept("DynamoDB::GlobalTable", KeySchema=["OrderID"], Replicas=[{"Region": "a"}, {"Region": "b"}]),
    "Orders": kept("DynamoDB::Table", KeySchema=["OrderID"]),
    "Bucket": kept("S3::Bucket"),
    "Key": kept("KMS::Key"),
    "Topic": kept("SNS::Topic", TopicName="alerts"),
    "Q1": kept("SQS::Queue", FifoQueue=True),
    "Function": kept("Lambda::Function"),
}


def change(facts: FakeFacts | None = None, resources: Mapping[str, Any] | None = None, **settings: Any) -> Change:
    after = {name: it for name, it in {**RESOURCES, **(resources or {})}.items() if it}
    new = {**SETTINGS, **settings}
    return Change(stack(SETTINGS, {}, RESOURCES), stack(new, {}, after), facts or FakeFacts(), FILE)


def changed(name: str, **properties: Any) -> dict[str, Any]:
    """The resource of this name with other properties."""
    resource: dict[str, Any] = copy.deepcopy(RESOURCES[name])
    resource["Properties"].update(properties)
    return {name: resource}


def test_what_changes_nothing_that_matters_is_not_refused() -> None:
    """D2: and functions come and go."""
    assert refused(change(FakeFacts(shards={1: 5}, queues={"Q1": 3}), {"Function": None}, shards=9)) == []


@pytest.mark.parametrize(
    ("about", "question", "reason"),
    [
        (
            change(environment="dev"),
            "environment",
            (
                'this is a production stack, and environment = "dev" would let its tables, queues, bucket and key be '
                f'deleted; write environment = "prod" in {FILE}, or give development a stack name of its own'
            ),
        ),
        (
            change(FakeFacts(shards={1: 9, 5: 2, 7: 14}), shards=4),
            "shards",
            (
                "shards = 4 gives up 5, 7 of 8 shards, in which 16 orders wait; write draining_shards = 8 beside it in "
                f"{FILE} until they are empty"
            ),
        ),
        (
            change(event_bus="orders"),
            "event-bus",
            (
                "there is no event bus orders, so every alert for programs would be lost; create it (aws "
                f"events create-event-bus --name orders), or correct event_bus in {FILE}"
            ),
        ),
        (
            change(lanes_table=""),
            "tables",
            (
                "lanes_table = lanes-again is gone, and what is in lanes-again would be left behind; write "
                f'lanes_table = "lanes-again" in {FILE}'
            ),
        ),
        (
            change(lanes_table="x"),
            "tables",
            (
                "lanes_table changes from lanes-again to x, and what is in lanes-again would be left behind; write "
                f'lanes_table = "lanes-again" in {FILE}'
            ),
        ),
        (
            change(FakeFacts(queues={"Q1": 12}), {"Q1": None}),
            "queues",
            "queue agent-payments would leave the stack, with 12 messages in it; keep it until it is empty",
        ),
        (
            change(FakeFacts(queues={"Q1": 1}), changed("Q1", FifoQueue=False)),
            "queues",
            (
                "queue agent-payments would be replaced by an empty one (another FifoQueue), with a message in it; "
                "keep it until it is empty"
            ),
        ),
        (
            change(None, changed("Orders", KeySchema=["Id"])),
            "data",
            (
                "table Orders would be replaced by an empty one (another KeySchema), with all that it holds; take the "
                "change back"
            ),
        ),
        (
            change(None, changed("Tasks", Replicas=[{"Region": "a"}])),
            "data",
            "table Tasks would lose its copy in b; keep it in replica_regions",
        ),
        (
            change(None, {"Key": {**RESOURCES["Key"], "DeletionPolicy": "Delete"}}),
            "data",
            "key Key would be deleted with the stack, and is kept today; leave it protected",
        ),
        *(
            (
                change(None, {name: None}),
                "data",
                f"{called} {name} would leave the stack, with all that it holds; take the change back",
            )
            for name, called in (("Orders", "table"), ("Bucket", "bucket"), ("Key", "key"), ("Topic", "topic"))
        ),
        (
            Change(
                stack({**SETTINGS, "shards": 4, "draining_shards": 8}, {}, {}),
                stack({**SETTINGS, "shards": 4}, {}, {}),
                FakeFacts(shards={6: 1}),
                FILE,
            ),
            "shards",
            (
                "shards = 4 gives up 6 of 8 shards, in which an order waits; write draining_shards = 8 beside it in "
                f"{FILE} until they are empty"
            ),
        ),
    ],
)
def test_a_change_that_would_lose_something_is_refused_with_what_to_do(
    about: Change, question: str, reason: str
) -> None:
    """D2."""
    assert refused(about) == [(question, reason)]


@pytest.mark.parametrize(
    "about",
    [
        change(shards=4),
        change(None, {"Q1": None}),
        change(None, changed("Q1", FifoQueue=False)),
        change(FakeFacts(shards={5: 2}), shards=4, draining_shards=8),
    ],
)
def test_what_is_empty_or_drains_may_go(about: Change) -> None:
    """D1, D2: shards, queues and operations without work; where nothing goes, nothing has to be read."""
    assert refused(about) == []


def test_a_stack_of_somebody_else_is_left_alone() -> None:
    foreign = Change(Stack({"Resources": {}}), change().after, FakeFacts(), FILE)
    reason = f"the deployed stack shop-prod is no deployment of Stepward; choose another stack name in {FILE}"
    assert refused(foreign) == [("foreign-stack", reason)]


def test_a_new_stack_can_only_lack_what_is_around_it() -> None:
    about = change(event_bus="orders", environment="dev")
    assert [name for name, _ in refusals(about, new=True)] == ["event-bus"]


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_says_what_it_holds_to(name: str) -> None:
    assert (QUESTIONS[name].__doc__ or "").endswith(".")
