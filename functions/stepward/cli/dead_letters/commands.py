"""`stepward dead-letters`: list, show and redrive messages that could not be delivered."""

from __future__ import annotations

from collections import Counter
from time import sleep  # noqa: TID251 -- a command on a person's machine keeps the rate by waiting
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import AsJson, Target, for_deployment
from stepward.cli.many import DryRunOnly, Name, Rate, Where, bulk_name, progress, stoppable
from stepward.cli.orders.commands import Who, Why, operator
from stepward.cli.terminal import OUT, cell, complain, day_and_time, print_json, say, table
from stepward.cli.user_error import UserError
from stepward.domain.key import named
from stepward.operator.bulk import Bulk, Pace
from stepward.operator.connection import Connection
from stepward.operator.dead_letters.of_tasks import TOGETHER, Opened
from stepward.operator.dead_letters.staleness import Staleness
from stepward.operator.filters import Filter
from stepward.stack_outputs import DeadLetters

if TYPE_CHECKING:
    from stepward.operator.dead_letters.queue import DeadLetterQueue
    from stepward.operator.dead_letters.redrive import Redrive

Queue = Annotated[str, typer.Argument(metavar="QUEUE", help="A queue's name, from `stepward dead-letters list`.")]
Limit = Annotated[int, typer.Option(min=1, help="How many messages to read at most.")]
MessageId = Annotated[
    str,
    typer.Option("--id", metavar="MESSAGE", help="Only this message: its id, or the start of it.", show_default=False),
]
DropStale = Annotated[bool, typer.Option("--drop-stale", help="Delete stale messages instead of keeping them.")]
GOOD, DOUBTFUL = ("current", "sent"), ("stale", "kept", "dropped", "held")
STYLES = dict.fromkeys(GOOD, "green") | dict.fromkeys(DOUBTFUL, "yellow") | {"corrupt": "bold red"}
app = typer.Typer(no_args_is_help=True, help="Messages that could not be delivered: list, show, redrive.")


def list_queues(target: Target, *, as_json: AsJson = False) -> None:
    """List the queues, with the number of undelivered messages in each dead-letter queue.

    Example: stepward dead-letters list

    JSON: queues (list of: queue, messages (number, as SQS estimates it)).
    """
    connection = connect(target)
    depths = {name: _dead_letter_queue(connection, each).depth() for name, each in _queues(connection).items()}
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
    from stepward.operator.dead_letters.redrive import audited_as, open_of  # noqa: PLC0415 - it imports the AWS SDK

    connection = connect(target)
    with _dead_letter_queue(connection, _named(target, connection, queue)).taken(limit) as dead_letters:
        found = [open_of(connection, queue, dead_letter) for dead_letter in dead_letters]
    more = len(found) == limit or _may_hide_more(found)
    if as_json:
        print_json({"queue": queue, "messages": [_document(each, connection) for each in found], "more": more})
        return
    if not found:
        say(f"{queue} has no undelivered messages.")
        return
    _print(found, [each.judgement.staleness for each in found])
    say(f"{len(found)} shown{_hint(found, limit)}.")
    for entry in connection.audit_log.of(audited_as(queue))[-1:]:
        say(f"The last {entry.command.partition(' ')[0]}: {day_and_time(entry.at)} by {entry.who}: {entry.why}.")
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
    why: Why = "",
    who: Who = "",
    name: Name = "",
    as_json: AsJson = False,
) -> None:
    """Send the undelivered messages of a queue again, if they would still have an effect.

    Fix the cause first, or they come back. Current messages go to the queue that they came from. Stale ones stay, or
    are deleted with --drop-stale; corrupt ones stay, and none of the same group passes one in a FIFO queue. The audit
    logs say who wanted it and why. Ctrl-C ends the run, and another goes on.

    With --where only what matches: id, workflow and customer of its order, reason (what it is, and why it is stale or
    not), since (when it was sent).

    Example: stepward dead-letters redrive scheduler --where 'workflow=returns reason~undo since=1d' --rate 20 --dry-run

    JSON: queue, messages (list of: the keys of `show`, and action (sent, kept, dropped or held)), more (whether there
    may be others), name, left (why the run ended early, or null).
    """
    from stepward.operator.dead_letters.redrive import Redrive, Wanted  # noqa: PLC0415 - it imports the AWS SDK

    connection = connect(target)
    _named(target, connection, queue)
    bulk = Bulk("redrive", bulk_name(name, "redrive", connection), operator(who), why.strip() or "no reason given")
    run = Redrive(connection, queue, Wanted((message,), Filter.parse(where, now=connection.now())), bulk, drop_stale)
    _go(run, limit, rate, is_dry=dry_run, visible=not as_json)
    if message and not where and not run.done:
        hint = target.typed("dead-letters", "show", queue)
        raise UserError(f"no undelivered message of {queue} has an id that begins with {message}; list them: {hint}")
    _report(run, more=run.read == limit, is_dry=dry_run, as_json=as_json)


def _go(run: Redrive, limit: int, rate: float, *, is_dry: bool, visible: bool) -> None:
    if is_dry:
        run.would(limit)
        return
    with stoppable("") as is_stopped, progress("redrive", visible=visible) as tell:
        run.run(limit, Pace(rate, tell, is_stopped, run.connection.now, sleep))


def _report(run: Redrive, *, more: bool, is_dry: bool, as_json: bool) -> None:
    acted, queue = run.done, run.queue
    if as_json:
        documents = [_document(each, run.connection) | {"action": action} for each, action in acted]
        about = {"name": run.bulk.name, "left": run.left or None}
        print_json({"queue": queue, "messages": documents, "more": more or bool(run.left), **about})
        return
    actions = [action.value for _, action in acted]
    if acted:
        _print([each for each, _ in acted], actions)
    summary = _summary(queue, actions, more=more, drop_stale=run.drop_stale)
    say(f"Nothing was done; it would be: {summary}" if is_dry else summary)
    if run.left:
        complain(f"{run.left}; give the same command again, and it goes on with them")


def _summary(queue: str, actions: list[str], *, more: bool, drop_stale: bool) -> str:
    if not actions:
        return f"{queue} has no undelivered messages."
    sent, dropped, kept, held = (actions.count(action) for action in ("sent", "dropped", "kept", "held"))
    advice = " To delete the stale ones, add --drop-stale." if kept and not drop_stale else ""
    away = f" {held} held back: their agent leaves its service alone for now." if held else ""
    again = " There may be more: run the command again." if more else ""
    return f"{sent} sent again, {dropped} dropped, {kept} kept.{away}{advice}{again}"


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


def _named(target: Target, connection: Connection, queue: str) -> DeadLetters:
    queues = _queues(connection)
    if queue not in queues:
        raise UserError(f"there is no queue {queue} in stack {target.stack}; its queues: {', '.join(queues)}")
    return queues[queue]


def _dead_letter_queue(connection: Connection, urls: DeadLetters) -> DeadLetterQueue:
    # `--help` must not import the AWS SDK.
    from stepward.operator.dead_letters.queue import DeadLetterQueue  # noqa: PLC0415

    return DeadLetterQueue(connection.sqs, urls.dead)


def _print(found: list[Opened], words: list[str]) -> None:
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
