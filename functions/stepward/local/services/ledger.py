"""The services' ledger in SQLite: every effect that a service had, and a journal of every call.

The table of effects has no unique constraint on the key. The check in `perform` keeps effects single; if it breaks,
an audit can count the doubled rows.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepward.local.services.calls import Answer, ServiceCall, refusal

FINDS = "find_"
"""So the operations begin that tell whether an effect stands, for services that forget idempotency keys."""
_SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS effects (
    id INTEGER PRIMARY KEY, at INTEGER, service TEXT, operation TEXT, key TEXT, undo_of TEXT, fence INTEGER,
    fingerprint TEXT, undid INTEGER);
CREATE INDEX IF NOT EXISTS effects_by_key ON effects (service, key);
CREATE INDEX IF NOT EXISTS effects_by_undo ON effects (service, undo_of);
CREATE TABLE IF NOT EXISTS fences (service TEXT, key TEXT, highest INTEGER, PRIMARY KEY (service, key));
CREATE TABLE IF NOT EXISTS journal (
    id INTEGER PRIMARY KEY, at INTEGER, service TEXT, operation TEXT, key TEXT, undo_of TEXT, fence INTEGER,
    status INTEGER, outcome TEXT, fault TEXT, note TEXT);
"""


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect of a service. `undo_of` is the forward key that an undo compensates.

    `undid` is True for an undo that found a forward effect; False for a forward effect and for a tombstone.
    """

    at: int
    service: str
    operation: str
    key: str
    undo_of: str
    fence: int
    undid: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """A call in the journal; status 0 means that it got no answer."""

    at: int
    service: str
    operation: str
    key: str
    undo_of: str
    fence: int
    status: int
    outcome: str
    fault: str
    note: str


class Ledger:
    """The memory of all services, safe for threads and for several processes on one file."""

    def __init__(self, path: Path, now: Callable[[], int], *, honour_keys: bool = True) -> None:
        self._now = now
        self._honour_keys = honour_keys
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        self._db.row_factory = sqlite3.Row
        self._db.executescript(_SCHEMA)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def arrive(self, call: ServiceCall) -> Answer | None:
        """Record the fence of a call before anything else; returns the refusal if the fence is stale."""
        with self._transaction():
            return self._raise_fence(call)

    def perform(self, call: ServiceCall, *, fault: str = "", answered: bool = True, note: str = "") -> Answer:
        """Have the effect, unless the key has had it, and journal the call, in one transaction."""
        with self._transaction():
            answer = self._raise_fence(call) or self._found(call) or self._undone(call)
            answer = answer or self._recorded(call) or self._apply(call)
            self._write(call, answer.status if answered else 0, answer.outcome, fault, note)
            return answer

    def journal(self, call: ServiceCall, status: int, outcome: str, fault: str = "") -> None:
        """Journal a call that had no effect."""
        with self._transaction():
            self._write(call, status, outcome, fault, "")

    def effects(self, key: str = "") -> list[Effect]:
        """All effects, or those of one key, oldest first."""
        columns = "at, service, operation, key, undo_of, fence, undid"
        rows = self._read(f"SELECT {columns} FROM effects WHERE ? IN ('', key) ORDER BY id", key)  # noqa: S608 - constants
        return [Effect(**{**row, "undid": bool(row["undid"])}) for row in rows]

    def entries(self, key: str = "") -> list[Entry]:
        """All calls, or those of one key, oldest first."""
        rows = self._read("SELECT * FROM journal WHERE ? IN ('', key) ORDER BY id", key)
        return [Entry(**{name: value for name, value in row.items() if name != "id"}) for row in rows]

    def doubled(self) -> Mapping[str, int]:
        """The number of effects of each key that has more than one; an undo counts under the key that it undoes."""
        rows = self._read(
            "SELECT MIN(key) AS key, COUNT(*) AS times FROM effects WHERE ? = ''"
            " GROUP BY undo_of <> '', CASE undo_of WHEN '' THEN key ELSE undo_of END HAVING COUNT(*) > 1"
        )
        return {row["key"]: row["times"] for row in rows}

    def _raise_fence(self, call: ServiceCall) -> Answer | None:
        row_key = (call.service, call.key)
        row = self._db.execute("SELECT highest FROM fences WHERE service = ? AND key = ?", row_key).fetchone()
        if row and call.fence < row["highest"]:
            return refusal(409, "stale_fence")
        self._db.execute("INSERT OR REPLACE INTO fences VALUES (?, ?, ?)", (*row_key, call.fence))
        return None

    def _found(self, call: ServiceCall) -> Answer | None:
        """The answer to an operation that only looks for the effect of its key; an undone one is not found."""
        if not call.operation.startswith(FINDS):
            return None
        row = None if self._find("undo_of", call.service, call.key) else self._find("key", call.service, call.key)
        return _answer("found", row) if row else Answer(200, "not_found", {})

    def _undone(self, call: ServiceCall) -> Answer | None:
        if call.undo_of or not self._find("undo_of", call.service, call.key):
            return None
        return refusal(409, "undone")

    def _recorded(self, call: ServiceCall) -> Answer | None:
        if not self._honour_keys:
            return None
        if row := self._find("key", call.service, call.key):
            same = row["fingerprint"] == call.fingerprint
            return _answer("replayed", row) if same else refusal(422, "key_reused")
        if call.undo_of and (row := self._find("undo_of", call.service, call.undo_of)):
            return _answer("replayed", row)
        return None

    def _apply(self, call: ServiceCall) -> Answer:
        undid = bool(call.undo_of) and self._find("key", call.service, call.undo_of) is not None
        named = (call.service, call.operation, call.key, call.undo_of)
        values = (self._now(), *named, call.fence, call.fingerprint, undid)
        insert = "INSERT INTO effects VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *"
        return _answer("done", self._db.execute(insert, values).fetchone())

    def _find(self, column: str, service: str, key: str) -> sqlite3.Row | None:
        query = f"SELECT * FROM effects WHERE service = ? AND {column} = ? ORDER BY id LIMIT 1"  # noqa: S608 - constants
        row: sqlite3.Row | None = self._db.execute(query, (service, key)).fetchone()
        return row

    def _write(self, call: ServiceCall, status: int, outcome: str, fault: str, note: str) -> None:
        values = (call.service, call.operation, call.key, call.undo_of, call.fence, status, outcome, fault, note)
        self._db.execute("INSERT INTO journal VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (self._now(), *values))

    def _read(self, query: str, key: str = "") -> list[dict[str, Any]]:
        with self._lock:
            return [dict(row) for row in self._db.execute(query, (key,))]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")


def _answer(outcome: str, row: sqlite3.Row) -> Answer:
    body: dict[str, Any] = {"reference": f"{row['operation']}-{row['id']}"}
    if row["undo_of"]:
        body["undid"] = bool(row["undid"])
    return Answer(200, outcome, body)
