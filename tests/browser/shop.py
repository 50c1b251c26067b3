"""The example's stack on the local cloud, with orders in every state that a page has to show."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic, sleep  # noqa: TID251 -- the functions under test run in other processes
from typing import Any

from rich.console import Console

from orders import app
from orders.demo.run import deployed
from orders.demo.stage import Stage
from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import Target
from stepward.local.access import REGION
from stepward.local.secret_store import demanded
from stepward.local.services import EVERYONE, Fault, FaultKind, Services
from stepward.operator.connection import Connection
from stepward.project import Project

ROOT = Project.here().root
FAILED = 17
RETURN = "returns~~ret-1"


@dataclass
class Shop:
    """The stack and its services; `failing` hands out orders whose charge was declined, each once but `ord-0`."""

    stage: Stage
    services: Services
    connection: Connection
    _left: list[str] = field(default_factory=lambda: [f"ord-{number}" for number in range(1, FAILED)])

    @property
    def endpoint(self) -> str:
        """Where the local cloud is."""
        return self.stage.endpoint

    def failing(self, count: int = 1) -> list[str]:
        """So many orders that wait for an operator."""
        return [self._left.pop() for _ in range(count)]

    def becomes(self, key: str, state: str) -> None:
        """Wait until the order has this state."""
        eventually(lambda: (loaded := self.connection.store.load(key)) and loaded.task.process_state == state)

    def steps(self, key: str) -> Mapping[str, str]:
        """The states of the steps that the order has begun."""
        loaded = self.connection.store.load(key)
        return {name: step.process_state for name, step in loaded.task.steps.items()} if loaded else {}


def eventually(look: Callable[[], object], within_s: float = 180) -> None:
    """Wait until this is true."""
    give_up_at = monotonic() + within_s
    while not look():
        assert monotonic() < give_up_at, "it never came to that"
        sleep(0.2)


@contextmanager
def deployed_shop(scratch: Path, **settings: object) -> Iterator[Shop]:
    """The stack with these settings, and no orders."""
    with (
        Services(scratch / "ledger.sqlite", secrets=demanded(app.agents)) as services,
        deployed(ROOT, scratch, services, Console(quiet=True), settings) as (stage, _),
        stage.supervised(),
    ):
        yield Shop(stage, services, connect(Target(endpoint=stage.endpoint, region=REGION)))


@contextmanager
def opened(scratch: Path) -> Iterator[Shop]:
    """The stack, once all its orders wait for an operator or a signal."""
    with deployed_shop(scratch) as shop:
        stage, services, connection = shop.stage, shop.services, shop.connection
        services.misbehave(Fault("payments", EVERYONE, FaultKind.DECLINE, times=None))
        stage.send([sample("orders/order", orderId=f"ord-{number}") for number in range(FAILED)])
        stage.send([sample("returns/return", orderId="ret-1", coolingOffEnds=now(days=30))])
        stage.send(["not JSON"])
        stage.send_ledgers([ledger()])
        dead = connection.deployment.dead_letters["orders"].dead
        stage.sqs.send_message(QueueUrl=dead, MessageBody="a dead letter")
        for key in ("ord-0", *shop._left):
            shop.becomes(key, "Error")
        eventually(lambda: "goods" in shop.steps(RETURN))
        eventually(lambda: len(list(connection.lanes.needing_attention())) == 4)
        services.behave("payments", EVERYONE)
        yield shop


def sample(name: str, **changed: Any) -> str:
    """A message as in `events`, submitted now."""
    like = json.loads((ROOT / "events" / f"{name}.json").read_text())
    return json.dumps({**like, **({"submittedAt": now()} if "submittedAt" in like else {}), **changed})


def now(days: int = 0) -> str:
    """The time now, or so many days later."""
    return (datetime.now(UTC) + timedelta(days=days)).isoformat()  # noqa: TID251 -- the timers are real ones


def ledger() -> dict[str, Any]:
    """Events of orders: an event of those of `gap` is missing, one of `poison` is wrong; there are two of each."""
    create: dict[str, Any] = {"currency": "EUR", "items": [{"sku": "SKU-1", "qty": 1, "unitPrice": "12.30"}]}
    create |= {"sequence": 1, "op": "create", "submittedAt": now()}
    after = {"gap": {"sequence": 3, "op": "add", "amount": "1.00"}, "poison": {"sequence": 2, "op": "multiply"}}
    entries = [
        {"orderId": f"{name}-{number}", **event}
        for name, second in after.items()
        for number in (1, 2)
        for event in (create, second)
    ]
    return {"ledgerId": "l-1", "customerId": "customer-7", "entries": entries}
