"""A workflow as plain data: frozen with a task, so that a new deployment never changes one in flight."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any


class Exhausted(StrEnum):
    """What happens to a step whose attempts are used up."""

    ALERT = "alert"
    WAIT = "wait"
    UNDO = "undo"
    FALLBACK = "fallback"


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One step of a plan. `complete_within` is in milliseconds, per attempt."""

    name: str
    agent: str
    operation: str
    after: tuple[str, ...]
    complete_within: int
    threshold: int
    exhausted: Exhausted = Exhausted.ALERT
    undo_agent: str = ""
    undo: str = ""


@dataclass(frozen=True)
class Plan:
    """All steps of a task, in the order in which they were written."""

    workflow: str
    version: int
    steps: tuple[PlannedStep, ...]

    @cached_property
    def by_name(self) -> Mapping[str, PlannedStep]:
        """The steps by their names."""
        return {step.name: step for step in self.steps}

    @cached_property
    def plan_id(self) -> str:
        """The name of the row that keeps this plan: a hash of its content."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16]

    @property
    def agents(self) -> tuple[str, ...]:
        """Every agent that the plan asks for work, forward or undo, sorted."""
        named = {step.agent for step in self.steps} | {step.undo_agent for step in self.steps}
        return tuple(sorted(named - {""}))

    def to_json(self) -> str:
        """The canonical text of the plan."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))

    @staticmethod
    def from_json(text: str) -> Plan:
        """The plan that `to_json` wrote."""
        raw: dict[str, Any] = json.loads(text)
        steps = tuple(
            PlannedStep(**{**step, "after": tuple(step["after"]), "exhausted": Exhausted(step["exhausted"])})
            for step in raw["steps"]
        )
        return Plan(raw["workflow"], raw["version"], steps)
