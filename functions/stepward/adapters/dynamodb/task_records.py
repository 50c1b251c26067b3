"""Converts parts of a task to DynamoDB attributes and back; what is absent is left out, never stored as NULL."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pynamodb.attributes import Attribute
from pynamodb.constants import MAP

from stepward.domain.errors import Corrupt, NotUnderstood, Rejected, known, wrong_with
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.task.record import Early, Parent, ProcessState, StepRecord
from stepward.wire.strict_json import canonical, parse

_TEXTS = {"LockedBy": "locked_by", "Token": "token", "Error": "error", "Raised": "raised"}
_NUMBERS = {
    "CompleteBy": "complete_by",
    "StartedAt": "started_at",
    "EndedAt": "ended_at",
    "AlertBy": "alert_by",
    "NotBefore": "not_before",
}
_COUNTS = {"FailureCount": "failure_count", "Attempt": "attempt", "Fence": "fence"}
_RARE_COUNTS = {"Policy": "policy", "Rounds": "rounds", "Untried": "untried", "ResultSize": "size", "Items": "items"}
_RARE_TEXTS = {"Lacks": "lacks", "Ended": "ended"}
"""These and the rare counts are left out while they are 0 or empty, as they are on the happy path."""
_EARLY = {"id": "signal_id", "data": "data", "refused": "refused", "who": "who"}
_KNOWN = {"ProcessState", "Result", "Early", *_TEXTS, *_NUMBERS, *_COUNTS, *_RARE_COUNTS, *_RARE_TEXTS}

Wire = dict[str, dict[str, Any]]


class StepsAttribute(Attribute[Mapping[str, StepRecord]]):
    """The step records of a task, by step name, as a map of maps.

    A step's order id is the item's own key, so it is not stored again.
    """

    attr_type = MAP

    def serialize(self, value: Mapping[str, StepRecord]) -> Wire:
        """The records in DynamoDB's JSON."""
        return {name: {"M": _encode(record)} for name, record in value.items()}

    def deserialize(self, value: Wire) -> Mapping[str, StepRecord]:
        """The records that `serialize` wrote; raises Corrupt with the step and the attribute."""
        return {name: _decode(name, step["M"]) for name, step in value.items()}


def _encode(record: StepRecord) -> Wire:
    item: Wire = {"ProcessState": {"S": record.process_state.value}}
    item |= {key: {"N": str(getattr(record, name))} for key, name in _COUNTS.items()}
    item |= {key: {"N": str(count)} for key, name in _RARE_COUNTS.items() if (count := getattr(record, name))}
    item |= {key: {"S": text} for key, name in _RARE_TEXTS.items() if (text := getattr(record, name))}
    for names, kind in ((_TEXTS, "S"), (_NUMBERS, "N")):
        for key, name in names.items():
            if (value := getattr(record, name)) is not None:
                item[key] = {kind: str(value)}
    if record.result is not None and not record.size:
        item["Result"] = {"S": canonical(record.result)}
    if record.early is not None:
        item["Early"] = {"S": canonical({key: getattr(record.early, name) for key, name in _EARLY.items()})}
    return item


def _decode(name: str, item: Wire) -> StepRecord:
    if newer := sorted(item.keys() - _KNOWN):
        raise NotUnderstood(f"step {name!r} with {', '.join(newer)}")
    try:
        texts = (_TEXTS | _RARE_TEXTS).items()
        fields: dict[str, Any] = {field: item[key]["S"] for key, field in texts if key in item}
        fields |= {field: int(item[key]["N"]) for key, field in _NUMBERS.items() if key in item}
        fields |= {field: int(item[key]["N"]) for key, field in _COUNTS.items()}
        fields |= {field: int(item[key]["N"]) for key, field in _RARE_COUNTS.items() if key in item}
        result = parse(item["Result"]["S"]) if "Result" in item else None
        if not isinstance(result, dict | None):
            raise Corrupt(f"step {name!r}: its result is not an object")
        if "Early" in item:
            early: Any = parse(item["Early"]["S"])
            fields["early"] = Early(**{name: early[key] for key, name in _EARLY.items()})
        state = known(ProcessState, item["ProcessState"]["S"], f"step {name!r} in state")
        return StepRecord("", name, process_state=state, result=result, **fields)
    except (KeyError, TypeError, ValueError, Rejected) as error:
        raise Corrupt(f"step {name!r}: {wrong_with(error)}") from error


def encode_parent(parent: Parent | None) -> str | None:
    """Whose child a task is, as compact text; None if it is nobody's."""
    return json.dumps([parent.order_id, parent.step, parent.tell_by], separators=(",", ":")) if parent else None


def decode_parent(text: str | None) -> Parent | None:
    """What `encode_parent` wrote."""
    return Parent(*json.loads(text)) if text else None


def encode_history(history: tuple[HistoryEntry, ...]) -> str | None:
    """A task's history as compact text; None if it is empty."""
    if not history:
        return None
    rows = [[it.at, it.kind.value, it.step, it.attempt, it.by, it.note, it.value, *it.extra] for it in history]
    return json.dumps(rows, separators=(",", ":"))


def decode_history(text: str | None) -> tuple[HistoryEntry, ...]:
    """The entries that `encode_history` wrote, this code's or newer code's."""
    rows = json.loads(text or "[]")
    return tuple(_entry(*row) for row in rows)


def _entry(at: int, kind: str, step: str, attempt: int, by: str, note: str, value: int, *extra: Any) -> HistoryEntry:
    return HistoryEntry(at, HistoryKind(kind), step, attempt, by, note, value, extra)
