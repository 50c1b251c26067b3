"""The `stepward` command, put together."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from stepward.cli import workflow
from stepward.cli.agents import agents
from stepward.cli.console import console
from stepward.cli.convoy import commands as convoy
from stepward.cli.cost.command import cost
from stepward.cli.dead_letters import commands as dead_letters
from stepward.cli.deploy_check.command import deploy_check
from stepward.cli.deployment.options import for_deployment
from stepward.cli.deployment.policy import policy
from stepward.cli.ledger import commands as ledgers
from stepward.cli.local import commands as local
from stepward.cli.many import for_many
from stepward.cli.new.command import new
from stepward.cli.orders.audit_log import audit_log
from stepward.cli.orders.commands import cancel, give_many, pause, resubmit, resume, signal, undo
from stepward.cli.orders.find import find
from stepward.cli.orders.send import send
from stepward.cli.orders.show import list_orders, show
from stepward.cli.rejects import rejects
from stepward.cli.schemas.command import schema
from stepward.cli.status import status
from stepward.cli.terminal import say, shows_any_text
from stepward.cli.verify.command import verify

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown"
)
PROJECT, ORDERS, WATCHING = "Your project", "Orders", "What needs you"
app.command(rich_help_panel=PROJECT)(new)
app.add_typer(local.app, name="local", rich_help_panel=PROJECT)
app.add_typer(workflow.app, name="workflow", rich_help_panel=PROJECT)
app.command(rich_help_panel=PROJECT)(schema)
app.command(rich_help_panel=PROJECT)(cost)
app.command(rich_help_panel=PROJECT, context_settings={"ignore_unknown_options": True})(deploy_check)
for of_stack in (verify, policy):
    app.command(rich_help_panel=PROJECT)(for_deployment(of_stack))
for of_orders in (send, show, find, audit_log):
    app.command(rich_help_panel=ORDERS)(for_deployment(of_orders))
app.command("list", rich_help_panel=ORDERS)(for_deployment(list_orders))
for of_order in (resubmit, undo, cancel, pause, resume, signal):
    app.command(rich_help_panel=ORDERS)(for_deployment(for_many(of_order, give_many)))
app.add_typer(ledgers.app, name="ledger", rich_help_panel=ORDERS)
for what in (status, console, agents, rejects):
    app.command(rich_help_panel=WATCHING)(for_deployment(what))
app.add_typer(convoy.app, name="convoy", rich_help_panel=WATCHING)
app.add_typer(dead_letters.app, name="dead-letters", rich_help_panel=WATCHING)


def main() -> None:
    """Run the command line."""
    shows_any_text()
    app(prog_name="stepward")


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - Typer calls it so
    if wanted:
        say(f"stepward {_installed()}")
        raise typer.Exit


def _installed() -> str:
    try:
        return version("stepward")
    except PackageNotFoundError:
        return "(not installed: run from source)"


@app.callback()
def stepward(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Send orders through Stepward, inspect them, and repair what failed.

    Commands work on the named stack in the AWS account that the AWS command line would use, or, with --local, in the
    cloud that `stepward local up` started on this machine. Exit codes: 0 done, 1 failed, 2 wrong usage.

    Some words: the Scheduler is the function that decides on orders. An agent calls one remote service; its breaker
    spares the service while that fails. A lane applies the events of one order in sequence. A reject is a message that
    is wrong, a dead letter one that could not be processed.

    Examples: stepward new bookings · stepward send order.json --local · stepward status --env prod
    """
