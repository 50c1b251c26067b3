"""The audit log of an order: who asked for what, why, and the outcome; bounded, in a record of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from stepward.app.optimistic import SharedValue
from stepward.domain.coordination.shared_record import SharedRecord, read_as
from stepward.domain.errors import Corrupt, wrong_with
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.messages import Cancel, Command, Pause, Resubmit, Resume, SignalGiven, Undo
from stepward.domain.task.record import Task
from stepward.ports import SharedRecords
from stepward.wire.checked_text import cleaned

LONGEST = 50
"""Entries of an audit log; with texts of at most 200 characters it stays far below 400 KB."""
LONGEST_TEXT = 200

DONE_AS = {
    Undo: HistoryKind.UNDO_BEGUN,
    Cancel: HistoryKind.UNDO_BEGUN,
    Pause: HistoryKind.PAUSED,
    Resume: HistoryKind.RESUMED,
    Resubmit: HistoryKind.RESUBMITTED,
    SignalGiven: HistoryKind.SIGNALLED,
}
"""The history entry that an order keeps of each command that was applied."""
EARLY = HistoryKind.EARLY
"""That of a cancellation that waits for its order."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One command: its outcome, `at` epoch ms, and in `note` why it was refused.

    `revision` is the order's when it was refused, and 0 otherwise. `extra` is what newer code added: it is kept.
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
    extra: Mapping[str, Any] = field(default_factory=dict)


def applied(command: Command, history: Iterable[HistoryEntry]) -> AuditEntry | None:
    """The entry of a command that was applied, by the history that it caused; None if it was not."""
    done = next(
        (entry for entry in history if entry.kind in (DONE_AS[type(command)], EARLY) and _asked_by(command, entry)),
        None,
    )
    return AuditEntry(done.at, **_asked(command), applied=True) if done else None


def refused(command: Command, history: Iterable[HistoryEntry], task: Task) -> AuditEntry | None:
    """The entry of a command that was refused; if `task` remembers it, it was applied when it first came."""
    refusal = next((entry for entry in history if entry.kind is HistoryKind.REFUSED), None)
    if refusal is None:
        return None
    if before := applied(command, reversed(task.history)):
        return before
    return AuditEntry(refusal.at, **_asked(command), applied=False, note=refusal.note, revision=task.revision)


@dataclass(frozen=True, slots=True)
class AuditLog:
    """The newest entries of each order."""

    shared_records: SharedRecords

    def of(self, order_id: str) -> tuple[AuditEntry, ...]:
        """The entries of an order, oldest first; raises Transient or Corrupt."""
        return self._record(order_id).read()

    def keep(
        self, order_id: str, command: Command, history: tuple[HistoryEntry, ...], load: Callable[[], Task | None]
    ) -> None:
        """Add the outcome of `command`, once however often it is delivered. Raises Transient or Corrupt.

        `load` reads the order's task; it is called only if the command was refused.
        """
        if entry := applied(command, history):
            self.add(order_id, entry)
        elif any(each.kind is HistoryKind.REFUSED for each in history) and (task := load()):
            again = refused(command, history, task)
            self._record(order_id).change(lambda entries: _with_again(entries, again) if again else entries)

    def add(self, order_id: str, entry: AuditEntry) -> None:
        """Add an entry, once; raises Transient or Corrupt."""
        self._record(order_id).change(lambda entries: _with(entries, entry))

    def _record(self, order_id: str) -> SharedValue[tuple[AuditEntry, ...]]:
        return SharedValue(self.shared_records, f"audit-log/{order_id}", _entries, _body)


def _with(entries: tuple[AuditEntry, ...], entry: AuditEntry) -> tuple[AuditEntry, ...]:
    """The newest entries with one more; one that is added late, after a death, is sorted in by its time."""
    if any(_same(entry, other) for other in entries):
        return entries
    return tuple(sorted((*entries, entry), key=lambda each: each.at))[-LONGEST:]


def _with_again(entries: tuple[AuditEntry, ...], entry: AuditEntry) -> tuple[AuditEntry, ...]:
    """The same with the entry of a command that came again.

    An undo begins once: a cancellation that waited for its order is listed as of when it came, not as of when that did.
    """
    waited = entry.command == "cancel" and any(replace(each, at=entry.at) == entry for each in entries)
    return entries if waited else _with(entries, entry)


def named(command: Command) -> tuple[str, str, int]:
    """The name of a command, and the step and the attempt that it is about."""
    match command:
        case Resubmit():
            return "resubmit", command.step, command.attempt
        case SignalGiven():
            return "signal", command.step, 0
    return type(command).__name__.lower(), "", 0


def _asked(command: Command) -> dict[str, Any]:
    name, step, attempt = named(command)
    who, why = cleaned(command.who, LONGEST_TEXT), cleaned(command.why, LONGEST_TEXT)
    return {"command": name, "step": step, "attempt": attempt, "who": who, "why": why}


def _asked_by(command: Command, entry: HistoryEntry) -> bool:
    if isinstance(command, Resubmit) and (entry.step, entry.attempt) != (command.step, command.attempt):
        return False
    who, why = command.who or entry.by, command.why or entry.note
    return (who[:LONGEST_TEXT], why[:LONGEST_TEXT]) == (entry.by[:LONGEST_TEXT], entry.note[:LONGEST_TEXT])


def _same(entry: AuditEntry, other: AuditEntry) -> bool:
    """Whether both are of one command; a refused command is the same one while the order does not change."""
    same = replace(entry, at=0, extra={}) == replace(other, at=0, extra={})
    return same and (entry.at == other.at or not entry.applied)


def _body(entries: tuple[AuditEntry, ...]) -> Mapping[str, Any]:
    return {"entries": [_plain(entry) for entry in entries]}


def _entries(shared_record: SharedRecord | None) -> tuple[AuditEntry, ...]:
    if shared_record is None:
        return ()
    try:
        return tuple(map(_entry, shared_record.body["entries"]))
    except (KeyError, TypeError) as error:
        raise Corrupt(f"{shared_record.name}: {wrong_with(error)}") from error


def _plain(entry: AuditEntry) -> dict[str, Any]:
    plain = asdict(entry)
    return {**plain.pop("extra"), **plain}


def _entry(raw: Mapping[str, Any]) -> AuditEntry:
    known = read_as(AuditEntry, raw)
    return AuditEntry(**known, extra={name: value for name, value in raw.items() if name not in known})
