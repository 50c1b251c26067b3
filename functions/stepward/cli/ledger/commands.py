"""`stepward ledger`: sends a ledger from a file, and shows its progress."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from stepward.adapters.sqs.delivery import Outgoing
from stepward.app.ledger.split import progress_of
from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import AsJson, Target, for_deployment
from stepward.cli.ledger.files import LedgerFile, Survey, as_lines, message_of, opened, pointer_of, surveyed
from stepward.cli.terminal import complain, day_and_time, print_json, say
from stepward.cli.user_error import UserError
from stepward.operator.connection import Connection

File = Annotated[Path, typer.Argument(metavar="FILE", help="A .json ledger, or a file with one entry per line.")]
Customer = Annotated[str, typer.Option(help="The ledger's customer, unless the file names it.", show_default=False)]
Whose = Annotated[str, typer.Option(help="The ledger's customer.", show_default=False)]
LedgerId = Annotated[
    str, typer.Option(help="The ledger's id; by default the file's, or a hash of the file.", show_default=False)
]
Ledger = Annotated[str, typer.Argument(metavar="LEDGER", help="The ledger's id.")]
Check = Annotated[bool, typer.Option("--check", help="Send nothing unless every entry has what all events must have.")]
app = typer.Typer(no_args_is_help=True, help="Ledgers, the events of many orders: send, show.")


def send(
    target: Target,
    file: File,
    *,
    customer: Customer = "",
    ledger_id: LedgerId = "",
    check: Check = False,
    as_json: AsJson = False,
) -> None:
    """Send a ledger: its events go to the lanes of their orders, in sequence.

    If the ledger is too large for a message, the command uploads it to the deployment's bucket, one entry per line, and
    sends a pointer. Sending a ledger twice is harmless: it is applied once. An entry that is not valid stops the lane
    of its own order only, until an operator acts. The command does not check the application's own rules for events.

    Examples: stepward ledger send today.json · stepward ledger send today.jsonl --customer shop-a

    JSON: ledgerId, customerId, entries and orders (numbers), faulty (number of invalid entries), faults (the first of
    them, in words), sentAs (message or object), objectKey (or null).
    """
    ledger = opened(file, customer, ledger_id)
    survey = surveyed(ledger)
    if check and survey.faulty:
        raise UserError("\n".join(["nothing was sent; correct these entries first:", *survey.faults]))
    connection = connect(target)
    key = _sent(connection, ledger)
    if as_json:
        print_json(_document(ledger, survey, key))
        return
    entries, orders = _count(survey.entries, "entry", "entries"), _count(len(survey.orders), "order", "orders")
    show = target.typed("ledger", "show", ledger.ledger_id, "--customer", ledger.customer_id)
    say(f"{entries} of {orders} sent as ledger {ledger.ledger_id} of {ledger.customer_id}. To see its progress: {show}")
    for fault in survey.faults:
        complain(f"will stop its order's lane: {fault}")
    if survey.faulty > len(survey.faults):
        complain(f"and {survey.faulty - len(survey.faults):,} others")


def show(target: Target, ledger: Ledger, *, customer: Whose, as_json: AsJson = False) -> None:
    """Show how many entries of a ledger have gone to the lanes of their orders.

    Example: stepward ledger show 2026-11-28 --customer shop-a

    JSON: ledgerId, customerId, done, entries (number sent to their lanes), begunAt (epoch milliseconds).
    """
    progress = progress_of(connect(target).shared_records, customer, ledger)
    if progress is None:
        rejects, dead_letters = target.typed("rejects"), target.typed("dead-letters", "list")
        raise UserError(
            f"no ledger {ledger} of {customer} has begun: it may wait behind another ledger of the customer, "
            f"or have been rejected or not delivered; see {rejects} and {dead_letters}"
        )
    if as_json:
        counts = {"done": progress.done, "entries": progress.index, "begunAt": progress.begun_at}
        print_json({"ledgerId": ledger, "customerId": customer} | counts)
        return
    entries, begun = _count(progress.index, "entry", "entries"), day_and_time(progress.begun_at)
    state = "is done" if progress.done else "is in progress"
    say(f"Ledger {ledger} of {customer} {state}: {entries} sent to the lanes of their orders since {begun}.")


def _sent(connection: Connection, ledger: LedgerFile) -> str:
    """Send the ledger; returns the key of the object that holds it, "" if the message does."""
    key, body = "", message_of(ledger)
    if not body:
        # `--help` must not import the AWS SDK.
        from stepward.cli.ledger.upload import upload  # noqa: PLC0415

        with as_lines(ledger) as (path, key):
            upload(connection.s3(), connection.deployment.ledgers_bucket, path, key)
        body = pointer_of(ledger, key)
    queues, shared = connection.deployment.customer_ledger_queue_urls, connection.deployment.ledgers_queue_url
    # A new name each time, so that the queue does not drop a deliberate repetition as a duplicate.
    message = Outgoing(body, ledger.customer_id, f"{ledger.ledger_id}/{connection.now()}")
    connection.sender.send(queues.get(ledger.customer_id, shared), [message])
    return key


def _document(ledger: LedgerFile, survey: Survey, key: str) -> dict[str, Any]:
    return {
        "ledgerId": ledger.ledger_id,
        "customerId": ledger.customer_id,
        "entries": survey.entries,
        "orders": len(survey.orders),
        "faulty": survey.faulty,
        "faults": survey.faults,
        "sentAs": "object" if key else "message",
        "objectKey": key or None,
    }


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


app.command()(for_deployment(send))
app.command()(for_deployment(show))
