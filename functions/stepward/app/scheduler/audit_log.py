"""The audit trail of an order: who asked for what, why, and what came of it; in a row of its own, bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from stepward.app.optimistic import SharedValue
from stepward.domain.coordination.shared_record import Control
from stepward.domain.errors import Unreadable
from stepward.domain.history import Fact, FactKind
from stepward.domain.messages import Cancel, Command, Pause, Resubmit, Resume, Undo
from stepward.domain.task.record import Task
from stepward.ports import Controls
from stepward.wire.checked_text import cleaned

LONGEST = 50
"""The newest entries that a trail keeps; with texts of at most 200 characters it stays far below 400 KB."""
LONGEST_TEXT = 200

DONE_AS = {
    Undo: FactKind.UNDO_BEGUN,
    Cancel: FactKind.UNDO_BEGUN,
    Pause: FactKind.PAUSED,
    Resume: FactKind.RESUMED,
    Resubmit: FactKind.RESUBMITTED,
}
"""The fact that an order remembers of each command that was applied."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One command: what came of it `at` (epoch ms), and why it was refused if it was.

    `revision` is the order's when it was refused, and 0 otherwise.
    """

    at: int
    command: str
    step: str
    attempt: int
    who: str
    why: str
    applied: bool
    note: str = ""
    revision: int = 0


def applied(command: Command, facts: Iterable[Fact]) -> Entry | None:
    """The entry of a command that is among the facts it caused; None if it is not."""
    done = next((fact for fact in facts if fact.kind is DONE_AS[type(command)] and _asked_by(command, fact)), None)
    return Entry(done.at, **_asked(command), applied=True) if done else None


def refused(command: Command, facts: Iterable[Fact], task: Task) -> Entry | None:
    """The entry of a command that was refused; one that `task` remembers had its effect when it came before."""
    refusal = next((fact for fact in facts if fact.kind is FactKind.REFUSED), None)
    if refusal is None:
        return None
    if before := applied(command, reversed(task.history)):
        return before
    return Entry(refusal.at, **_asked(command), applied=False, note=refusal.note, revision=task.revision)


@dataclass(frozen=True, slots=True)
class Trail:
    """Keeps the newest entries of each order."""

    controls: Controls

    def of(self, order_id: str) -> tuple[Entry, ...]:
        """What was asked of an order, oldest first; raises Transient or Unreadable."""
        return self._record(order_id).read()

    def keep(self, order_id: str, command: Command, facts: tuple[Fact, ...], load: Callable[[], Task | None]) -> None:
        """Keep what came of `command`; told of it again, keep it once. Raises Transient or Unreadable.

        `load` brings the order's task; it is asked for only if the command was refused.
        """
        entry = applied(command, facts)
        if entry is None and any(fact.kind is FactKind.REFUSED for fact in facts) and (task := load()):
            entry = refused(command, facts, task)
        if entry is not None:
            self.add(order_id, entry)

    def add(self, order_id: str, entry: Entry) -> None:
        """Keep an entry once; raises Transient or Unreadable."""
        self._record(order_id).change(lambda entries: _with(entries, entry))

    def _record(self, order_id: str) -> SharedValue[tuple[Entry, ...]]:
        return SharedValue(self.controls, f"trail/{order_id}", _entries, _body)


def _with(entries: tuple[Entry, ...], entry: Entry) -> tuple[Entry, ...]:
    """The newest entries with one more; what is kept late, after a death, still stands where it happened."""
    if any(_same(entry, kept) for kept in entries):
        return entries
    return tuple(sorted((*entries, entry), key=lambda kept: kept.at))[-LONGEST:]


def _asked(command: Command) -> dict[str, Any]:
    step, attempt = (command.step, command.attempt) if isinstance(command, Resubmit) else ("", 0)
    who, why = cleaned(command.who, LONGEST_TEXT), cleaned(command.why, LONGEST_TEXT)
    return {"command": type(command).__name__.lower(), "step": step, "attempt": attempt, "who": who, "why": why}


def _asked_by(command: Command, fact: Fact) -> bool:
    if isinstance(command, Resubmit) and (fact.step, fact.attempt) != (command.step, command.attempt):
        return False
    who, why = command.who or fact.by, command.why or fact.note
    return (who[:LONGEST_TEXT], why[:LONGEST_TEXT]) == (fact.by[:LONGEST_TEXT], fact.note[:LONGEST_TEXT])


def _same(entry: Entry, kept: Entry) -> bool:
    """Whether both tell of one command; what was refused is one while the order does not change."""
    again = {name: value for name, value in asdict(entry).items() if name != "at"}
    same = again == {name: value for name, value in asdict(kept).items() if name != "at"}
    return same and (entry.at == kept.at or not entry.applied)


def _body(entries: tuple[Entry, ...]) -> Mapping[str, Any]:
    return {"entries": [asdict(entry) for entry in entries]}


def _entries(control: Control | None) -> tuple[Entry, ...]:
    if control is None:
        return ()
    try:
        return tuple(Entry(**raw) for raw in control.body["entries"])
    except (KeyError, TypeError) as error:
        raise Unreadable(f"{control.name}: {error!r}") from error
