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
app.command()(for_deployment(send))
app.command()(for_deployment(show))
app.command("list")(for_deployment(list_orders))
app.command()(for_deployment(rejects))
for of_order in (resubmit, undo, cancel, pause, resume, signal):
    app.command()(for_deployment(for_many(of_order, give_many)))
for command in (status, find, audit_log, agents, policy, verify, console):
    app.command()(for_deployment(command))
app.add_typer(convoy.app, name="convoy")
app.add_typer(ledgers.app, name="ledger")
app.add_typer(dead_letters.app, name="dead-letters")
app.add_typer(workflow.app, name="workflow")
app.add_typer(local.app, name="local")
app.command()(cost)
app.command()(new)
app.command()(schema)
app.command(context_settings={"ignore_unknown_options": True})(deploy_check)


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
    *, _version: Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True)] = False
) -> None:
    """Send orders through Stepward, inspect them, and repair what failed.

    Commands work on the named stack in the AWS account that the AWS command line would use, or, with --local, in the
    cloud that `stepward local up` started on this machine. Exit codes: 0 done, 1 failed, 2 wrong usage.
    """
