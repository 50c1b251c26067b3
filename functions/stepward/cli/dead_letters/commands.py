"""`stepward dead-letters`: messages that could not be delivered, and what is to become of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from stepward.adapters.sqs.delivery import Outgoing
from stepward.cli.dead_letters.of_convoy import opened_event, opened_ledger
from stepward.cli.dead_letters.of_tasks import TOGETHER, DeadLetter, Opened, opened
from stepward.cli.dead_letters.staleness import Staleness
from stepward.cli.deployment.connection import Connection, connect
from stepward.cli.deployment.options import AsJson, Target, for_deployment
from stepward.cli.orders.view import table
from stepward.cli.terminal import OUT, cell, day_and_time, print_json, say
from stepward.cli.user_error import UserError
from stepward.stack_outputs import DeadLetters

if TYPE_CHECKING:
    from stepward.cli.dead_letters.queue import DeadLetterQueue

Queue = Annotated[str, typer.Argument(metavar="QUEUE", help="A queue's name, as `stepward dead-letters list` has it.")]
Limit = Annotated[int, typer.Option(min=1, help="How many messages to look at, at most.")]
MessageId = Annotated[
    str, typer.Option("--id", metavar="MESSAGE", help="Only this one: its id, or how it begins.", show_default=False)
]
DropStale = Annotated[bool, typer.Option("--drop-stale", help="Delete what is stale; else it stays.")]
GOOD, DOUBTFUL = ("current", "sent"), ("stale", "kept", "dropped")
STYLES = dict.fromkeys(GOOD, "green") | dict.fromkeys(DOUBTFUL, "yellow") | {"unreadable": "bold red"}
app = typer.Typer(no_args_is_help=True, help="Messages that could not be delivered: list, show, redrive.")


def list_queues(target: Target, *, as_json: AsJson = False) -> None:
    """Tell how many undelivered messages each queue has.

    Example: stepward dead-letters list

    JSON: queues (list of: queue, messages (number, as SQS estimates it)).
    """
    connection = connect(target)
    depths = {name: _dead(connection, each).depth() for name, each in _queues(connection).items()}
    if as_json:
        print_json({"queues": [{"queue": name, "messages": depth} for name, depth in depths.items()]})
        return
    rows = table("Queue", "Messages")
    for name, depth in depths.items():
        rows.add_row(cell(name), cell(str(depth), "bold red" if depth else ""))
    OUT.print(rows)
    for name, depth in depths.items():
        if depth:
            say(f"See what waits in {name}: {target.typed('dead-letters', 'show', name)}")


def show_letters(target: Target, queue: Queue, *, limit: Limit = 50, as_json: AsJson = False) -> None:
    """Show the undelivered messages of a queue in words, and whether anything would come of each now.

    It takes them out for a moment and puts them back. A message is stale once its order has moved on: its step is
    done, or at another attempt. What an order or a result says is not shown.

    Example: stepward dead-letters show responses

    JSON: queue, messages (list of: messageId, sentAt (epoch milliseconds), receives, what, orderId, standing (current,
    stale or unreadable), reason, code (one word for the reason that a message about an order is stale, or null)), more
    (whether there may be others).
    """
    connection = connect(target)
    with _dead(connection, _named(target, connection, queue)).taken(limit) as letters:
        found = [_opened(connection, queue, dead_letter) for dead_letter in letters]
    more = len(found) == limit or _may_hide_more(found)
    if as_json:
        print_json({"queue": queue, "messages": [_document(each) for each in found], "more": more})
        return
    if not found:
        say(f"No undelivered message waits in {queue}.")
        return
    _print(found, [each.judgement.staleness for each in found])
    say(f"{len(found)} shown{_hint(found, limit)}.")
    if any(each.judgement.staleness is Staleness.CURRENT for each in found):
        say(f"Send again what is current: {target.typed('dead-letters', 'redrive', queue)}")


def redrive(
    target: Target,
    queue: Queue,
    *,
    message: MessageId = "",
    drop_stale: DropStale = False,
    limit: Limit = 1000,
    as_json: AsJson = False,
) -> None:
    """Send the undelivered messages of a queue again, those of which something would still come.

    Each is compared with its order first. What is current goes to the queue it came from, and out of the dead
    letters once it is there. What is stale is never sent again: it stays, or goes with --drop-stale. What cannot be
    read stays. Fix the cause first, or they will be back. On the queues of ledgers and order events, what belongs
    together goes back in its order, and nothing past a message that cannot be read.

    Examples: stepward dead-letters redrive orders · stepward dead-letters redrive responses --id 5f3a --drop-stale

    JSON: queue, messages (list of: as of `show`, and action (sent, kept or dropped)), more (whether there may be
    others).
    """
    connection = connect(target)
    urls = _named(target, connection, queue)
    dead = _dead(connection, urls)
    with dead.taken(limit) as letters:
        seen = _acted(
            connection, queue, letters, message, lambda each: _act(connection, dead, urls, each, drop_stale=drop_stale)
        )
    found, actions = [each for each, action in seen if action], [action for _, action in seen if action]
    if message and not found:
        hint = target.typed("dead-letters", "show", queue)
        raise UserError(f"no message of {queue} begins with {message}; see {hint}")
    more = len(seen) == limit
    if as_json:
        documents = [_document(each) | {"action": action} for each, action in zip(found, actions, strict=True)]
        print_json({"queue": queue, "messages": documents, "more": more})
        return
    if found:
        _print(found, actions)
    say(_summary(queue, actions, more=more, drop_stale=drop_stale))


def _acted(
    connection: Connection, queue: str, letters: Iterator[DeadLetter], message: str, act: Callable[[Opened], str]
) -> list[tuple[Opened, str]]:
    """Every letter with what was done about it, "" if another one is meant.

    Nothing of a group goes past a letter that nobody can read: it may be what the others rest on.
    """
    done: list[tuple[Opened, str]] = []
    held: set[str] = set()
    for dead_letter in letters:
        each = _opened(connection, queue, dead_letter)
        meant = dead_letter.message_id.startswith(message)
        action = ("kept" if each.group in held else act(each)) if meant else ""
        if each.group and action == "kept" and each.judgement.staleness is Staleness.CORRUPT:
            held.add(each.group)
        done.append((each, action))
    return done


def _act(
    connection: Connection, dead: DeadLetterQueue, urls: DeadLetters, dead_letter: Opened, *, drop_stale: bool
) -> str:
    """Send first, remove second: dying between the two leaves a message that is stale the next time."""
    if dead_letter.judgement.staleness is Staleness.CURRENT:
        # Its own id, which no send before had: the queue must not take it for one that it knows.
        connection.sender.send(
            urls.source, [Outgoing(dead_letter.body, dead_letter.group, dead_letter.dead_letter.message_id)]
        )
        dead.remove(dead_letter.dead_letter)
        return "sent"
    if dead_letter.judgement.staleness is Staleness.STALE and drop_stale:
        dead.remove(dead_letter.dead_letter)
        return "dropped"
    return "kept"


def _summary(queue: str, actions: list[str], *, more: bool, drop_stale: bool) -> str:
    if not actions:
        return f"No undelivered message waits in {queue}."
    sent, dropped, kept = (actions.count(action) for action in ("sent", "dropped", "kept"))
    told = f"{sent} sent again, {dropped} dropped, {kept} kept."
    advice = " To delete what is stale, add --drop-stale." if kept and not drop_stale else ""
    return told + advice + (" There may be more: type it again." if more else "")


def _opened(connection: Connection, queue: str, dead_letter: DeadLetter) -> Opened:
    if queue == "order-events":
        return opened_event(dead_letter, connection.lanes)
    if queue.startswith("ledgers"):
        return opened_ledger(dead_letter, connection.shared_records)
    return opened(queue, dead_letter, partial(connection.store.load, with_order=False), connection.now())


def _may_hide_more(found: list[Opened]) -> bool:
    """Whether a group of a FIFO queue has shown as many as it shows at once."""
    groups = Counter(each.group for each in found if each.group)
    return any(times >= TOGETHER for times in groups.values())


def _hint(found: list[Opened], limit: int) -> str:
    if len(found) == limit:
        return "; there may be more: raise --limit"
    return "; there may be more behind the tenth of a group" if _may_hide_more(found) else ""


def _queues(connection: Connection) -> dict[str, DeadLetters]:
    if not (found := dict(connection.deployment.dead_letters)):
        raise UserError("the stack does not tell its dead-letter queues; deploy it again with this version of the code")
    return found


def _named(target: Target, connection: Connection, queue: str) -> DeadLetters:
    queues = _queues(connection)
    if queue not in queues:
        raise UserError(f"there is no queue {queue} in stack {target.stack}; its queues: {', '.join(queues)}")
    return queues[queue]


def _dead(connection: Connection, urls: DeadLetters) -> DeadLetterQueue:
    # Help must not wait for the AWS SDK.
    from stepward.cli.dead_letters.queue import DeadLetterQueue  # noqa: PLC0415

    return DeadLetterQueue(connection.sqs, urls.dead)


def _print(found: list[Opened], words: list[str]) -> None:
    rows = table("Message", "Sent", "Taken", "What it is, and how it stands")
    for each, word in zip(found, words, strict=True):
        dead_letter, order = each.dead_letter, f"{each.order_id}: " if each.order_id else ""
        staleness = f", {each.judgement.staleness}" if word == "kept" else ""
        judgement = (f"\n{word}{staleness}", STYLES[word])
        told = Text.assemble(cell(f"{order}{each.what}"), judgement, cell(f": {each.judgement.reason}"))
        rows.add_row(
            cell(dead_letter.message_id[:8]), day_and_time(dead_letter.sent_at), str(dead_letter.receives), told
        )
    OUT.print(rows)


def _document(each: Opened) -> dict[str, Any]:
    return {
        "messageId": each.dead_letter.message_id,
        "sentAt": each.dead_letter.sent_at,
        "receives": each.dead_letter.receives,
        "what": each.what,
        "orderId": each.order_id or None,
        "standing": each.judgement.staleness,
        "reason": each.judgement.reason,
        "code": each.judgement.code or None,
    }


app.command("list")(for_deployment(list_queues))
app.command("show")(for_deployment(show_letters))
app.command()(for_deployment(redrive))
