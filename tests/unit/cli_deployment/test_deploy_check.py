"""What would strand work, lose data or take a protection away is refused before anything is changed."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest

from stepward.cli.deploy_check.change import MOST_COUNTED, Change, Stack
from stepward.cli.deploy_check.draining import draining
from stepward.cli.deploy_check.questions import QUESTIONS, refusals
from tests.unit.cli_deployment.changes import FILE, SETTINGS, FakeFacts, refused, stack


def kept(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::{kind}", "DeletionPolicy": "Retain", "Properties": properties}


GLOBAL = "AWS::DynamoDB::GlobalTable"
RESOURCES = {
    "Tasks": kept("DynamoDB::GlobalTable", KeySchema=["OrderID"], Replicas=[{"Region": "a"}, {"Region": "b"}]),
    "Orders": kept("DynamoDB::Table", KeySchema=["OrderID"]),
    "Bucket": kept("S3::Bucket"),
    "Key": kept("KMS::Key"),
    "Topic": kept("SNS::Topic", TopicName="alerts"),
    "CallbackKey": kept("SecretsManager::Secret"),
    "Q1": kept("SQS::Queue", FifoQueue=True),
    "Q2": kept("SQS::Queue", FifoQueue=True),
    "Q3": kept("SQS::Queue"),
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
                "shards = 4 gives up shards 5, 7, in which 16 orders wait; write draining_shards = 8 beside it in "
                f"{FILE} until nothing is left there"
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
            (
                "queue agent-payments would leave the stack, with 12 messages in it; keep its agent, as it is or in "
                "draining=[...] of the workflow, until it is empty"
            ),
        ),
        (
            change(FakeFacts(queues={"Q2": 2}), {"Q2": None}),
            "queues",
            (
                "queue ledgers-acme-dead would leave the stack, with 2 messages in it; keep acme in draining_customers "
                f"of {FILE} until it is empty; its dead letters wait for you: stepward dead-letters show ledgers-acme "
                "--stack shop-prod"
            ),
        ),
        (
            change(FakeFacts(queues={"Q3": 1}), changed("Q3", FifoQueue=True)),
            "queues",
            (
                "queue Q3 would be replaced by an empty one (another FifoQueue), with a message in it; keep it until "
                "it is empty"
            ),
        ),
        (
            change(None, changed("Orders", KeySchema=["Id"])),
            "data",
            (
                "table Orders would be replaced by an empty one (another KeySchema), with all that it holds; take back "
                "what changed it, in infra or by another version of stepward_cdk"
            ),
        ),
        (
            change(None, {"Orders": {**RESOURCES["Orders"], "Type": GLOBAL}}, replica_regions=["b"]),
            "data",
            (
                "table Orders would be replaced by an empty one (another Type), with all that it holds; write "
                f"replica_regions = [] in {FILE}, as it was"
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
        (
            change(None, {"CallbackKey": None}),
            "data",
            (
                "secret CallbackKey would leave the stack, with all that it holds; services could not answer any more "
                "the steps that they took over; keep answer_within, or those steps in draining=[...] of the workflow, "
                "until none waits, and then give --allow data"
            ),
        ),
        *(
            (
                change(None, {name: None}),
                "data",
                (
                    f"{called} {name} would leave the stack, with all that it holds; take back what changed it, in "
                    "infra or by another version of stepward_cdk"
                ),
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
                "shards = 4 gives up shard 6, in which an order waits; write draining_shards = 8 beside it in "
                f"{FILE} until nothing is left there"
            ),
        ),
        (
            change(FakeFacts(shards={4: MOST_COUNTED, 6: 1}), shards=4),
            "shards",
            (
                "shards = 4 gives up shards 4, 6, in which at least 101 orders wait; write draining_shards = 8 beside "
                f"it in {FILE} until nothing is left there"
            ),
        ),
    ],
)
def test_a_change_that_would_lose_something_is_refused_with_what_to_do(
    about: Change, question: str, reason: str
) -> None:
    """D2, cases 5 and 6: shards with work in them; production deployed as development."""
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
    """D2: and nothing is asked of it that only a deployment of ours can answer."""
    theirs = Stack({"Resources": {"Q1": RESOURCES["Q1"]}})
    after = change(None, {"Q1": None}, shards=4, draining_shards=8).after
    foreign = Change(theirs, after, FakeFacts(queues={"Q1": 1}), FILE)
    assert refused(foreign) == [
        (
            "foreign-stack",
            f"the deployed stack shop-prod is no deployment of Stepward; choose another stack name in {FILE}",
        ),
        ("queues", "queue Q1 would leave the stack, with a message in it; keep it until it is empty"),
    ]
    assert list(draining(foreign)) == []


def test_a_new_stack_can_only_lack_what_is_around_it() -> None:
    about = change(event_bus="orders", environment="dev")
    assert [name for name, _ in refusals(about, new=True)] == ["event-bus"]


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_says_what_it_holds_to(name: str) -> None:
    assert (QUESTIONS[name].__doc__ or "").endswith(".")
