"""Follows a command that was sent: waits for its outcome, and reports it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import sleep  # noqa: TID251 -- a command on a person's machine may wait
from typing import Any, Generic, TypeVar

import typer

from stepward.cli.terminal import complain, print_json, say
from stepward.domain.key import named
from stepward.operator.asked import Asked, CommandOutcome

S = TypeVar("S")
STEP_MS = 250
WITHIN_MS = 10_000


@dataclass(slots=True)
class Following(Generic[S]):
    """A command to `whom` to do `what`; `look` reads its subject, and `seen` is what it read last.

    `order` is the task's key, `workflow` the name of the default workflow. `outcome` derives the outcome from that.
    `about` and `state` are further JSON keys; `hint` says what to type next.
    """

    asked: Asked
    order: str
    workflow: str
    whom: str
    what: str
    hint: str
    about: dict[str, Any]
    seen: S
    look: Callable[[], S]
    outcome: Callable[[S], CommandOutcome | None]
    state: Callable[[S], dict[str, Any]]

    def follow(self, now: Callable[[], int], *, wait: bool, as_json: bool) -> None:
        """Report the outcome of the command, if `wait` after it is known; exits with 1 if it was refused or failed."""
        try:
            found = awaited(self._looked, now, sleep) if wait else None
        except KeyboardInterrupt:
            complain(f"You stopped waiting, but {self.whom} was asked to {self.what}, and may still do it. {self.hint}")
            raise
        if as_json:
            print_json(self._document(found))
        elif found is None:
            say(f"Asked {self.whom} to {self.what}. {self.hint}")
        elif found.applied:
            say(f"{found.text} {self.hint}")
        else:
            complain(f"{self.whom} refused to {self.what}: {found.text}. {self.hint}")
        if found and not (found.applied and found.is_good):
            raise typer.Exit(1)

    def _document(self, found: CommandOutcome | None) -> dict[str, Any]:
        ended = {True: "applied", False: "refused"}
        return {
            "command": self.asked.command,
            **named(self.order, self.workflow),
            **self.about,
            "who": self.asked.who,
            "why": self.asked.why,
            "outcome": ended[found.applied] if found else "asked",
            "text": found.text if found else None,
            **self.state(self.seen),
        }

    def _looked(self) -> CommandOutcome | None:
        self.seen = self.look()
        return self.outcome(self.seen)


def awaited(
    look: Callable[[], CommandOutcome | None], now: Callable[[], int], sleep: Callable[[float], object]
) -> CommandOutcome | None:
    """The outcome; polls every quarter of a second until it is final or ten seconds are over."""
    until = now() + WITHIN_MS
    found = look()
    while not (found and found.final) and now() < until:
        sleep(STEP_MS / 1000)
        found = look()
    return found
