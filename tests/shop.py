"""A small shop: the application of those tests of the engine that need a whole one, with services over HTTP."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
import urllib3

from stepward import UNDO, Agent, App, Call, Permanent, Signal, Step, Transient, Workflow, minutes, secret, service_url
from stepward.domain.errors import Rejected
from stepward.domain.workflow.agents import Operation
from tests.sample import ShopEvent, ShopOrder, numbered_notice

API_KEY = "payments/api-key"
inventory, payments, shipping = Agent("inventory"), Agent("payments", secrets=(API_KEY,)), Agent("shipping")


def _operation(agent: Agent, name: str) -> Operation:
    def works(call: Call) -> Mapping[str, Any]:
        return {name: _post(f"{agent.name}/{name}", call)["reference"]}

    works.__name__ = name
    return agent.operation(works)


def _post(path: str, call: Call) -> Mapping[str, Any]:
    service, _, operation = path.partition("/")
    headers = {"Content-Type": "application/json", "Idempotency-Key": call.idempotency_key, "Fence": str(call.fence)}
    if service == payments.name:
        headers["Authorization"] = f"Bearer {secret(API_KEY)}"
    url, left = f"{service_url(service)}/{operation}", max(0.1, call.remaining())
    answer = urllib3.request("POST", url, body="{}", headers=headers, timeout=left, retries=False)
    if answer.status >= 400:
        kind = Transient if answer.status >= 500 else Permanent
        raise kind(f"{path}: HTTP {answer.status} {answer.json()['code']}")
    return dict(answer.json())


reserve, release = _operation(inventory, "reserve"), _operation(inventory, "release")
charge, refund = _operation(payments, "charge"), _operation(payments, "refund")
ship, recall = _operation(shipping, "ship"), _operation(shipping, "recall")
fulfilment = Workflow(
    "fulfilment",
    version=1,
    order=ShopOrder,
    steps=[
        Step(reserve, undo=release, complete_within=minutes(1)),
        Step(charge, undo=refund, complete_within=minutes(2), threshold=5, on_timeout=UNDO),
        Step(ship, undo=recall, complete_within=minutes(10), on_timeout=UNDO),
    ],
)


class Return(ShopOrder, frozen=True, kw_only=True):
    """Goods that come back."""

    type: Literal["return.requested"]


class Approval(msgspec.Struct, frozen=True):
    """Who approves a return."""

    by: str


returns = Workflow(
    "returns",
    version=1,
    order=Return,
    steps=[Signal("approval", Approval, complete_within=minutes(10)), Step(refund, complete_within=minutes(2))],
)


def other_notice(content: object) -> None:
    """Rejects what a marketplace tells of anything but an order, and quotes what that is."""
    if isinstance(content, Mapping) and "NotificationType" in content:
        raise Rejected("NotificationType", f"is {content['NotificationType']!r}, which is not about an order")


SOURCES = (numbered_notice, other_notice)
app = App("shop", workflows=[fulfilment, returns], default=fulfilment, event=ShopEvent, sources=SOURCES)
