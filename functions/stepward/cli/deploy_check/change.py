"""What a deployment would change: the stack as it is, the stack as it would be, and what only the account knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from stepward.cli.deploy_check.in_flight import InFlight, Operations

MOST_COUNTED = 100


@dataclass(frozen=True, slots=True)
class Stack:
    """One stack, as its template describes it."""

    template: Mapping[str, Any]

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings that it was synthesised with; empty if it is no stack of ours."""
        found: Mapping[str, Any] = self.template.get("Metadata", {}).get("Stepward", {})
        return found

    @property
    def served(self) -> Operations:
        """What its agents serve, as (agent, operation)."""
        return self._operations("served")

    @property
    def draining(self) -> Operations:
        """What of it no new order asks for."""
        return self._operations("draining")

    def customers(self, *settings: str) -> set[str]:
        """The customers that these settings list."""
        return {customer for name in settings for customer in self.settings.get(name, ())}

    @property
    def shards(self) -> int:
        """How many shards it sweeps."""
        return max(int(self.settings.get(name, 0)) for name in ("shards", "draining_shards"))

    @property
    def per_customer(self) -> frozenset[str]:
        """The workflows whose orders are stored under customer and order id."""
        return frozenset(self._workflow.get("perCustomer", ()))

    @property
    def workflows(self) -> Sequence[str]:
        """The names of its workflows, the default one first; empty if an earlier release deployed it."""
        return tuple(self._workflow.get("workflows", ()))

    def _operations(self, kind: str) -> Operations:
        found: Mapping[str, Sequence[str]] = self._workflow.get(kind, {})
        return frozenset((agent, name) for agent, names in found.items() for name in names)

    @property
    def _workflow(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.template.get("Metadata", {}).get("StepwardWorkflow", {})
        return found

    @property
    def resources(self) -> Mapping[str, Mapping[str, Any]]:
        """Its resources by logical id."""
        found: Mapping[str, Mapping[str, Any]] = self.template["Resources"]
        return found

    def of(self, kind: str) -> Mapping[str, Mapping[str, Any]]:
        """Its resources of one type, by logical id."""
        return {name: it for name, it in self.resources.items() if it["Type"] == kind}


class Facts(Protocol):
    """What the account knows of the deployed stack."""

    def has_bus(self, name: str) -> bool:
        """Whether there is an event bus of this name."""

    def in_shard(self, shard: int) -> int:
        """How many orders and lanes wait in a shard; from MOST_COUNTED on, at least so many."""

    @property
    def in_flight(self) -> InFlight:
        """What the orders in flight still need; read once."""

    def waiting(self, queue: str) -> int:
        """How many messages a queue of this name holds, with its dead-letter queue; 0 if there is none."""

    def in_queue(self, logical_id: str) -> int:
        """How many messages a queue holds, whether visible, delayed or in flight."""

    def name_of(self, logical_id: str) -> str:
        """A queue's name, as the other commands call it."""

    def typed(self, *words: str) -> str:
        """A `stepward` command of these words for the deployed stack."""


@dataclass(frozen=True, slots=True)
class Change:
    """From `before` to `after`; `file` is where a person changes the settings."""

    before: Stack
    after: Stack
    facts: Facts
    file: str

    @property
    def gone(self) -> Operations:
        """The operations that no agent would serve any more."""
        return self.before.served - self.after.served

    @property
    def closed(self) -> Sequence[str]:
        """The workflows whose names would mean nothing any more; a message need not name the default one."""
        return sorted({*self.before.workflows[1:]} - {*self.after.workflows})

    @property
    def settings(self) -> Mapping[str, tuple[Any, Any]]:
        """The settings that differ, before and after."""
        old, new = self.before.settings, self.after.settings
        return {name: (old.get(name), new[name]) for name in new if old.get(name) != new[name]}
