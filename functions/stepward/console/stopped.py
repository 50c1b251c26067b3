"""What is stopped: lanes, dead letters, rejects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

from nicegui import ui

from stepward.adapters.sqs.delivery import Outgoing
from stepward.console.dialogs import confirmed, edited
from stepward.console.frame import (
    SELDOM_S,
    Console,
    command_line,
    dead_letters_address,
    empty,
    heading,
    lane_address,
    live,
    page,
    said,
    state_badge,
    verbatim,
)
from stepward.console.giving import acting
from stepward.console.many import OF_LANES, many
from stepward.console.orders import wish_of
from stepward.domain.convoy.lane import Lane
from stepward.domain.errors import Corrupt, NotUnderstood, Rejected
from stepward.domain.rejects import Reject
from stepward.operator.asked import CommandOutcome
from stepward.operator.connection import Connection
from stepward.operator.lane_words import lane_state, why_it_waits
from stepward.operator.wording.rejects import is_of_orders, sent_again
from stepward.operator.wording.times import day_and_time
from stepward.wire.order import accept

MOST_LANES, MOST_REJECTS = 50, 20


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page shows, at one moment."""

    lanes: tuple[Lane | str, ...]
    dead: tuple[tuple[str, int], ...]
    rejects: tuple[Reject, ...]


def stopped_page(console: Console) -> None:
    """The page of what is stopped."""
    with page(console, "Stopped"):
        if not console.read_only:
            with ui.row().classes("items-center gap-2 w-full"):
                which = ui.input("Which lanes").props('hint="All, or: state=blocked reason~price since=1d"')
                which.classes("w-96").mark("lanes")
                retry = ui.button("Retry all lanes that match", on_click=lambda: _retry(console, which.value or ""))
                retry.props("dense outline no-caps")
        live(partial(_load, console), partial(_draw, console), every_s=SELDOM_S)


def _retry(console: Console, where: str) -> None:
    try:
        many(console, wish_of(where, console.connection.now()), commands=OF_LANES)
    except Rejected as fault:
        ui.notify(str(fault))


def _load(console: Console) -> Shown:
    connection = console.connection
    return Shown(
        tuple(islice(_lanes(connection), MOST_LANES)),
        tuple(_dead(connection)),
        tuple(map(connection.rejects.whole, connection.rejects.newest(MOST_REJECTS))),
    )


def _lanes(connection: Connection) -> Iterator[Lane | str]:
    for key in dict.fromkeys(connection.lanes.needing_attention()):
        try:
            lane = connection.lanes.load(key)
        except (Corrupt, NotUnderstood) as error:
            yield str(error)
            continue
        if lane and lane.needs_attention is not None:
            yield lane


def _dead(connection: Connection) -> Iterator[tuple[str, int]]:
    from stepward.operator.dead_letters.queue import DeadLetterQueue  # noqa: PLC0415 - it imports the AWS SDK

    for name, urls in connection.deployment.dead_letters.items():
        yield name, DeadLetterQueue(connection.sqs, urls.dead).depth()


def _draw(console: Console, shown: Shown) -> None:
    heading("Lanes that wait for you, the longest first")
    for each in shown.lanes:
        with ui.row().classes("items-center gap-3"):
            if isinstance(each, str):
                ui.label(f"Cannot be read: {each}").classes("trouble")
                continue
            ui.link(said(each.order_id), lane_address(each.order_id))
            state_badge(lane_state(each))
            ui.label(why_it_waits(each))
    if not shown.lanes:
        empty("No lane waits for you.")
    heading("Dead letters")
    found = [(name, depth) for name, depth in shown.dead if depth]
    for name, depth in found:
        ui.link(f"{name}: {depth:,}", dead_letters_address(name))
    if not found:
        empty("Every message was processed.")
    heading("Rejected messages, the newest first")
    for reject in shown.rejects:
        with ui.expansion(f"{day_and_time(reject.received_at)}  {reject.field}: {reject.reason}").classes(
            "w-full border"
        ):
            ui.label(f"from {reject.source}, message {reject.message_id}")
            verbatim(reject.body)
            _sending(console, reject)
    if not shown.rejects:
        empty("No message was rejected in the last two weeks.")


def _sending(console: Console, reject: Reject) -> None:
    """How the corrected message is sent: from here if it is an order's, else by a command."""
    parts = console.connection.deployment
    if is_of_orders(parts, reject) and not console.read_only:
        button = ui.button("Correct and send", on_click=partial(_correct, console, reject))
        button.props("dense outline no-caps")
    elif words := sent_again(parts, reject):
        command_line("rejects", reject.message_id, "--body", console=console)
        command_line(*words, console=console)


def _correct(console: Console, reject: Reject) -> None:
    written: list[Callable[[], str]] = []
    keys = console.connection.deployment.keys

    def check(text: str) -> str:
        try:
            accept(text, keys=keys)
        except Rejected as fault:
            return f"It would be rejected: {fault}"
        return "It has what all orders must have."

    confirmed(
        console,
        "Send the corrected message",
        ["Submission takes it as any other. An order counts once, so sending it twice is harmless."],
        lambda _: send_order(console, written[0]()),
        lambda: written.append(edited("The order message, a JSON object", reject.body, check)),
        asks_why=False,
    )


async def send_order(console: Console, text: str) -> CommandOutcome | None:
    """Send an order message; raises StepwardError."""
    connection = console.connection
    accept(text, keys=connection.deployment.keys)
    send = partial(connection.sender.send, connection.deployment.orders_queue_url, [Outgoing(text)])
    await acting(console, send)
    return CommandOutcome(applied=True, text="It was sent. If Submission rejects it again, it stands here again.")
