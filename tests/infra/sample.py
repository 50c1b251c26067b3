"""A workflow with every shape that the infrastructure has to follow, and two deployments of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infra.settings import Settings
from stepward.domain.workflow import Agent, Call, Step, Workflow, minutes

inventory = Agent("inventory")
payments = Agent("payments", max_concurrency=7)
refunds = Agent("refunds", max_concurrency=2)
shipping = Agent("shipping")


@inventory.operation
def reserve(call: Call) -> Mapping[str, Any]:
    return {"reserved": call.attempt}


@payments.operation
def charge(call: Call) -> Mapping[str, Any]:
    return {"charged": call.attempt}


@refunds.operation
def refund(call: Call) -> Mapping[str, Any]:
    return {"refunded": call.attempt}


@shipping.operation
def ship(call: Call) -> Mapping[str, Any]:
    return {"shipped": call.attempt}


workflow = Workflow(
    "sample",
    version=3,
    steps=[
        Step(reserve, complete_within=minutes(1)),
        Step(charge, undo=refund, complete_within=minutes(2)),
        Step(ship, complete_within=minutes(20)),
    ],
)

DEVELOPMENT = Settings(
    stack="orders-dev",
    alert_email="operator@example.com",
    service_urls={"inventory": "https://inventory.example.com"},
    shards=6,
    batch_size=7,
    claim_within_ms=61_000,
    skew_margin_ms=6_000,
    outage_after_ms=601_000,
)
PRODUCTION = Settings(
    stack="orders-prod", environment="prod", complete_within_ms=30_500, supervise_minutes=2, agent_batch_size=4
)
