"""What a deployment would change: the stack as it is, the stack as it would be, and what only the account knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Stack:
    """One stack, as its template describes it."""

    template: Mapping[str, Any]

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings that it was synthesised with; empty if it is no stack of ours."""
        found: Mapping[str, Any] = self.template.get("Metadata", {}).get("Stepward", {})
        return found

    def of(self, kind: str) -> Mapping[str, Mapping[str, Any]]:
        """Its resources of one type, by logical id."""
        return {name: it for name, it in self.template["Resources"].items() if it["Type"] == kind}


class Facts(Protocol):
    """What the account knows of the deployed stack."""

    def has_bus(self, name: str) -> bool:
        """Whether there is an event bus of this name."""

    def in_shard(self, shard: int) -> int:
        """How many orders and lanes wait in a shard, counted up to 100."""

    def in_queue(self, logical_id: str) -> int:
        """How many messages a queue holds, whether visible, delayed or in flight."""

    def name_of(self, logical_id: str) -> str:
        """A queue's name, as the other commands call it."""


@dataclass(frozen=True, slots=True)
class Change:
    """From `before` to `after`; `file` is where a person changes the settings."""

    before: Stack
    after: Stack
    facts: Facts
    file: str

    @property
    def settings(self) -> Mapping[str, tuple[Any, Any]]:
        """The settings that differ, before and after."""
        old, new = self.before.settings, self.after.settings
        return {name: (old.get(name), new[name]) for name in new if old.get(name) != new[name]}
