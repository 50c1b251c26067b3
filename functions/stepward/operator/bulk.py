"""One command for many: a dry run, a rate, a stop, and how it ended for each; a second run goes on.

The rate is kept here. Each message is dated and decided dry just before it is sent, and again by whoever gets it, so
what does not need it any more is left alone. Where the breaker of an agent that would work is open, or the agent is
paused, the order is held back and counted: another run of the same command takes it then.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Any, Protocol

from stepward.app.scheduler.audit_log import LONGEST_TEXT
from stepward.domain.errors import Transient
from stepward.operator.filters import Filter
from stepward.operator.rows import Row
from stepward.wire.checked_text import cleaned

TOGETHER = 10
"""Orders whose messages are sent in one call."""
WITHIN_MS, POLL_MS = 10_000, 1_000
"""How long the next outcome is awaited after the last message, and how often they are looked for."""
BAD_STATES = frozenset({"Error", "UndoFailed", "blocked"})


@dataclass(frozen=True, slots=True)
class Bulk:
    """A command for many: resubmit, undo, cancel, pause, resume, signal or retry (of lanes), and who wants it and why.

    `name` is in the audit log of each order; the same name again is the same bulk, and gives nothing twice. `step` is
    the name of a signal, `data` what it carries, or `refused` why it is refused.
    """

    command: str
    name: str
    who: str
    why: str
    step: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    refused: str = ""

    @property
    def reason(self) -> str:
        """What the audit log of each order says."""
        ending = f" (bulk {self.name})"
        return cleaned(self.why, LONGEST_TEXT - len(ending)) + ending


class End(StrEnum):
    """How the command ended for an order; held and left: nothing was sent, and another run goes on with it."""

    APPLIED = "applied"
    REFUSED = "refused"
    ASKED = "asked"
    HELD = "held"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class Ended:
    """How the command ended for one order, why, and the state of the order, or lane, after it."""

    key: str
    end: End
    text: str = ""
    state: str = ""

    @property
    def is_good(self) -> bool:
        """Whether it was applied, and nothing has failed since."""
        return self.end is End.APPLIED and self.state not in BAD_STATES


@dataclass(frozen=True, slots=True)
class Prepared:
    """A message for an order, decided dry: what to send, or why it would be `refused`, or is `held` back."""

    row: Row
    given: Any = None
    refused: str = ""
    held: str = ""


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a command for many would do: to how many, of which kinds, since when the oldest, and their reasons.

    `refused` and `held` count those that would be refused or held back, by why; `corrupt` cannot be read.
    """

    count: int
    kinds: Mapping[str, int]
    oldest: Row | None
    reasons: Mapping[str, int]
    refused: Mapping[str, int]
    held: Mapping[str, int]
    corrupt: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: of `total` orders so many were asked, and so many held back or refused."""

    total: int
    sent: int
    others: int


class Subjects(Protocol):
    """The orders, or the lanes, that a command is for. Each method raises Transient."""

    def rows(self, wish: Filter, corrupt: list[str]) -> Iterator[Row]:
        """Those that match, each once."""

    def prepared(self, rows: Sequence[Row]) -> Iterator[Prepared]:
        """The message for each, on what it is now; what is gone is left out."""

    def send(self, ready: Sequence[Prepared]) -> None:
        """Send the messages."""

    def looked(self, sent: Sequence[Prepared], *, last: bool) -> Iterator[Ended]:
        """The outcomes that are known; with `last` one for each."""


def dry_run(subjects: Subjects, wish: Filter) -> DryRun:
    """What the command would do now; nothing is sent. Raises Rejected or Transient."""
    corrupt: list[str] = []
    kinds, reasons, refused, held = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    oldest: Row | None = None
    for each in _all_prepared(subjects, wish, corrupt):
        if each.refused or each.held:
            (refused if each.refused else held)[alike(each.refused or each.held)] += 1
            continue
        row = each.row
        kinds[f"{row.workflow} {row.state} {row.step}".strip()] += 1
        reasons[alike(row.reason)] += 1
        oldest = row if oldest is None or row.since < oldest.since else oldest
    return DryRun(kinds.total(), _most(kinds), oldest, _most(reasons), _most(refused), _most(held), tuple(corrupt))


@dataclass(frozen=True, slots=True)
class Pace:
    """How a run goes: so many orders a second, whom it tells of its progress, and what stops it."""

    rate: float
    on_progress: Callable[[Progress], object]
    stop: Callable[[], bool]
    now: Callable[[], int]
    sleep: Callable[[float], object]


def run(subjects: Subjects, wish: Filter, pace: Pace) -> Sequence[Ended]:
    """Give the command to all that match, at this pace; how it ended for each.

    All are found before the first message: what is sent changes what matches. Raises Rejected, or Transient as long as
    nothing was sent; a failure after that leaves the rest.
    """
    rows = list(subjects.rows(wish, []))
    sent: list[Prepared] = []
    ended: list[Ended] = []
    why = _sent(subjects, rows, sent, ended, pace)
    ended += _awaited(subjects, sent, pace)
    done = {each.key for each in ended}
    return [*ended, *(Ended(row.key, End.LEFT, why, row.state) for row in rows if row.key not in done)]


def _sent(subjects: Subjects, rows: Sequence[Row], sent: list[Prepared], ended: list[Ended], pace: Pace) -> str:
    """Add what was sent, and what was not and why; why the rest is left, if it is."""
    size, free_at = max(1, min(TOGETHER, int(pace.rate))), pace.now()
    for start in range(0, len(rows), size):
        if (wait := free_at - pace.now()) > 0:
            pace.sleep(wait / 1000)
        if pace.stop():
            return "the run was stopped before it"
        try:
            prepared = list(subjects.prepared(rows[start : start + size]))
            ready = [each for each in prepared if not each.refused and not each.held]
            subjects.send(ready)
        except Transient as error:
            if not sent:
                raise
            return f"the run ended before it: {error}"
        free_at = max(free_at, pace.now()) + round(1000 * len(ready) / pace.rate)
        sent += ready
        ended += [_unsent(each) for each in prepared if each.refused or each.held]
        pace.on_progress(Progress(len(rows), len(sent), len(ended)))
    return "it is gone"


def _unsent(each: Prepared) -> Ended:
    end = End.REFUSED if each.refused else End.HELD
    return Ended(each.row.key, end, each.refused or each.held, each.row.state)


def _awaited(subjects: Subjects, sent: Sequence[Prepared], pace: Pace) -> list[Ended]:
    until, left = pace.now() + WITHIN_MS, list(sent)
    ended: list[Ended] = []
    while left and pace.now() < until and not pace.stop():
        found = {each.key: each for each in subjects.looked(left, last=False)}
        ended += found.values()
        left = [each for each in left if each.row.key not in found]
        until = pace.now() + WITHIN_MS if found else until
        if left:
            pace.sleep(POLL_MS / 1000)
    return [*ended, *subjects.looked(left, last=True)]


def alike(reason: str) -> str:
    """The reason without its numbers, so that those of many orders count together."""
    return re.sub(r"[0-9]+", "N", reason)


def _all_prepared(subjects: Subjects, wish: Filter, corrupt: list[str]) -> Iterator[Prepared]:
    rows = subjects.rows(wish, corrupt)
    for some in iter(lambda: list(islice(rows, 100)), []):
        yield from subjects.prepared(some)


def _most(counted: Counter[str]) -> Mapping[str, int]:
    return dict(counted.most_common())
