"""Asking the Scheduler for something: look first, send, and tell what came of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import sleep  # noqa: TID251 -- a command on a person's machine may wait
from typing import TYPE_CHECKING, Any

import typer

from stepward.app.trail import LONGEST_TEXT
from stepward.cli.orders import order_named
from stepward.cli.outcome import Outcome, Seen, awaited, outcome
from stepward.cli.refusals import refusal
from stepward.cli.terminal import complain, print_json, say
from stepward.cli.where import Declined, Where
from stepward.domain.messages import Command, Pause, Resubmit, Resume
from stepward.domain.task import Task
from stepward.wire.plain import cleaned

if TYPE_CHECKING:
    from stepward.cli.connection import Connection


def ask(where: Where, command: Command, *, wait: bool, as_json: bool) -> None:
    """Send `command`, unless it cannot work, and tell what came of it; raises Declined with what to do instead."""
    connection = where.connect()
    loaded = order_named(where, connection, command.order_id)
    if refused := refusal(loaded, command, where):
        raise Declined(refused)
    command = _dated(command, loaded.task, connection.now())
    asking = _Asking(where, connection, command)
    before = asking.seen(loaded.task)
    asking.connection.queues.to_scheduler([command])
    found = awaited(lambda: asking.look(before), asking.connection.now, sleep) if wait else None
    if as_json:
        print_json(asking.document(found))
    else:
        asking.tell(found)
    if found and not found.applied:
        raise typer.Exit(1)


def _dated(command: Command, task: Task, now: int) -> Command:
    """The command with its time; whoever asks has seen all that happened so far, whatever this machine's clock says."""
    if not isinstance(command, Pause | Resume):
        return command
    return replace(command, asked_at=max([now, *(fact.at for fact in task.history)]))


@dataclass(slots=True)
class _Asking:
    where: Where
    connection: Connection
    command: Command
    task: Task | None = None

    def look(self, before: Seen) -> Outcome | None:
        loaded = order_named(self.where, self.connection, self.command.order_id)
        return outcome(self.command, before, self.seen(loaded.task))

    def seen(self, task: Task) -> Seen:
        self.task = task
        return Seen(task, self.connection.trail.of(self.command.order_id))

    def tell(self, found: Outcome | None) -> None:
        look = f"Look at it: {self.where.typed('show', self.command.order_id)}"
        name, order = type(self.command).__name__.lower(), self.command.order_id
        if found is None:
            say(f"Asked the Scheduler to {name} order {order}. {look}")
        elif found.applied:
            say(f"{found.text} {look}")
        else:
            complain(f"the Scheduler refused to {name} order {order}: {found.text}. {look}")

    def document(self, found: Outcome | None) -> dict[str, Any]:
        command = self.command
        step, attempt = (command.step, command.attempt) if isinstance(command, Resubmit) else (None, None)
        ended = {True: "applied", False: "refused"}
        return {
            "command": type(command).__name__.lower(),
            "orderId": command.order_id,
            "step": step,
            "attempt": attempt,
            "who": cleaned(command.who, LONGEST_TEXT),
            "why": cleaned(command.why, LONGEST_TEXT),
            "outcome": ended[found.applied] if found else "asked",
            "text": found.text if found else None,
            "state": self.task.process_state if self.task else None,
        }
