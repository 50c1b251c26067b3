"""Sends a command to the Scheduler: checks it first, and reports the outcome."""

from __future__ import annotations

from stepward.cli.deployment.options import Target
from stepward.cli.following import Following
from stepward.cli.orders.refusals import refusal
from stepward.cli.orders.show import order_named
from stepward.cli.user_error import UserError
from stepward.domain.key import spoken
from stepward.domain.messages import Command
from stepward.domain.staleness import dated_now
from stepward.domain.task.record import Loaded
from stepward.operator.connection import Connection
from stepward.operator.outcome import asked_of_order, outcome, seen


def ask(target: Target, connection: Connection, loaded: Loaded, command: Command, *, wait: bool, as_json: bool) -> None:
    """Send `command` and report its outcome; if it would be refused, raises UserError with what to do instead."""
    order, now = command.order_id, connection.now()
    command = dated_now(command, loaded.task, now)
    if refused := refusal(loaded, command, target, now):
        raise UserError(refused)

    before, mine = seen(connection, loaded), asked_of_order(command)
    connection.queues.to_scheduler([command])
    Following(
        asked=mine,
        order=order,
        workflow=connection.deployment.keys.default,
        whom="the Scheduler",
        what=f"{mine.command} order {spoken(order)}",
        hint=f"To see the order: {target.typed('show', order)}",
        about={"step": mine.step or None, "attempt": mine.attempt or None},
        seen=before,
        look=lambda: seen(connection, order_named(target, connection, order)),
        outcome=lambda now: outcome(command, before, now),
        state=lambda now: {"state": now.task.process_state},
    ).follow(connection.now, wait=wait, as_json=as_json)
