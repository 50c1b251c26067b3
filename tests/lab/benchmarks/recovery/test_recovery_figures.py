import io
from dataclasses import replace

import pytest
from rich.console import Console

from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.task.record import new_task
from stepward.domain.timing import Timing
from tests.factories import ORDER_ID, T0, sequence
from tests.lab.benchmarks.recovery.__main__ import Recovery, recovery_table
from tests.lab.benchmarks.recovery.kills import Killed, Spoiled

TASK = new_task(ORDER_ID, sequence("reserve", "charge"), T0, Timing())


def test_the_table_gives_medians_and_the_span_to_the_end() -> None:
    shown = io.StringIO()
    kills = [Recovery("agent", 2.0, 1.0, noticed, noticed + 1, noticed + 2, "") for noticed in (2.0, 2.2, 3.0)]

    Console(file=shown, width=120).print(recovery_table(kills))

    figures = [cell.strip() for cell in shown.getvalue().splitlines()[-2].split("│")]
    assert figures[1:-1] == ["agent", "2 s", "1 s", "2.2", "3.2", "4.2", "4.0 to 5.0"]


def test_a_death_is_noticed_when_the_supervisor_first_acts() -> None:
    kinds = (HistoryKind.RETRY_LATER, HistoryKind.RECOVERED, HistoryKind.REMINDED)
    history = tuple(HistoryEntry(T0 + number, kind) for number, kind in enumerate(kinds))

    assert Killed(T0, replace(TASK, history=history), "charge").noticed == T0 + 1


def test_an_order_that_ended_without_the_supervisor_says_nothing_of_recovery() -> None:
    with pytest.raises(Spoiled, match="ended without the Supervisor"):
        _ = Killed(T0, TASK, "charge").noticed
