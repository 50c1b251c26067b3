"""What an operator looks for: `step=charge reason~declined since=2h workflow=returns state=Error id^ord-1`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from stepward.domain.errors import Rejected
from stepward.domain.task.record import ProcessState

TEXTS = ("id", "step", "reason", "customer", "workflow", "state")
TIMES = ("since", "before")
LANE_STATES = ("blocked", "gap", "idle")
STATES = {
    each.value.lower(): each.value for each in ProcessState if each not in {ProcessState.STOPPED, ProcessState.SKIPPED}
} | {name: name for name in LANE_STATES}
_HOW = "write field=text, field~part or field^beginning"
_TERM = re.compile(r"([a-z]+)([=~^])(.*)", re.DOTALL)
_SPAN = re.compile(r"([0-9]{1,9})(min|s|m|h|d)")
_UNITS = {"s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}


class Filterable(Protocol):
    """What a filter looks at: a row of a list, or whatever has these."""

    @property
    def order_id(self) -> str:
        """The order's id."""

    @property
    def key(self) -> str:
        """The key of its task."""

    @property
    def workflow(self) -> str:
        """Its workflow."""

    @property
    def customer(self) -> str:
        """Its customer; empty if unknown."""

    @property
    def state(self) -> str:
        """The state of the order, or of its lane."""

    @property
    def step(self) -> str:
        """Where it is: names with commas between."""

    @property
    def reason(self) -> str:
        """Why it waits."""

    @property
    def since(self) -> int:
        """Since when (epoch ms)."""


@dataclass(frozen=True, slots=True)
class Term:
    """One condition on a text: equal (`=`), contains (`~`) or begins with (`^`); upper and lower case are alike."""

    field: str
    how: str
    text: str

    def holds(self, row: Filterable) -> bool:
        """Whether the row meets it."""
        return any(self._is_met(text.casefold()) for text in _texts(row, self.field))

    def _is_met(self, text: str) -> bool:
        wanted = self.text.casefold()
        if self.how == "~":
            return wanted in text
        return text.startswith(wanted) if self.how == "^" else text == wanted


@dataclass(frozen=True, slots=True)
class Filter:
    """Every term must hold, and since when the order is as it is must lie in `since` to `before` (epoch ms)."""

    terms: tuple[Term, ...] = ()
    since: int | None = None
    before: int | None = None

    @staticmethod
    def parse(text: str, *, now: int = 0) -> Filter:
        """The filter that a text describes, its durations counted back from `now`; raises Rejected by the term."""
        return Filter.of(_words(text), now=now)

    @staticmethod
    def of(words: Iterable[str], *, now: int = 0) -> Filter:
        """The filter of these conditions."""
        terms: list[Term] = []
        times: dict[str, int] = {}
        for word in words:
            field, how, value = _parts(word)
            if field in TIMES:
                times[field] = _time(word, how, value, now)
            else:
                terms.append(Term(field, how, _state(word, how, value) if field == "state" else value))
        return Filter(tuple(terms), times.get("since"), times.get("before"))

    def matches(self, row: Filterable) -> bool:
        """Whether the row is wanted."""
        early = self.since is not None and row.since < self.since
        late = self.before is not None and row.since >= self.before
        return not early and not late and all(term.holds(row) for term in self.terms)

    def equal(self, field: str) -> str:
        """The text that this field has to equal; empty if there is no such term."""
        return next((term.text for term in self.terms if (term.field, term.how) == (field, "=")), "")

    def names(self, field: str) -> bool:
        """Whether a term is about this field."""
        return any(term.field == field for term in self.terms)


def _texts(row: Filterable, field: str) -> list[str]:
    if field == "id":
        return [row.order_id, row.key]
    text = str(getattr(row, field))
    return [text, *text.split(", ")] if field == "step" else [text]


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise Rejected("where", f"{text!r} lacks a closing quote") from error


def _parts(word: str) -> tuple[str, str, str]:
    found = _TERM.fullmatch(word)
    if found is None or found[1] not in (*TEXTS, *TIMES):
        raise Rejected("where", f"{word!r} is no condition; {_HOW}. The fields: {', '.join((*TEXTS, *TIMES))}")
    if not found[3]:
        raise Rejected("where", f"{word!r} lacks its text; {_HOW}")
    return found[1], found[2], found[3]


def _state(word: str, how: str, text: str) -> str:
    if how != "=" or text.lower() not in STATES:
        raise Rejected("where", f"{word!r} names no state; write state= and one of {', '.join(STATES.values())}")
    return STATES[text.lower()]


def _time(word: str, how: str, text: str, now: int) -> int:
    if how == "=" and (span := _SPAN.fullmatch(text)):
        return now - int(span[1]) * _UNITS[span[2]]
    try:
        at = datetime.fromisoformat(text)
        if how == "=":
            return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
    except (OverflowError, ValueError):
        pass
    example = f"{word.partition(how)[0]}=2h or {word.partition(how)[0]}=2026-11-28T09:30Z"
    raise Rejected("where", f"{word!r} names no time; write a duration (s, min, h, d) or a date, such as {example}")
