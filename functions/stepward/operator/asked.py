"""A command that was given, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stepward.app.scheduler.audit_log import LONGEST_TEXT, AuditEntry
from stepward.domain.convoy.commands import LaneCommand
from stepward.domain.errors import Misconfigured, Rejected
from stepward.domain.key import Keys, TaskKey
from stepward.domain.messages import Command, SignalGiven
from stepward.project import Project
from stepward.wire.checked_text import cleaned
from stepward.wire.order import check_signal


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """The outcome of a command: applied or refused; `final` unless more follows, `is_good` unless it failed."""

    applied: bool
    text: str
    final: bool = True
    is_good: bool = True


@dataclass(frozen=True, slots=True)
class Asked:
    """A command as the audit log records it."""

    command: str
    step: str
    attempt: int
    who: str
    why: str

    def entry(self, before: Sequence[AuditEntry], now: Sequence[AuditEntry]) -> AuditEntry | None:
        """The entry of this command among those that the audit log gained."""
        fresh = (entry for entry in reversed(now) if entry not in before)
        return next((e for e in fresh if Asked(e.command, e.step, e.attempt, e.who, e.why) == self), None)


def asked(name: str, command: Command | LaneCommand, step: str = "", attempt: int = 0) -> Asked:
    """The command of that name, its texts cut and cleaned."""
    return Asked(name, step, attempt, cleaned(command.who, LONGEST_TEXT), cleaned(command.why, LONGEST_TEXT))


def of_one_workflow(keys: Keys, workflow: str) -> str:
    """A key that stands for all orders of this workflow, or of the only one if it is empty; raises Rejected."""
    if not workflow and len(keys.workflows) > 1:
        raise Rejected("where", f"a signal is of one workflow; add workflow= and one of {', '.join(keys.workflows)}")
    return "any" if workflow in ("", keys.default) else str(TaskKey("any", workflow))


def check_signal_here(wanted: SignalGiven) -> None:
    """Raise Rejected unless its data fits the class that the project has for it, if there is a project here."""
    try:
        schema = Project.here().app().signals(wanted.order_id).get(wanted.step)
    except Misconfigured:
        schema = None
    check_signal(wanted, schema)
