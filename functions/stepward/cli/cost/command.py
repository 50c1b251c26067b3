"""`stepward cost`: estimates what a workflow's orders cost on AWS, from counted requests and dated prices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stepward.cli.cost.estimate import MILLION, Assumptions
from stepward.cli.deployment.options import DEFAULT_ENVIRONMENT, AsJson, Env, Named, WorkflowName
from stepward.cli.terminal import complain, print_json, say
from stepward.domain.errors import Misconfigured, Rejected, WorkflowError
from stepward.project import Project

if TYPE_CHECKING:
    from stepward.cli.cost.priced import Priced
    from stepward.cli.cost.volumes import Deployment

Orders = Annotated[int, typer.Option(min=1, help="How many orders a month.")]
Batch = Annotated[
    int,
    typer.Option(
        min=0, max=10, help="How many messages each function gets at once.", show_default="by load and settings"
    ),
]
Steps = Annotated[
    int,
    typer.Option(min=0, max=100, help="Price so many calls in a row, not the workflow's steps.", show_default=False),
]
Recovered = Annotated[float, typer.Option(min=0, max=1, help="Share of the orders in which a step runs again.")]
Waits = Annotated[float, typer.Option(min=0, help="How many milliseconds an operation waits for its service.")]
Skipped = Annotated[list[str], typer.Option("--skip", help="A step whose condition does not hold; may be repeated.")]
Items = Annotated[int, typer.Option(min=1, max=5000, help="How many items an order has, of some 50 bytes each.")]
Bytes = Annotated[int, typer.Option(min=0, max=1_000_000, help="How large each result is; over 2,000 has its own row.")]


def cost(  # noqa: PLR0913 - an option each
    *,
    orders: Orders = MILLION,
    batch: Batch = 0,
    steps: Steps = 0,
    app: Named = "",
    workflow: WorkflowName = "",
    skip: Skipped = [],  # noqa: B006 - typer makes a new list for each call
    items: Items = 3,
    result_bytes: Bytes = 0,
    recovered: Recovered = 0.0,
    operation_ms: Waits = 100.0,
    env: Env = "",
    as_json: AsJson = False,
) -> None:
    """Estimate what orders cost on AWS in us-east-1, beside other engines, and name every assumption.

    An order of the workflow runs in memory, on the engine's own code, and its requests are counted: a service that may
    answer later does, each signal is given in time, timers pass. Your operations are not called, and the command uses
    no AWS account. A model of Lambda's pollers says how many messages a run has at this volume, under your settings.

    Example: stepward cost --orders 200000 --operation-ms 150
    """
    from stepward.cli.cost.peers import Work  # noqa: PLC0415 - they load the adapters of AWS
    from stepward.cli.cost.priced import Priced, calls_in_a_row  # noqa: PLC0415
    from stepward.cli.cost.show import document, show  # noqa: PLC0415

    priced, paced = (Priced(calls_in_a_row(steps)), 0) if steps else _priced(app, workflow, skip)
    priced = replace(priced, items=items, result_bytes=result_bytes)
    assumed = replace(Assumptions(), operation_ms=operation_ms)
    deployment = replace(_deployment(priced, assumed, env), batch=batch, recoveries=recovered, paced=paced)
    given: dict[str, Any] = {"orders": orders, "steps": len(priced.steps), "batch": batch, "recovered": recovered}
    given |= {"kinds": priced.kinds, "skipped": sorted(skip), "items": items, "resultBytes": result_bytes}
    if as_json:
        print_json(document(deployment, Work.of(priced), given))
        return
    show(deployment, Work.of(priced), given)
    _say_what_is_taken(priced.conditions, paced)


def _deployment(priced: Priced, assumed: Assumptions, env: str) -> Deployment:
    from stepward.cli.cost.load import Load  # noqa: PLC0415 - they load the adapters of AWS
    from stepward.cli.cost.volumes import Deployment  # noqa: PLC0415

    try:
        return Deployment(load=Load.of(priced), settings=_settings(env), assumed=assumed)
    except Misconfigured as error:
        complain(f"{error}; no price is known")
        raise typer.Exit(2) from None


def _settings(env: str) -> Mapping[str, Any]:
    """Those of an environment; if none is named, of dev, or the defaults."""
    try:
        return Project.here().environment(env or DEFAULT_ENVIRONMENT).values
    except Misconfigured:
        if env:
            raise
        return {}


def _say_what_is_taken(conditions: Sequence[str], paced: int) -> None:
    if conditions:
        say(f"Conditions are taken to hold, of {', '.join(conditions)}; --skip NAME prices orders that skip a step.")
    if paced:
        say("Included: up to a write and a read for each call of an agent with a rate.")


def _priced(named: str, workflow: str, skip: Sequence[str]) -> tuple[Priced, int]:
    """The orders of one of the application's workflows, by default of the default one; and its calls with a rate."""
    from stepward.cli.cost.priced import Priced  # noqa: PLC0415 - it loads the adapters of AWS

    try:
        app = Project.here().app(named)
        app.keys.check_workflow(workflow)
    except (Misconfigured, Rejected, WorkflowError) as error:
        complain(f"{error}; or give --steps")
        raise typer.Exit(2) from None
    type_ = app.keys.type_of(workflow or app.keys.default)
    priced = Priced(app.plans()[type_], type_, app.keys, skip)
    if unknown := sorted(set(skip) - set(priced.conditions)):
        conditional = ", ".join(priced.conditions) or "no step has a condition"
        complain(f"--skip {unknown[0]}: it has no condition that could fail; those with one: {conditional}")
        raise typer.Exit(2)
    rates = {agent.name for agent in app.agents if agent.rate}
    return priced, sum(step.agent in rates for step in priced.steps if step.name not in skip)
