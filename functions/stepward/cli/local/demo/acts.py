"""What the demonstration does with the sample orders of a project."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepward.cli.user_error import UserError
from stepward.domain.errors import Rejected
from stepward.domain.workflow.agents import Agent
from stepward.domain.workflow.application import App
from stepward.domain.workflow.plan import Plan, StepKind
from stepward.local.services import Fault, FaultKind
from stepward.wire.order import Accepted, accept

MOST_SAMPLES = 3


@dataclass(frozen=True, slots=True)
class Sample:
    """An order message of the project; `plan` is that of its workflow."""

    message: Mapping[str, Any]
    plan: Plan


@dataclass(frozen=True, slots=True)
class Act:
    """One order, and the accident that it meets; `key` is that of its task."""

    key: str
    accident: str
    body: str
    fault: Fault | None = None
    times: int = 1


def samples_of(app: App, folder: Path) -> Sequence[Sample]:
    """The first order messages in `folder` that the application accepts; raises UserError if there is none."""
    plans, found, refused = app.plans(), [], []
    for file in sorted(folder.rglob("*.json")):
        with suppress(ValueError):
            message = json.loads(file.read_text())
            if not isinstance(message, dict) or message.get("type") not in plans:
                continue
            try:
                accept(json.dumps(message), app.schemas, app.keys)
            except Rejected as error:
                refused.append(f"\n{file}: {error}")
            else:
                found.append(Sample(message, plans[message["type"]]))
    if not found:
        types = " or ".join(plans)
        write = f"write one, such as {folder / 'order.json'}"
        raise UserError(f"no file in {folder} is an order of type {types} that is accepted; {write}{''.join(refused)}")
    return found[:MOST_SAMPLES]


def acts_of(app: App, samples: Sequence[Sample]) -> Sequence[Act]:
    """Each sample with each accident, under an id of its own."""
    return list(_acts(app, samples))


def _acts(app: App, samples: Sequence[Sample]) -> Iterator[Act]:
    number = 0
    for sample in samples:
        for accident, service, kind, times in _accidents(app, sample.plan):
            number += 1
            body = json.dumps({**sample.message, "orderId": f"demo-{number}"})
            match accept(body, app.schemas, app.keys):
                case Accepted(order=order):
                    fault = Fault(service, order.order_id, kind, times) if kind else None
                    yield Act(order.order_id, accident, body, fault, 2 if accident == "it is sent twice" else 1)


def _accidents(app: App, plan: Plan) -> Iterator[tuple[str, str, FaultKind | None, int]]:
    """An accident in words, and the service with its fault."""
    yield "none", "", None, 0
    yield "it is sent twice", "", None, 0
    agents = {agent.name: agent for agent in app.agents}
    calls = [(step.name, _service(agents[step.agent])) for step in plan.steps if step.kind is StepKind.CALL]
    called = [(step, service) for step, service in calls if service]
    if not called:
        return
    (first, one), (last, other) = called[0], called[-1]
    yield f"{one} fails twice at {first}", one, FaultKind.FAIL, 2
    yield f"the agent dies, once {other} has done {last}", other, FaultKind.DIE_AFTER_EFFECT, 1
    yield f"{other} declines {last}", other, FaultKind.DECLINE, 1


def _service(agent: Agent) -> str:
    return agent.name if agent.services is None else next(iter(agent.services), "")
