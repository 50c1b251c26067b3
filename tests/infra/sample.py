"""A workflow with every shape that the infrastructure has to follow, and deployments of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from stepward.domain.timing import days, minutes
from stepward.domain.workflow.agents import Agent, Call, Operation
from stepward.domain.workflow.application import App
from stepward.domain.workflow.children import Child
from stepward.domain.workflow.definition import Fallback, Step, Workflow
from stepward.project import Project
from stepward.wire.order import OrderMessage
from stepward_cdk.settings.settings import MAX_REQUEST_QUEUES, Settings

PROJECT = Project(Path(__file__).parents[2])
AGENTS = ("courier", "inventory", "payments", "refunds", "shipping")
ADDRESSES = {name: f"https://{name}.example.com" for name in AGENTS}

inventory = Agent("inventory")
payments = Agent(
    "payments",
    max_concurrency=7,
    priority_queue=True,
    secrets=("bank/api-key", "bank/fraud"),
    environment={"BANK": "sandbox"},
    memory_mb=1024,
)
refunds = Agent("refunds", max_concurrency=2)
shipping = Agent("shipping")
courier = Agent("courier", max_concurrency=40, priority_queue=True)


def _operation(agent: Agent, name: str) -> Operation:
    def answer(call: Call) -> Mapping[str, Any]:
        return {name: call.attempt}

    answer.__name__ = name
    return agent.operation(answer)


reserve, charge = _operation(inventory, "reserve"), _operation(payments, "charge")
refund = _operation(refunds, "refund")
ship, recall, carry = _operation(shipping, "ship"), _operation(shipping, "recall"), _operation(courier, "carry")
workflow = Workflow(
    "sample",
    version=3,
    steps=[
        Step(reserve, complete_within=minutes(1)),
        Step(charge, undo=refund, complete_within=minutes(2)),
        Step(ship, undo=recall, complete_within=minutes(20), on_timeout=Fallback(carry)),
    ],
)


class Return(OrderMessage, frozen=True, kw_only=True):
    """An order of the second workflow."""

    type: Literal["return.submitted"]


returns = Workflow(
    "returns", version=2, order=Return, steps=[Step(recall, complete_within=minutes(3), answer_within=days(2))]
)
application = App("sample", [returns, workflow], default=workflow)
_gone = [step for step in workflow.steps[2:] if isinstance(step, Step)]
_at_once = replace(returns, steps=[Step(reserve, complete_within=minutes(3))])
_left = [*workflow.steps[:2], Child("again", _at_once, complete_within=days(1))]
_later = replace(workflow, version=4, steps=_left, draining=_gone)
drained = App("sample", [_later, _at_once], default=_later)

SERVICES = [f"agent-{number}" for number in range(MAX_REQUEST_QUEUES)]
wide = App(
    "wide",
    [
        Workflow(
            "wide",
            version=1,
            steps=[
                Step(_operation(Agent(name), "work"), name=name, complete_within=minutes(1), answer_within=days(2))
                for name in SERVICES
            ],
        )
    ],
)
WIDE = Settings(
    stack="orders-of-a-shop-with-an-agent-for-each-of-its-services-eu",
    watching="full",
    service_urls=dict.fromkeys(SERVICES, "https://gateway.example.com"),
)
SOURCES = ("arn:aws:sns:eu-west-1:111122223333:orders", "arn:aws:events:eu-west-1:444455556666:rule/shop/orders")

DEVELOPMENT = Settings(
    stack="orders-dev",
    alert_email="operator@example.com",
    page_email="night@example.com",
    service_urls=ADDRESSES,
    shards=6,
    batch_size=7,
    watching="full",
    claim_within_ms=61_000,
    skew_margin_ms=6_000,
    outage_after_ms=601_000,
)
PRODUCTION = Settings(
    stack="orders-prod",
    environment="prod",
    alert_email="none",
    watching="full",
    service_urls=ADDRESSES,
    complete_within_ms=30_500,
    supervise_minutes=3,
    agent_batch_size=4,
    lease_ms=300_000,
    finished_days=90,
    event_bus="orders",
    breaker_failures=20,
    keep_error_texts=False,
    customer_index_since="2026-11-29",
    breaker_open_ms=30_000,
    breaker_longest_ms=600_000,
    order_sources=SOURCES,
    reply_accounts=("111122223333", "444455556666"),
    reply_regions=("eu-west-1",),
    reply_prefixes=("replies-", "shop-"),
    sequences="optional",
    gap_ms=120_000,
    idle_ms=86_400_000,
    event_attempts=7,
    lane_timeout_s=30,
    ledger_timeout_s=300,
    ledger_concurrency=6,
    ledger_days=90,
    ledger_customers=("acme", "Acme", "a-c_me"),
    tracing=True,
)
LEAN = replace(DEVELOPMENT, stack="orders-lean", watching="lean", ledger_customers=("acme",))
RESTORED = Settings(
    stack="orders-restored",
    watching="full",
    environment="prod",
    alert_email="operator@example.com",
    service_urls=ADDRESSES,
    orders_table="orders-again",
    tasks_table="tasks-again",
    lanes_table="lanes-again",
    draining_customers=("acme",),
    draining_shards=9,
)
REPLICATED = Settings(
    stack="orders-global",
    environment="prod",
    region="eu-central-1",
    alert_email="operator@example.com",
    service_urls=ADDRESSES,
    replica_regions=("eu-west-1", "us-east-1"),
)
