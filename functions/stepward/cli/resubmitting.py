"""`stepward resubmit`: run a failed step again, once its cause is fixed."""

from __future__ import annotations

import getpass
from typing import Annotated

import typer

from stepward.cli.orders import OrderId, order_named
from stepward.cli.story import in_plan_order
from stepward.cli.terminal import print_json, say
from stepward.cli.where import AsJson, Declined, Where
from stepward.domain.messages import Resubmit
from stepward.domain.task import ProcessState, StepRecord
from stepward.ports import Loaded

StepName = Annotated[str, typer.Argument(metavar="STEP", help="The step, if more than one is in Error.")]
Why = Annotated[str, typer.Option(help="What was wrong and is fixed now; it is kept with the order.")]
Who = Annotated[str, typer.Option(help="Who resubmits it.", show_default="the user logged in")]


def resubmit(
    where: Where, order: OrderId, step: StepName = "", *, why: Why, who: Who = "", as_json: AsJson = False
) -> None:
    """Ask for a step that ended in Error to be run again.

    It is run only if it is still in Error at the attempt that is seen now, so typing this twice is harmless.

    Example: stepward resubmit ord-1001 --why "card limit raised"

    JSON: orderId, step, attempt (the failed one), who, why.
    """
    if not why.strip():
        raise typer.BadParameter("say why, in a few words", param_hint="--why")
    connection = where.connect()
    failed = _chosen(where, order_named(where, connection, order), step)
    message = Resubmit(order, failed.name, failed.attempt, who.strip() or _user(), why.strip())
    connection.queues.to_scheduler([message])
    if as_json:
        told = {"orderId": order, "step": message.step, "attempt": message.attempt}
        print_json(told | {"who": message.who, "why": message.why})
    else:
        say(f"Asked for {message.step} of {order} to be run again. Look at it: {where.typed('show', order)}")


def _chosen(where: Where, loaded: Loaded, step: str) -> StepRecord:
    """The failed step that is meant; raises Declined and says which there are if that is not clear."""
    order, records = loaded.task.order_id, {each.name: each for each in in_plan_order(loaded.task, loaded.plan)}
    failed = {name: record for name, record in records.items() if record.process_state is ProcessState.ERROR}
    if step and step not in records:
        raise Declined(f"order {order} has no step {step}; its steps: {', '.join(records)}")
    if step in failed:
        return failed[step]
    if not failed:
        states = ", ".join(f"{name} is {record.process_state}" for name, record in records.items())
        raise Declined(f"nothing of order {order} is in Error: {states}")
    if step:
        raise Declined(f"{step} is {records[step].process_state}; in Error: {', '.join(failed)}")
    if len(failed) > 1:
        one = where.typed("resubmit", order, next(iter(failed)), "--why", "...")
        raise Declined(f"{len(failed)} steps are in Error: {', '.join(failed)}; name one: {one}")
    return next(iter(failed.values()))


def _user() -> str:
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return "an operator"
