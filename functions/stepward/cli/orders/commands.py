"""`stepward undo`, `cancel`, `pause`, `resume`, `resubmit` and `signal`: an operator's commands for an order."""

from __future__ import annotations

import getpass
from dataclasses import replace
from typing import Annotated, Any

import typer

from stepward.app.scheduler.audit_log import LONGEST_TEXT
from stepward.cli.agents import Agent, pause_agent, resume_agent
from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import AsJson, Target
from stepward.cli.many import Many
from stepward.cli.orders.ask import ask
from stepward.cli.orders.refusals import chosen
from stepward.cli.orders.show import OrderId, order_named
from stepward.cli.user_error import UserError
from stepward.domain.errors import Rejected
from stepward.domain.messages import OPERATORS, Cancel, Command, Pause, Resubmit, Resume, SignalGiven, Undo
from stepward.operator.asked import check_signal_here, of_one_workflow
from stepward.operator.bulk import Bulk
from stepward.operator.bulk_orders import Orders
from stepward.operator.filters import Filter
from stepward.wire.checked_text import cleaned
from stepward.wire.strict_json import parse

Why = Annotated[str, typer.Option(help="The reason, in a few words, for the audit log.", show_default=False)]
WhyIfOrder = Annotated[str, typer.Option(help="The reason, in a few words, for the audit log.", show_default=False)]
Who = Annotated[str, typer.Option(help="Your name, for the audit log.", show_default="the user logged in")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait up to ten seconds for the outcome.")]
SignalName = Annotated[
    str, typer.Argument(metavar="NAME", help="The step that waits for the signal.", show_default=False)
]
Data = Annotated[str, typer.Option(help="The answer, a JSON object.", show_default=False)]
Refuse = Annotated[str, typer.Option(metavar="WHY", help="Refuse it, for this reason.", show_default=False)]
SignalId = Annotated[str, typer.Option("--id", help="Your own name for this signal.", show_default="a new one")]
LONGEST_NAME = 128
StepName = Annotated[str, typer.Argument(metavar="STEP", help="The step, if more than one is in Error.")]
OrderOrNone = Annotated[str, typer.Argument(metavar="[ORDER]", help="The order's id.", show_default=False)]


def undo(
    target: Target, order: OrderId, *, why: Why, who: Who = "", wait: Wait = True, as_json: AsJson = False
) -> None:
    """Undo an order: compensate all that it did, and all that it may have done.

    The Scheduler takes no more replies of running steps, drops those that have not begun, and compensates each step
    that had or may have had its effect, the last one first. It refuses past the order's point of no return, and
    during an undo.

    Example: stepward undo ord-1001 --why "the customer withdrew"

    JSON: command, orderId, workflow, customerId, step, attempt, who, why, outcome (applied, refused, or asked: the
    command did not wait, or saw no outcome in time), text, state (the order's, when last read).
    """
    _ask(target, Undo(order, operator(who), reason(why)), wait=wait, as_json=as_json)


def cancel(
    target: Target, order: OrderId, *, why: Why, who: Who = "", wait: Wait = True, as_json: AsJson = False
) -> None:
    """Cancel an order for its submitter.

    It does the same as `undo`; the audit log tells the two apart.

    Example: stepward cancel ord-1001 --why "ordered twice by mistake"

    JSON: the keys of `undo`.
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
    """Pause an order, or an agent's calls to its service, until someone resumes it.

    A paused order starts no step; running steps may end. A paused agent returns its requests to the queue without
    counting a failure; other agents go on.

    Examples: stepward pause ord-1001 --why "asking the customer" · stepward pause --agent AGENT --why "it is down"

    JSON: the keys of `undo`; with --agent: agent, paused, who, why, changed (false if it was paused already).
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
    """Resume an order or an agent that was paused; an agent's open breaker lets a probe through at once.

    Examples: stepward resume ord-1001 --why "the customer agreed" · stepward resume --agent AGENT

    JSON: the keys of `undo`; with --agent: agent, paused, who, why, changed (false if nothing was paused or open),
    breaker (what it was: closed, open or half-open).
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
    """Run a failed step, or a failed undo of a step, again; fix the cause first.

    The Scheduler runs it only if it is still in Error at the same attempt, so giving the command twice is harmless.

    Examples: stepward resubmit ord-1001 --why "card limit raised" · stepward resubmit ord-1001 STEP/undo --why "..." ·
    stepward resubmit --where 'step=charge reason~declined since=2h' --rate 20 --dry-run

    JSON: the keys of `undo`; attempt is the failed one. With --where: command, name, count, applied, refused, asked,
    held, left, failedAgain (numbers), orders (list of: orderId, workflow, customerId, outcome, text, state, good); with
    --dry-run: count, kinds, reasons, refused, held (numbers by text), oldest (an order and since), corrupt (texts).
    """
    by, why = operator(who), reason(why)
    connection = connect(target)
    loaded = order_named(target, connection, order)
    failed = chosen(target, loaded, step)
    message = Resubmit(loaded.task.order_id, failed.name, failed.attempt, by, why)
    ask(target, connection, loaded, message, wait=wait, as_json=as_json)


def signal(  # noqa: PLR0913 - an option each
    target: Target,
    order: OrderId,
    name: SignalName = "",
    *,
    data: Data = "",
    refuse: Refuse = "",
    signal_id: SignalId = "",
    who: Who = "",
    wait: Wait = True,
    as_json: AsJson = False,
) -> None:
    """Give the signal that a step of an order waits for, or refuse it.

    The data is the step's result. In your project's folder the command checks it against the signal's class first. A
    signal that comes before its step begins is kept for it. The same --id twice is one signal.

    Examples: stepward signal ord-1001 approval --data '{"by":"ann"}' · stepward signal ord-1001 approval --refuse fraud

    JSON: the keys of `undo`; why is the reason of a refusal, else the signal's id.
    """
    if not name:
        raise typer.BadParameter("name the step that waits for it", param_hint="NAME")
    given, refused = _answer(data, refuse)
    connection = connect(target)
    loaded = order_named(target, connection, order)
    named = cleaned(signal_id.strip(), LONGEST_NAME) or connection.new_id()
    message = SignalGiven(loaded.task.order_id, name, named, given, refused, operator(who), OPERATORS)
    try:
        check_signal_here(message)
    except Rejected as fault:
        raise UserError(f"--data: {fault.field}: {fault.reason}") from fault
    ask(target, connection, loaded, message, wait=wait, as_json=as_json)


def _answer(data: str, refuse: str) -> tuple[dict[str, Any], str]:
    """What a signal carries, or why it is refused; raises BadParameter."""
    if bool(data) == bool(refuse):
        raise typer.BadParameter("""give --data '{"by":"ann"}', or --refuse with the reason""")
    return ({}, reason(refuse)) if refuse else (_object(data), "")


def _object(data: str) -> dict[str, Any]:
    try:
        found = parse(data)
    except Rejected as fault:
        raise typer.BadParameter(f"{fault.field}: {fault.reason}", param_hint="--data") from fault
    if not isinstance(found, dict):
        raise typer.BadParameter("""give a JSON object, such as '{"by":"ann"}'""", param_hint="--data")
    return found


def reason(why: str) -> str:
    """The reason without blanks around it; raises BadParameter if it is empty."""
    if not why.strip():
        raise typer.BadParameter("give a reason, in a few words", param_hint="--why")
    return cleaned(why.strip(), LONGEST_TEXT)


def operator(who: str) -> str:
    """The name that was given, or that of the user logged in; cut to what an audit log keeps."""
    if who.strip():
        return cleaned(who.strip(), LONGEST_TEXT)
    try:
        return cleaned(getpass.getuser(), LONGEST_TEXT)
    except (ImportError, KeyError, OSError):
        return "an operator"


def _ask(target: Target, command: Command, *, wait: bool, as_json: bool) -> None:
    connection = connect(target)
    loaded = order_named(target, connection, command.order_id)
    command = replace(command, order_id=loaded.task.order_id)
    ask(target, connection, loaded, command, wait=wait, as_json=as_json)


def _one_of(order: str, agent: str) -> None:
    if bool(order) == bool(agent):
        raise typer.BadParameter("name an order, or an agent with --agent")


def give_many(  # noqa: PLR0913 - the options of every command
    many: Many,
    order: str,
    *,
    step: str = "",
    name: str = "",
    agent: str = "",
    data: str = "",
    refuse: str = "",
    signal_id: str = "",
    why: str = "",
    who: str = "",
    wait: bool = True,
    as_json: bool = False,
) -> None:
    """Give one of these commands to all that match."""
    del wait, as_json
    if agent or step or (order and many.command != "signal") or (name and order):
        raise typer.BadParameter("name an order, or all that match by --where, not both")
    by = operator(who)
    if many.command == "signal":
        _signal_many(many, name or order, data, refuse, signal_id, by)
        return
    said = "a dry run" if many.is_dry else reason(why)
    many.give(lambda bulk: Bulk(many.command, bulk, by, said), Orders)


def _signal_many(many: Many, name: str, data: str, refuse: str, signal_id: str, who: str) -> None:
    if not name:
        raise typer.BadParameter("name the step that waits for it", param_hint="NAME")
    given, refused = _answer(data, refuse)
    workflow = Filter.parse(many.where).equal("workflow")
    try:
        key = of_one_workflow(connect(many.target).deployment.keys, workflow)
    except Rejected as fault:
        raise UserError(f"--{fault.field}: {fault.reason}") from fault
    try:
        check_signal_here(SignalGiven(key, name, "any", given, refused, who, OPERATORS))
    except Rejected as fault:
        raise UserError(f"--data: {fault.field}: {fault.reason}") from fault
    replaced = replace(many, name=cleaned(signal_id.strip(), LONGEST_NAME) or many.name)
    replaced.give(lambda bulk: Bulk("signal", bulk, who, "", name, given, refused), Orders)
