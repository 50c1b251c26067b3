"""`stepward dead-letters`: list, show and redrive messages that could not be delivered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from time import sleep  # noqa: TID251 -- a command on a person's machine keeps the rate by waiting
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import AsJson, Target, for_deployment
from stepward.cli.many import DryRunOnly, Rate, Where
from stepward.cli.terminal import OUT, cell, day_and_time, print_json, say, table
from stepward.cli.user_error import UserError
from stepward.domain.key import named
from stepward.operator.connection import Connection
from stepward.operator.dead_letters.of_tasks import TOGETHER, Opened
from stepward.operator.dead_letters.redrive import Action, Redrive, Wanted
from stepward.operator.dead_letters.staleness import Staleness
from stepward.operator.filters import Filter
from stepward.stack_outputs import DeadLetters

if TYPE_CHECKING:
    from stepward.operator.dead_letters.queue import DeadLetterQueue

Queue = Annotated[str, typer.Argument(metavar="QUEUE", help="A queue's name, from `stepward dead-letters list`.")]
Limit = Annotated[int, typer.Option(min=1, help="How many messages to read at most.")]
MessageId = Annotated[
    str,
    typer.Option("--id", metavar="MESSAGE", help="Only this message: its id, or the start of it.", show_default=False),
]
DropStale = Annotated[bool, typer.Option("--drop-stale", help="Delete stale messages instead of keeping them.")]
GOOD, DOUBTFUL = ("current", "sent"), ("stale", "kept", "dropped")
STYLES = dict.fromkeys(GOOD, "green") | dict.fromkeys(DOUBTFUL, "yellow") | {"corrupt": "bold red"}
app = typer.Typer(no_args_is_help=True, help="Messages that could not be delivered: list, show, redrive.")


def list_queues(target: Target, *, as_json: AsJson = False) -> None:
    """List the queues, with the number of undelivered messages in each dead-letter queue.

    Example: stepward dead-letters list

    JSON: queues (list of: queue, messages (number, as SQS estimates it)).
    """
    connection = connect(target)
    depths = {name: Redrive(connection, name).source().depth() for name in _queues(connection)}
    if as_json:
        print_json({"queues": [{"queue": name, "messages": depth} for name, depth in depths.items()]})
        return
    rows = table("Queue", "Messages")
    for name, depth in depths.items():
        rows.add_row(cell(name), cell(str(depth), "bold red" if depth else ""))
    OUT.print(rows)
    for name, depth in depths.items():
        if depth:
            say(f"To see the messages of {name}: {target.typed('dead-letters', 'show', name)}")


def show_dead_letters(target: Target, queue: Queue, *, limit: Limit = 50, as_json: AsJson = False) -> None:
    """Show the undelivered messages of a queue, and whether sending each one again would still have an effect.

    The command receives the messages and returns them to the queue at once. A message is stale when its order has
    moved on: the step is done, or at another attempt. The contents of orders and results are not shown.

    Example: stepward dead-letters show responses

    JSON: queue, messages (list of: messageId, sentAt (epoch milliseconds), receives, what, orderId, workflow,
    customerId, staleness (current, stale or corrupt), reason, code (a short code for why a message about an order is
    stale, or null)), more (whether there may be others).
    """
    connection = connect(target)
    asked = _of(target, connection, queue)
    with asked.source().taken(limit) as dead_letters:
        found = [asked.opened(dead_letter) for dead_letter in dead_letters]
    more = len(found) == limit or _may_hide_more(found)
    if as_json:
        print_json({"queue": queue, "messages": [_document(each, connection) for each in found], "more": more})
        return
    if not found:
        say(f"{queue} has no undelivered messages.")
        return
    _print(found, [each.judgement.staleness for each in found])
    say(f"{len(found)} shown{_hint(found, limit)}.")
    if any(each.judgement.staleness is Staleness.CURRENT for each in found):
        say(f"To send the current ones again: {target.typed('dead-letters', 'redrive', queue)}")


def redrive(  # noqa: PLR0913 - an option each
    target: Target,
    queue: Queue,
    *,
    message: MessageId = "",
    where: Where = "",
    rate: Rate = 100,
    dry_run: DryRunOnly = False,
    drop_stale: DropStale = False,
    limit: Limit = 1000,
    as_json: AsJson = False,
) -> None:
    """Send the undelivered messages of a queue again, if they would still have an effect.

    Fix the cause first, or the messages will come back. The command compares each message with its order. It sends
    a current message to the queue that it came from, and then removes it from the dead-letter queue. It never sends
    a stale message: it keeps it, or deletes it with --drop-stale. It keeps a corrupt message. In the queues of
    ledgers and order events, the messages of a group go back in sequence, and none passes a corrupt one.

    With --where only messages that match: id, workflow and customer are the order's, reason is what the message is and
    why it is stale or not, since is when it was sent.

    Examples: stepward dead-letters redrive orders · stepward dead-letters redrive responses --id 5f3a --drop-stale ·
    stepward dead-letters redrive scheduler --where 'workflow=returns reason~undo since=1d' --rate 20 --dry-run

    JSON: queue, messages (list of: the keys of `show`, and action (sent, kept or dropped)), more (whether there may
    be others).
    """
    connection = connect(target)
    wanted = Wanted((message,), Filter.parse(where, now=connection.now()), drop_stale)
    asked = _of(target, connection, queue, wanted)
    source = asked.source()
    with source.taken(limit) as dead_letters:
        opened = map(asked.opened, dead_letters)
        seen = list(asked.acted(opened, asked.would if dry_run else _paced(asked, source, rate)))
    acted = [(each, action) for each, action in seen if action]
    if message and not where and not acted:
        hint = target.typed("dead-letters", "show", queue)
        raise UserError(f"no undelivered message of {queue} has an id that begins with {message}; list them: {hint}")
    _report(connection, queue, acted, more=len(seen) == limit, drops=drop_stale, is_dry=dry_run, as_json=as_json)


def _paced(asked: Redrive, source: DeadLetterQueue, rate: float) -> Callable[[Opened], Action]:
    def act(each: Opened) -> Action:
        action = asked.do(source, each)
        if action is not Action.KEPT:
            sleep(1 / rate)
        return action

    return act


def _report(
    connection: Connection,
    queue: str,
    acted: list[tuple[Opened, Action]],
    *,
    more: bool,
    drops: bool,
    is_dry: bool,
    as_json: bool,
) -> None:
    if as_json:
        documents = [_document(each, connection) | {"action": action} for each, action in acted]
        print_json({"queue": queue, "messages": documents, "more": more})
        return
    actions = [action for _, action in acted]
    if acted:
        _print([each for each, _ in acted], actions)
    summary = _summary(queue, actions, more=more, drop_stale=drops)
    say(f"Nothing was done; it would be: {summary}" if is_dry else summary)


def _summary(queue: str, actions: Sequence[str], *, more: bool, drop_stale: bool) -> str:
    if not actions:
        return f"{queue} has no undelivered messages."
    sent, dropped, kept = (actions.count(action) for action in ("sent", "dropped", "kept"))
    advice = " To delete the stale ones, add --drop-stale." if kept and not drop_stale else ""
    again = " There may be more: run the command again." if more else ""
    return f"{sent} sent again, {dropped} dropped, {kept} kept.{advice}{again}"


def _may_hide_more(found: list[Opened]) -> bool:
    """Whether a FIFO queue has returned as many messages of a group as it returns at once."""
    groups = Counter(each.group for each in found if each.group)
    return any(times >= TOGETHER for times in groups.values())


def _hint(found: list[Opened], limit: int) -> str:
    if len(found) == limit:
        return "; there may be more: raise --limit"
    return "; there may be more: the queue returns ten of a group at once" if _may_hide_more(found) else ""


def _queues(connection: Connection) -> dict[str, DeadLetters]:
    if not (found := dict(connection.deployment.dead_letters)):
        raise UserError("the stack does not name its dead-letter queues; deploy it again with this version of the code")
    return found


def _of(target: Target, connection: Connection, queue: str, wanted: Wanted | None = None) -> Redrive:
    queues = _queues(connection)
    if queue not in queues:
        raise UserError(f"there is no queue {queue} in stack {target.stack}; its queues: {', '.join(queues)}")
    return Redrive(connection, queue, wanted or Wanted())


def _print(found: list[Opened], words: Sequence[str]) -> None:
    rows = table("Message", "Sent", "Received", "What it is, and whether it is stale", least=["Received", "Sent"])
    for each, word in zip(found, words, strict=True):
        dead_letter, order = each.dead_letter, f"{each.order_id}: " if each.order_id else ""
        staleness = f", {each.judgement.staleness}" if word == "kept" else ""
        judgement = (f"\n{word}{staleness}", STYLES[word])
        text = Text.assemble(cell(f"{order}{each.what}"), judgement, cell(f": {each.judgement.reason}"))
        rows.add_row(
            cell(dead_letter.message_id[:8]), day_and_time(dead_letter.sent_at), str(dead_letter.receives), text
        )
    OUT.print(rows)


def _document(each: Opened, connection: Connection) -> dict[str, Any]:
    order = named(each.order_id, connection.deployment.keys.default if each.order_id else "")
    return {
        "messageId": each.dead_letter.message_id,
        "sentAt": each.dead_letter.sent_at,
        "receives": each.dead_letter.receives,
        "what": each.what,
        **order,
        "orderId": order["orderId"] or None,
        "staleness": each.judgement.staleness,
        "reason": each.judgement.reason,
        "code": each.judgement.code or None,
    }


app.command("list")(for_deployment(list_queues))
app.command("show")(for_deployment(show_dead_letters))
app.command()(for_deployment(redrive))
