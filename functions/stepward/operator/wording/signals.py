"""What a signal said, for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from stepward.domain.history import HistoryEntry
from stepward.domain.task.record import StepRecord


def signal_given(entry: HistoryEntry, record: StepRecord) -> str:
    """Who gave it, with the data that the record keeps; the entry's note is the signal's id, or why it refuses."""
    who = entry.by or "the submitter"
    early = record.early
    if early and not early.refused:
        return f"{who} gave the signal{_data(early.data)}; it is kept until the step begins"
    if early or entry.note != record.token:
        return f"{who} refused it: {entry.note}"
    if entry.at == record.started_at:
        return f"the signal of {who} counts"
    large = f"; its data, {record.size:,} bytes, is in a row of its own" if record.size else ""
    return f"{who} gave the signal{_data(record.result)}{large}"


def _data(found: Mapping[str, Any] | None) -> str:
    return f" {json.dumps(found, ensure_ascii=False, default=_number)}" if found else ""


def _number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)
