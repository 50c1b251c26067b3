"""The questions that a deployment is asked; each answers with what it refuses, and with what to do instead.

To add one, write a function of a Change and list it in QUESTIONS under the name by which `--allow` passes over it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stepward.cli.deploy_check.change import Change

Question = Callable[[Change], Iterator[str]]

QUEUE = "AWS::SQS::Queue"
_TABLE = ("TableName", "KeySchema", "LocalSecondaryIndexes")
_REPLACED_BY = {
    "AWS::DynamoDB::Table": _TABLE,
    "AWS::DynamoDB::GlobalTable": _TABLE,
    "AWS::S3::Bucket": ("BucketName",),
    "AWS::KMS::Key": (),
    "AWS::SNS::Topic": ("TopicName", "FifoTopic"),
    QUEUE: ("QueueName", "FifoQueue"),
}
"""What holds data, work or subscriptions, and the properties that CloudFormation changes by a new one."""
_CALLED = {
    "AWS::DynamoDB::Table": "table",
    "AWS::DynamoDB::GlobalTable": "table",
    "AWS::S3::Bucket": "bucket",
    "AWS::KMS::Key": "key",
    "AWS::SNS::Topic": "topic",
    QUEUE: "queue",
}


def is_ours(change: Change) -> Iterator[str]:
    """A stack of somebody else is not ours to change."""
    if not change.before.settings:
        stack = change.after.settings["stack"]
        yield f"the deployed stack {stack} is no deployment of Stepward; choose another stack name in {change.file}"


def protection(change: Change) -> Iterator[str]:
    """Production stays production."""
    if change.before.settings.get("environment") == "prod" and change.after.settings["environment"] != "prod":
        yield (
            f'this is a production stack, and environment = "{change.after.settings["environment"]}" would let its '
            f'tables, queues, bucket and key be deleted; write environment = "prod" in {change.file}, or give '
            "development a stack name of its own"
        )


def shards(change: Change) -> Iterator[str]:
    """Work is swept soonest in the shards that a deployment has."""
    old, new = change.before.settings.get("shards", 0), change.after.settings["shards"]
    held = {shard: count for shard in range(new, old) if (count := change.facts.in_shard(shard))}
    if held:
        count = sum(held.values())
        waiting = "an order waits" if count == 1 else f"{count} orders wait"
        yield (
            f"shards = {new} gives up {', '.join(map(str, held))} of {old} shards, in which {waiting}; "
            f"write shards = {old} in {change.file} until that has ended"
        )


def bus(change: Change) -> Iterator[str]:
    """EventBridge takes events for a bus that does not exist, and loses them."""
    name = change.after.settings["event_bus"]
    if not change.facts.has_bus(name):
        yield (
            f"there is no event bus {name}, so every alert for programs would be lost; create it "
            f"(aws events create-event-bus --name {name}), or correct event_bus in {change.file}"
        )


def tables(change: Change) -> Iterator[str]:
    """Work goes on in the tables where it is."""
    for name, (old, new) in change.settings.items():
        if name.endswith("_table") and old:
            went = f"{name} changes from {old} to {new}" if new else f"{name} = {old} is gone"
            yield (f'{went}, and what is in {old} would be left behind; write {name} = "{old}" in {change.file}')


def data(change: Change) -> Iterator[str]:
    """What holds data or work is neither deleted nor replaced, and loses no protection."""
    for kind, properties in _REPLACED_BY.items():
        after = change.after.of(kind)
        for name, resource in change.before.of(kind).items():
            if name not in after:
                yield from _lost(change, kind, name, "would leave the stack")
            elif differs := [key for key in properties if _given(resource, key) != _given(after[name], key)]:
                yield from _lost(
                    change, kind, name, f"would be replaced by an empty one ({', '.join(differs)} differs)"
                )
            elif "environment" not in change.settings:  # that is refused as a whole
                yield from _weaker(kind, name, resource, after[name])


def _lost(change: Change, kind: str, name: str, what: str) -> Iterator[str]:
    if kind != QUEUE:
        yield f"{_CALLED[kind]} {name} {what}, with all that it holds; take the change back"
    elif waiting := change.facts.in_queue(name):
        messages = "a message" if waiting == 1 else f"{waiting} messages"
        yield f"queue {change.facts.name_of(name)} {what}, with {messages} in it; keep it until it is empty"


def _weaker(kind: str, name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    if before.get("DeletionPolicy") == "Retain" != after.get("DeletionPolicy"):
        yield f"{_CALLED[kind]} {name} would be deleted with the stack, and is kept today; leave it protected"
    if missing := _regions(before) - _regions(after):
        yield f"{_CALLED[kind]} {name} would lose its copy in {', '.join(sorted(missing))}; keep it in replica_regions"


def _regions(resource: Mapping[str, Any]) -> set[str]:
    return {str(replica["Region"]) for replica in _given(resource, "Replicas") or ()}


def _given(resource: Mapping[str, Any], key: str) -> Any:
    return resource.get("Properties", {}).get(key)


QUESTIONS: Mapping[str, Question] = {
    "foreign-stack": is_ours,
    "environment": protection,
    "shards": shards,
    "event-bus": bus,
    "tables": tables,
    "data": data,
}
FOR_A_NEW_STACK = ("event-bus",)


def refusals(change: Change, *, new: bool) -> Iterator[tuple[str, str]]:
    """Each refusal with the name of its question; a new stack can only miss what is around it."""
    for name in FOR_A_NEW_STACK if new else QUESTIONS:
        for reason in QUESTIONS[name](change):
            yield name, reason
