"""The questions that a deployment is asked; each answers with what it refuses, and with what to do instead.

To add one, write a function of a Change and list it in QUESTIONS under the name by which `--allow` passes over it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from stepward.cli.deploy_check.change import MOST_COUNTED, Change
from stepward.cli.deploy_check.in_flight import Operations

Question = Callable[[Change], Iterator[str]]

QUEUE, SECRET = "AWS::SQS::Queue", "AWS::SecretsManager::Secret"
_TABLE = ("TableName", "KeySchema", "LocalSecondaryIndexes")
_REPLACED_BY = {
    "AWS::DynamoDB::Table": _TABLE,
    "AWS::DynamoDB::GlobalTable": _TABLE,
    "AWS::S3::Bucket": ("BucketName",),
    "AWS::KMS::Key": (),
    "AWS::SNS::Topic": ("TopicName", "FifoTopic"),
    SECRET: (),
    QUEUE: ("QueueName", "FifoQueue"),
}
"""What holds data, work or subscriptions, and the properties that CloudFormation changes by a new one."""
_CALLED = {
    "AWS::DynamoDB::Table": "table",
    "AWS::DynamoDB::GlobalTable": "table",
    "AWS::S3::Bucket": "bucket",
    "AWS::KMS::Key": "key",
    "AWS::SNS::Topic": "topic",
    SECRET: "secret",
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
    old, new = change.before.shards, change.after.shards
    held = {shard: count for shard in range(new, old) if (count := change.facts.in_shard(shard))}
    if held:
        count, least = sum(held.values()), "at least " if max(held.values()) >= MOST_COUNTED else ""
        waiting = "an order waits" if count == 1 else f"{least}{count} orders wait"
        yield (
            f"shards = {new} gives up shard{'s' * (len(held) > 1)} {', '.join(map(str, held))}, in which {waiting}; "
            f"write draining_shards = {old} beside it in {change.file} until nothing is left there"
        )


def in_flight(change: Change) -> Iterator[str]:
    """What orders in flight still need is served until they have ended."""
    gone, closed = change.gone, change.closed
    if not gone and not closed:
        return
    found = change.facts.in_flight
    least = "at least " if found.more or found.unreadable else ""
    for (workflow, version), (count, asked) in found.needing(gone).items():
        many = count > 1 or bool(least)
        orders = f"{least}{count} order{'s' * many}"
        needs, keep = "need" if many else "needs", "it" if len(asked) == 1 else "them"
        yield (
            f"{orders} of {workflow} version {version} still {needs} {listed(asked)}; keep {keep} in draining=[...] of "
            "the workflow, or wait"
        )
    for workflow in closed:
        if count := sum(each for (name, *_), each in found.needs.items() if name == workflow):
            yield (
                f"orders of workflow {workflow} in flight: {least}{count}; what names it would be rejected, so no "
                "event, cancellation or command would reach them; keep it in workflows=[...], or wait"
            )
    needed = listed(gone) or f"workflow {', '.join(closed)}"
    if found.more:
        yield f"more orders are in flight than were read, and any of them may need {needed}; wait"
    if found.unreadable:
        yield f"an order in flight cannot be read, and may need {needed} ({found.unreadable}); repair it, or wait"


def drained(change: Change) -> Iterator[str]:
    """Production takes away only what has been draining: orders and ledgers still arrive while it is deployed."""
    if change.before.settings.get("environment") != "prod":
        return
    if early := change.gone - change.before.draining:
        yield (
            f"until this deployment has ended, new orders may still begin that need {listed(early)}; first deploy with "
            "the steps moved from steps=[...] to draining=[...] of the workflow"
        )
    own = "ledger_customers", "draining_customers"
    draining = change.before.customers("draining_customers")
    if early_customers := change.before.customers(*own) - change.after.customers(*own) - draining:
        names = ", ".join(sorted(early_customers))
        yield (
            f"until this deployment has ended, ledgers may still arrive in the queue of {names}; first deploy with "
            f"{names} in draining_customers of {change.file}"
        )


def keys(change: Change) -> Iterator[str]:
    """Orders and lanes are found under the keys that they have."""
    old, new = change.before.per_customer, change.after.per_customer
    for name in sorted(old - new):
        yield (
            f"orders of workflow {name} are stored under workflow, customer and order id; no event or command would "
            "reach them any more; keep that name and per_customer=True"
        )
    known = {*change.before.workflows, *change.after.workflows[:1]}
    for name in sorted(new - old) if change.before.served and not old - new else ():
        if known and name not in known:
            continue  # a new workflow, whose orders have their keys from the beginning
        yield (
            f"orders are stored without their customer; no event or command would reach them once workflow {name} "
            "tells customers apart; take per_customer=True back, or give it a stack of its own"
        )
    yield from _default(change.before.workflows, change.after.workflows)


def _default(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Orders of the default workflow are stored under their order id alone; to rename it moves none."""
    (old, *others), (new, *rest) = before or ("",), after or ("",)
    if old and new and old != new and {old, new} & {*others, *rest}:
        yield (
            f"the default workflow changes from {old} to {new}: orders keep the keys that they have, so those "
            f"of {old} would be taken for orders of {new}, and those of {new} would not be found; write default={old}"
        )


def listed(operations: Operations) -> str:
    """The operations as a person reads them."""
    return ", ".join(sorted(f"{agent}.{name}" for agent, name in operations))


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
    """What holds data is neither deleted nor replaced, and loses no protection."""
    after = change.after.resources
    for kind, properties in _REPLACED_BY.items():
        for name, resource in change.before.of(kind).items():
            if what := _lost(resource, after.get(name), properties):
                if kind != QUEUE:
                    yield f"{_CALLED[kind]} {name} {what}, with all that it holds; {_back(change, kind)}"
            elif "environment" not in change.settings:  # that is refused as a whole
                yield from _weaker(kind, name, resource, after[name])


def queues(change: Change) -> Iterator[str]:
    """A queue goes only once it is empty, and so does its dead-letter queue."""
    after = change.after.resources
    for name, resource in change.before.of(QUEUE).items():
        what = _lost(resource, after.get(name), _REPLACED_BY[QUEUE])
        if what and (waiting := change.facts.in_queue(name)):
            messages = "a message" if waiting == 1 else f"{waiting} messages"
            called = change.facts.name_of(name) if change.before.settings else name
            yield f"queue {called} {what}, with {messages} in it; {_emptied(change, called)}"


def _emptied(change: Change, queue: str) -> str:
    """How a person keeps a queue until it is empty, and empties it if nothing else does."""
    match (live := queue.removesuffix("-dead")).partition("-"):
        case "agent", _, _:
            kept = "its agent, as it is or in draining=[...] of the workflow,"
        case "ledgers", "-", customer:
            kept = f"{customer} in draining_customers of {change.file}"
        case _:
            kept = "it"
    look = f"; its dead letters wait for you: {change.facts.typed('dead-letters', 'show', live)}"
    return f"keep {kept} until it is empty{look * (live != queue)}"


def _back(change: Change, kind: str) -> str:
    """What a person takes back of a change that loses data."""
    if kind == SECRET:
        return (
            "services could not answer any more the steps that they took over; keep answer_within, or those steps in "
            "draining=[...] of the workflow, until none waits, and then give --allow data"
        )
    old, _ = change.settings.get("replica_regions", (None, None))
    if old is None:
        return "take back what changed it, in infra or by another version of stepward_cdk"
    return f"write replica_regions = {json.dumps(old)} in {change.file}, as it was"


def _lost(before: Mapping[str, Any], after: Mapping[str, Any] | None, properties: Sequence[str]) -> str:
    """How the resource would lose what it holds; empty if it would not."""
    if after is None:
        return "would leave the stack"
    differs = ["Type"] if before["Type"] != after["Type"] else []
    differs += [key for key in properties if _given(before, key) != _given(after, key)]
    return f"would be replaced by an empty one (another {', '.join(differs)})" if differs else ""


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
    "in-flight": in_flight,
    "drained": drained,
    "keys": keys,
    "queues": queues,
    "shards": shards,
    "event-bus": bus,
    "tables": tables,
    "data": data,
}
FOR_A_NEW_STACK = ("event-bus",)
END_BY_THEMSELVES = frozenset({"in-flight", "queues", "shards"})
"""What these questions refuse ends in time, and `--drain` waits for it."""


def refusals(change: Change, *, new: bool) -> Iterator[tuple[str, str]]:
    """Each refusal with the name of its question; a new stack can only miss what is around it."""
    for name in FOR_A_NEW_STACK if new else QUESTIONS:
        for reason in QUESTIONS[name](change):
            yield name, reason
