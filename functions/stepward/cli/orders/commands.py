"""`stepward undo`, `cancel`, `pause`, `resume` and `resubmit`: what an operator may do about an order."""

from __future__ import annotations

import getpass
from typing import Annotated

import typer

from stepward.cli.agents import Agent, pause_agent, resume_agent
from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import AsJson, Target
from stepward.cli.orders.ask import ask
from stepward.cli.orders.refusals import chosen
from stepward.cli.orders.show import OrderId, order_named
from stepward.domain.messages import Cancel, Command, Pause, Resubmit, Resume, Undo

Why = Annotated[str, typer.Option(help="Why, in a few words; it is kept with the order.")]
WhyIfOrder = Annotated[str, typer.Option(help="Why, in a few words; it is kept with the order.", show_default=False)]
Who = Annotated[str, typer.Option(help="Who asks for it.", show_default="the user logged in")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait up to ten seconds for what comes of it.")]
StepName = Annotated[str, typer.Argument(metavar="STEP", help="The step, if more than one is in Error.")]
OrderOrNone = Annotated[str, typer.Argument(metavar="[ORDER]", help="The order's id.", show_default=False)]


def undo(
    target: Target, order: OrderId, *, why: Why, who: Who = "", wait: Wait = True, as_json: AsJson = False
) -> None:
    """Take back all that an order did, and what it may have done.

    What runs is fenced, what has not begun is dropped, and each step that had or may have had its effect is
    compensated, last one first. It is refused past the order's point of no return, and if an undo has begun already.

    Example: stepward undo ord-1001 --why "the customer withdrew"

    JSON: command, orderId, step, attempt, who, why, outcome (applied, refused, or asked if it was not waited for, or
    nothing was seen in time), text, state (the order's, when last seen).
    """
    _ask(target, Undo(order, operator(who), reason(why)), wait=wait, as_json=as_json)


def cancel(
    target: Target, order: OrderId, *, why: Why, who: Who = "", wait: Wait = True, as_json: AsJson = False
) -> None:
    """Cancel an order for its submitter, who wants it no more.

    It does what `undo` does; the trail tells them apart.

    Example: stepward cancel ord-1001 --why "ordered twice by mistake"

    JSON: as of `undo`.
    """
    _ask(target, Cancel(order, operator(who), reason(why)), wait=wait, as_json=as_json)


def pause(
    target: Target,
    order: OrderOrNone = "",
    *,
    agent: Agent = "",
    why: Why,
    who: Who = "",
    wait: Wait = True,
    as_json: AsJson = False,
) -> None:
    """Start nothing new for an order, or have an agent leave its service alone, until that is resumed.

    What runs may end. Of a paused agent requests are put back, no failure is counted, and other agents go on.

    Examples: stepward pause ord-1001 --why "asking the customer" · stepward pause --agent AGENT --why "it is down"

    JSON: as of `undo`; with --agent: agent, paused, who, why, changed (false if it was so already).
    """
    _one_of(order, agent)
    if agent:
        pause_agent(target, agent, operator(who), reason(why), as_json=as_json)
        return
    _ask(target, Pause(order, operator(who), reason(why)), wait=wait, as_json=as_json)


def resume(
    target: Target,
    order: OrderOrNone = "",
    *,
    agent: Agent = "",
    why: WhyIfOrder = "",
    who: Who = "",
    wait: Wait = True,
    as_json: AsJson = False,
) -> None:
    """Go on with an order, or an agent, that was paused.

    Examples: stepward resume ord-1001 --why "the customer agreed" · stepward resume --agent AGENT

    JSON: as of `undo`; with --agent: agent, paused, who, why, changed (false if it was so already).
    """
    _one_of(order, agent)
    if agent:
        resume_agent(target, agent, as_json=as_json)
        return
    _ask(target, Resume(order, operator(who), reason(why)), wait=wait, as_json=as_json)


def resubmit(
    target: Target,
    order: OrderId,
    step: StepName = "",
    *,
    why: Why,
    who: Who = "",
    wait: Wait = True,
    as_json: AsJson = False,
) -> None:
    """Run a step, or the undo of a step, that ended in Error again, once its cause is fixed.

    It is run only if it is still in Error at the attempt that is seen now, so typing this twice is harmless.

    Examples: stepward resubmit ord-1001 --why "card limit raised" · stepward resubmit ord-1001 STEP/undo --why "..."

    JSON: as of `undo`; attempt is the failed one.
    """
    named, said = operator(who), reason(why)
    connection = connect(target)
    loaded = order_named(target, connection, order)
    failed = chosen(target, loaded, step)
    message = Resubmit(order, failed.name, failed.attempt, named, said)
    ask(target, connection, loaded, message, wait=wait, as_json=as_json)


def reason(why: str) -> str:
    """Why, in words; raises BadParameter if nothing is said."""
    if not why.strip():
        raise typer.BadParameter("say why, in a few words", param_hint="--why")
    return why.strip()


def operator(who: str) -> str:
    """Who asks: the name that was given, or the user logged in."""
    if who.strip():
        return who.strip()
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return "an operator"


def _ask(target: Target, command: Command, *, wait: bool, as_json: bool) -> None:
    connection = connect(target)
    loaded = order_named(target, connection, command.order_id)
    ask(target, connection, loaded, command, wait=wait, as_json=as_json)


def _one_of(order: str, agent: str) -> None:
    if bool(order) == bool(agent):
        raise typer.BadParameter("name an order, or an agent with --agent")
