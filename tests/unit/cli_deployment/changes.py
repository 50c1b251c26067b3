"""Changes of a stack that tests ask about, and an account that says what it is told to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stepward.cli.deploy_check.change import Change, Stack
from stepward.cli.deploy_check.in_flight import InFlight
from stepward.cli.deploy_check.questions import refusals

SETTINGS = {
    "stack": "shop-prod",
    "environment": "prod",
    "event_bus": "default",
    "shards": 8,
    "tasks_table": "",
    "lanes_table": "lanes-again",
    "replica_regions": [],
}
FILE = "infra/environments/prod.toml"


@dataclass
class FakeFacts:
    shards: Mapping[int, int] = field(default_factory=dict)
    queues: Mapping[str, int] = field(default_factory=dict)
    buses: tuple[str, ...] = ("default",)
    in_flight: InFlight = field(default_factory=lambda: InFlight({}))

    def waiting(self, queue: str) -> int:
        return self.queues.get(queue, 0)

    def has_bus(self, name: str) -> bool:
        return name in self.buses

    def in_shard(self, shard: int) -> int:
        return self.shards.get(shard, 0)

    def in_queue(self, logical_id: str) -> int:
        return self.queues.get(logical_id, 0)

    def name_of(self, logical_id: str) -> str:
        return {"Q1": "agent-payments", "Q2": "ledgers-acme-dead"}.get(logical_id, logical_id)

    def typed(self, *words: str) -> str:
        return " ".join(("stepward", *words, "--stack shop-prod"))


def stack(settings: Mapping[str, Any], workflow: Mapping[str, Any], resources: Mapping[str, Any]) -> Stack:
    return Stack({"Metadata": {"Stepward": settings, "StepwardWorkflow": workflow}, "Resources": resources})


def refused(about: Change) -> list[tuple[str, str]]:
    return list(refusals(about, new=False))
