"""`stepward rejects`: messages that were rejected, each with field and reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import AsJson, Target
from stepward.cli.orders.json_documents import reject_document
from stepward.cli.orders.tables import reject_view, rejects_table
from stepward.cli.terminal import OUT, print_json, print_raw, say
from stepward.cli.user_error import UserError
from stepward.domain.rejects import Reject
from stepward.operator.wording.rejects import sent_again

MessageId = Annotated[str, typer.Argument(metavar="MESSAGE", help="Show this message: its id, or the start of it.")]
Limit = Annotated[int, typer.Option(min=1, help="How many messages to list at most.")]
WithBody = Annotated[bool, typer.Option("--body", help="Print the message's body byte for byte.")]
MOST_SEARCHED = 10_000


def rejects(
    target: Target, message: MessageId = "", *, limit: Limit = 20, with_body: WithBody = False, as_json: AsJson = False
) -> None:
    """List the rejected messages of the last two weeks, newest first, or show one.

    Examples: stepward rejects · stepward rejects 5f3a · stepward rejects 5f3a --body > order.json

    JSON: rejects (list of: messageId, receivedAt (epoch milliseconds), source, orderId, workflow, customerId, field,
    reason, and with --body: body), more (whether the list was cut).
    """
    if with_body and not (message or as_json):
        raise typer.BadParameter("--body needs the id of a message, or --json")
    connection = connect(target)
    stored, workflow = connection.rejects, connection.deployment.keys.default
    found = [_named(target, message, stored.newest(MOST_SEARCHED))] if message else stored.newest(limit + 1)
    shown, more = found[:limit], len(found) > limit
    if message or with_body:
        shown = [stored.whole(each) for each in shown]
    if as_json:
        print_json({"rejects": [reject_document(each, workflow, with_body=with_body) for each in shown], "more": more})
    elif with_body:
        print_raw(shown[0].body)
    elif message:
        OUT.print(reject_view(shown[0]))
        say(f"  {target.typed('rejects', shown[0].message_id, '--body')} > order.json")
        if again := sent_again(connection.deployment, shown[0]):
            say(f"  {target.typed(*again)}")
    else:
        _list(target, shown, more=more)


def _list(target: Target, shown: Sequence[Reject], *, more: bool) -> None:
    if not shown:
        say(f"Stack {target.stack} has rejected no message in the last two weeks.")
        return
    OUT.print(rejects_table(shown))
    count = f"{len(shown)} shown; there are more: raise --limit." if more else f"{len(shown)} in all."
    say(f"{count} To see one: {target.typed('rejects', shown[0].message_id[:8])}")


def _named(target: Target, name: str, rejects: Sequence[Reject]) -> Reject:
    found = [reject for reject in rejects if reject.message_id.startswith(name)]
    exact = [reject for reject in found if reject.message_id == name]
    if len(found) > 1 and not exact:
        raise UserError(f"the ids of {len(found)} rejected messages begin with {name}; give more of the id")
    if not found:
        raise UserError(f"no rejected message has an id that begins with {name}; list them: {target.typed('rejects')}")
    return (exact or found)[0]
