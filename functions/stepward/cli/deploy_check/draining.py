"""What a deployment drains, and how much of it is left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stepward.cli.deploy_check.change import Change
from stepward.cli.deploy_check.in_flight import Operations


@dataclass(frozen=True, slots=True)
class Draining:
    """Something that takes no new work; it may be taken away once nothing is left.

    `kind` says what its `messages` are. `more` says that not all orders in flight were read.
    """

    name: str
    orders: int = 0
    messages: int = 0
    kind: str = "request"
    more: bool = False

    def __str__(self) -> str:
        counts = {self.kind: self.messages, "order": self.orders}
        left = " and ".join(f"{count} {what}{'s' * (count > 1)}" for what, count in counts.items() if count)
        if self.more:
            left = f"at least {left or '0 orders'}"
        return f"{self.name}: {left} left" if left else f"{self.name}: nothing left, you may take it away"


def draining(change: Change) -> Iterator[Draining]:
    """Everything that the stack would drain after the change, as far as it is deployed today."""
    yield from _operations(change)
    own = change.before.customers("ledger_customers", "draining_customers")
    for customer in sorted(change.after.customers("draining_customers") & own):
        queue = f"ledgers-{customer}"
        yield Draining(queue, messages=change.facts.waiting(queue), kind="ledger")
    first = change.after.settings.get("shards", 0)
    if held := range(first, min(change.after.settings.get("draining_shards", 0), change.before.shards)):
        named = f"shards {held[0]} to {held[-1]}" if len(held) > 1 else f"shard {held[0]}"
        yield Draining(named, orders=sum(map(change.facts.in_shard, held)))


def _operations(change: Change) -> Iterator[Draining]:
    """Each agent that drains as a whole, with its requests; of the others each draining operation."""
    draining = change.after.draining & change.before.served
    kept = {agent for agent, _ in change.after.served - change.after.draining}
    for agent in sorted({agent for agent, _ in draining} - kept):
        requests = sum(change.facts.waiting(queue) for queue in (f"agent-{agent}", f"agent-{agent}-high"))
        whole = frozenset(operation for operation in draining if operation[0] == agent)
        yield _draining(change, f"agent {agent}", whole, requests)
    for agent, name in sorted(operation for operation in draining if operation[0] in kept):
        yield _draining(change, f"{agent}.{name}", frozenset({(agent, name)}))


def _draining(change: Change, name: str, operations: Operations, requests: int = 0) -> Draining:
    found = change.facts.in_flight
    orders = sum(count for count, _ in found.needing(operations).values())
    return Draining(name, orders, requests, more=found.more or bool(found.unreadable))
