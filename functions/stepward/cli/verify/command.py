"""`stepward verify`: canary orders through a deployed stack, and checks of its account."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from time import sleep  # noqa: TID251 -- a command on a person's machine may wait
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stepward.cli.deploy_check.change import Stack
from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import AsJson, Target
from stepward.cli.orders.files import read
from stepward.cli.terminal import OUT, cell, complain, print_json, say, table
from stepward.cli.user_error import UserError
from stepward.cli.verify.stand_ins import why_not
from stepward.operator.connection import Connection
from stepward.project import Project

if TYPE_CHECKING:
    from stepward.cli.verify.deployed import Finding

Files = Annotated[list[Path], typer.Argument(metavar="[FILE]", help="Sample orders; by default those in events.")]
SendCanaries = Annotated[bool, typer.Option("--canaries/--no-canaries", help="Send orders, or only look.")]
Within = Annotated[int, typer.Option(min=1, help="Seconds that the canaries have.")]
RESULTS = {True: ("good", "green"), False: ("BAD", "bold red"), None: ("not seen", "yellow")}


def verify(
    target: Target,
    files: Files = [],  # noqa: B006 - Typer copies it
    *,
    canaries: SendCanaries = True,
    within: Within = 120,
    as_json: AsJson = False,
) -> None:
    """Run one order of each workflow through the deployed stack, and check rights, limits, alarms and the rest.

    The orders are made of the samples, under ids that begin with `canary-`, and removed at the end. They are sent only
    if all services of the stack are stand-ins; otherwise nothing is sent, and the exit code is 1. It is also 1 if a
    check is not good.

    Example: stepward verify --env staging events/orders/order.json

    JSON: stack, findings (list of: check, good (true, false, or null for what an emulator cannot show), says).
    """
    from stepward.cli.deployment.aws import find_account  # noqa: PLC0415 - `--help` must not import the AWS SDK
    from stepward.cli.verify.checks import findings  # noqa: PLC0415
    from stepward.cli.verify.deployed import Deployed  # noqa: PLC0415

    account, connection = find_account(target), connect(target)
    template, outputs = Stack(account.template(target.stack) or {}), account.outputs(target.stack)
    deployed = Deployed(account, target.stack, template, outputs)
    found: list[Finding] = []
    if canaries:
        if reason := why_not(deployed.stack.settings, deployed.agents):
            raise UserError(f"nothing was sent to stack {target.stack}: {reason}")
        found += _canaries(connection, files or _samples(), within, account.client("dynamodb"))
    found += findings(deployed, connection.now())
    if as_json:
        print_json({"stack": target.stack, "findings": [asdict(each) for each in found]})
    else:
        _tell(found, target.stack)
    if any(each.good is False for each in found):
        raise typer.Exit(1)


def _canaries(connection: Connection, files: Sequence[Path], within: int, dynamodb: Any) -> Iterator[Finding]:
    from stepward.cli.verify.canaries import Canaries  # noqa: PLC0415 - it imports the AWS SDK

    samples = [message for file in files for message in read(file)]
    canaries = Canaries(connection, samples, dynamodb, sleep)
    try:
        yield from canaries.findings(within * 1000)
    except KeyboardInterrupt:
        complain(f"You stopped waiting, but the canaries were sent, and stay: {', '.join(canaries.sent.values())}")
        raise


def _samples() -> Sequence[Path]:
    events = Project.here().root / "events"
    return sorted(events.glob("*/*.json")) or sorted(events.glob("*.json"))


def _tell(found: Sequence[Finding], stack: str) -> None:
    rows = table("Check", "Result", "Found")
    for each in found:
        word, style = RESULTS[each.good]
        rows.add_row(cell(each.check), cell(word, style), cell(each.says))
    OUT.print(rows)
    bad = sum(each.good is False for each in found)
    say(f"\nStack {stack}: {bad} of {len(found)} checks are not good." if bad else f"\nStack {stack} is good.")
