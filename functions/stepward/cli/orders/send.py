"""`stepward send`: sends order messages from files to the orders queue."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from stepward.adapters.sqs.delivery import Outgoing
from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import AsJson, Target
from stepward.cli.orders.files import STDIN, Written, read
from stepward.cli.terminal import complain, print_json, say
from stepward.cli.user_error import UserError
from stepward.domain.errors import Rejected, Transient
from stepward.domain.key import Keys
from stepward.domain.messages import Cancel, SignalGiven
from stepward.domain.submission import Order
from stepward.operator.connection import Connection
from stepward.wire.order import Accepted, accept, order_id_hint

Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE", help="Files of messages; - is standard input."),
]
Check = Annotated[
    bool, typer.Option("--check", help="Send nothing unless every message has what all orders must have.")
]
TOGETHER = 10


def send(
    target: Target,
    files: Files,
    *,
    check: Check = False,
    as_json: AsJson = False,
) -> None:
    """Send order messages to the orders queue, byte for byte.

    A file holds one JSON object, an array of objects, or objects one after another (JSON lines). Sending an
    order twice is harmless: it runs once. Exit code 1 if a message was not sent.

    Examples: stepward send order.json · jq -c .[] today.json | stepward send -

    JSON: sent (number), failed (list of: position (file and line), reason).
    """
    for file in files:
        if file != STDIN and (file.is_dir() or not file.exists()):
            raise typer.BadParameter(f"there is no file {file}")
    messages = [message for file in dict.fromkeys(files) for message in read(file)]
    if not any(message.body.startswith("{") for message in messages):
        raise UserError("nothing was sent: none of it is a JSON object, which every order message is")
    connection = connect(target)
    if check:
        _check(messages, connection.deployment.keys)
    failed = _sent(connection, messages)
    sent = len(messages) - len(failed)
    if as_json:
        print_json({"sent": sent, "failed": [{"position": each.position, "reason": why} for each, why in failed]})
    else:
        hint = _hint(target, messages, sent, connection.deployment.keys)
        say(f"{sent} of {len(messages)} sent to the orders queue of stack {target.stack}.{hint}")
        for each, why in failed:
            complain(f"not sent: {each.position}: {why}")
    if failed:
        complain("to send them again, give the same command; what has arrived is a duplicate, and changes nothing")
        raise typer.Exit(1)


def _check(messages: list[Written], keys: Keys) -> None:
    faults = [f"{message.position}: {fault}" for message in messages if (fault := message.fault(keys))]
    if faults:
        raise UserError("\n".join(["nothing was sent; correct these messages first:", *faults]))


def _sent(connection: Connection, messages: list[Written]) -> list[tuple[Written, str]]:
    """Send all messages; those that the queue refused, each with the reason."""
    failed: list[tuple[Written, str]] = []
    for start in range(0, len(messages), TOGETHER):
        failed += _batch_sent(connection, messages[start : start + TOGETHER])
    return failed


def _batch_sent(connection: Connection, batch: list[Written]) -> list[tuple[Written, str]]:
    try:
        connection.sender.send(connection.deployment.orders_queue_url, [Outgoing(each.body) for each in batch])
    except Transient as error:
        if len(batch) == 1:
            return [(batch[0], str(error))]
        # One by one, to find the one that failed; an order that was sent twice runs once.
        return [failure for each in batch for failure in _batch_sent(connection, [each])]
    return []


def _hint(target: Target, messages: list[Written], sent: int, keys: Keys) -> str:
    order = next(filter(None, (_key(message, keys) for message in messages)), "")
    return f" To see the first: {target.typed('show', order)}" if sent and order else ""


def _key(message: Written, keys: Keys) -> str:
    """The key of the order in a message, or the id of the order that it seems to be about."""
    with suppress(Rejected):
        match accept(message.body, keys=keys):
            case Accepted(order=Order(order_id=key)) | Cancel(order_id=key) | SignalGiven(order_id=key):
                return key
    return order_id_hint(message.body)
