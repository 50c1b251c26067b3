"""Lean watching hears of all that full watching has alarms on, by two metrics and by what the Supervisor counts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from stepward.app.supervisor.queue_check import EVERY, Counted, QueueCheck
from stepward.domain.attention import ENOUGH, attention, attention_of
from stepward.domain.errors import Misconfigured, StepwardError, Transient
from stepward.domain.health import Swept
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.testing.memory.telemetry import MemoryTelemetry
from tests.factories import MINUTE, T0

ORDERS = [HistoryKind.REJECTED, HistoryKind.FAILED, HistoryKind.OVERTIME, HistoryKind.BLOCKED, HistoryKind.GAP]
OTHERS = [HistoryKind.FORGED, HistoryKind.BREAKER_OPENED, HistoryKind.UNCHECKED]


@pytest.mark.parametrize(
    ("kind", "value", "told"),
    [
        *((kind, 0, {"Tells": ENOUGH}) for kind in ORDERS + OTHERS),
        *((kind, 0, {"Wakes": ENOUGH}) for kind in (HistoryKind.CORRUPT, HistoryKind.CROWDED)),
        (HistoryKind.NOT_UNDERSTOOD, 5 * MINUTE, {"Wakes": ENOUGH}),
        (HistoryKind.NOT_UNDERSTOOD, 5 * MINUTE - 1, {}),
        (HistoryKind.UNCOUNTED, 0, {"Wakes": ENOUGH / 100}),
        (HistoryKind.CAME_BACK, 0, {"Tells": ENOUGH, "Wakes": ENOUGH / 5}),
        (HistoryKind.RECOVERED, 0, {}),
        (HistoryKind.SUBMITTED, 0, {}),
    ],
)
def test_an_entry_tells_or_wakes_somebody_as_its_own_alarm_would(
    kind: HistoryKind, value: int, told: Mapping[str, float]
) -> None:
    """S22: a hundred steps without an agent are an outage, a few are none; code of two ages meets for minutes."""
    assert attention(HistoryEntry(T0, kind, value=value)) == told


def test_steps_that_stay_overdue_wake_somebody() -> None:
    """S12."""
    assert attention_of(Swept(overdue=1, oldest=5 * MINUTE)) == {"Wakes": ENOUGH}
    assert attention_of(Swept(overdue=9, oldest=5 * MINUTE - 1)) == {}


def says(count: int | StepwardError) -> Callable[[], int]:
    def answer() -> int:
        if isinstance(count, StepwardError):
            raise count
        return count

    return answer


def checked(*counts: int | StepwardError) -> tuple[MemoryTelemetry, QueueCheck]:
    telemetry, names = MemoryTelemetry(), ("orders", "scheduler", "responses")
    queues = [
        Counted(name, HistoryKind.DEAD_LETTERS, 2, says(count)) for name, count in zip(names, counts, strict=False)
    ]
    return telemetry, QueueCheck(queues, telemetry, lambda: T0)


@pytest.mark.parametrize(
    ("counts", "found"),
    [
        ((0, 1), []),
        ((2, 1, 7), [("DeadLetters", "orders: 2"), ("DeadLetters", "responses: 7")]),
        ((Misconfigured("no right"), 2), [("Unchecked", "orders: no right"), ("DeadLetters", "scheduler: 2")]),
        ((Transient("slow"), 2), [("Unchecked", "orders: slow")]),
    ],
    ids=["below", "as many", "one cannot be counted", "none answers in time"],
)
def test_what_the_queues_hold_is_found_and_what_cannot_be_counted_is_told(
    counts: Sequence[Any], found: Sequence[tuple[str, str]]
) -> None:
    """S22: a check that fails holds up no recovery, and is never silent."""
    telemetry, check = checked(*counts)
    assert list(check.due(0)) == []
    assert [(entry.kind.value, entry.note) for _, entry in telemetry.history] == found


def test_one_supervisor_counts_and_only_every_other_minute() -> None:
    """Each count is billed."""
    telemetry, check = checked(2)
    found = []
    for now, shard in ((T0, 1), (T0, 0), (T0 + EVERY - 1, 0), (T0 + EVERY, 0)):
        check.now = lambda now=now: now  # type: ignore[misc]
        check.due(shard)
        found.append(telemetry.count(HistoryKind.DEAD_LETTERS))
    assert found == [0, 1, 1, 2]
