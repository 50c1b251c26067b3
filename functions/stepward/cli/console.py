"""`stepward console`: pages for operators, served on this machine."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer

from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import Target
from stepward.cli.orders.commands import Who, operator
from stepward.cli.terminal import say
from stepward.cli.user_error import UserError
from stepward.operator.wording.logs import Logs

Port = Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1.", show_default="any that is free")]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Refuse every command.")]


def console(target: Target, *, port: Port = 0, read_only: ReadOnly = False, who: Who = "") -> None:
    """Serve the console on 127.0.0.1: what needs you, orders, lanes, and every command, with your AWS credentials.

    Open the address that is printed; the token in it lets only you in. Ctrl-C stops it.

    Examples: stepward console --local · stepward console --env prod --read-only
    """
    pages = served(target, who, read_only=read_only)
    try:
        pages(lambda address: say(f"The console of stack {target.stack}: {address}\nCtrl-C stops it."), port)
    except OSError as error:
        raise UserError(f"port {port} of 127.0.0.1 cannot be used: {error.strerror}; choose another --port") from error


def check_installed() -> None:
    """Raise UserError if the console's library is missing."""
    try:
        from stepward.console import server  # noqa: F401, PLC0415 - `--help` must not import it
    except ModuleNotFoundError as error:
        lacks = f"{error.name} is missing; in a project or a clone type make console, which installs it"
        raise UserError(f"{lacks}; elsewhere pip install 'stepward[console]'") from error


def served(target: Target, who: str, *, read_only: bool = False) -> Callable[[Callable[[str], object], int], None]:
    """What serves the console's pages, given whom to tell the address, and a port; raises UserError."""
    check_installed()
    from stepward.console.frame import Console  # noqa: PLC0415 - `--help` must not import these
    from stepward.console.server import serve  # noqa: PLC0415

    connection, name, production = connect(target), operator(who), is_production(target)
    cloud = connection.sqs.meta
    logs = Logs(target.stack, cloud.region_name, cloud.endpoint_url if target.local or target.endpoint else "")
    shown = Console(connection, target.stack, name, target.typed, logs, production=production, read_only=read_only)
    return partial(serve, shown)


def is_production(target: Target) -> bool:
    """Whether the pages warn: every stack on AWS does, but that of the environment dev."""
    return not target.local and not target.endpoint and target.stack != target.bare
