"""What a run shows at its end."""

from collections import Counter
from collections.abc import Mapping

from rich.table import Table

from stepward.domain.history import HistoryKind
from tests.lab.chaos.plan import VICTIMS
from tests.lab.results import table

RECOVERIES = {
    HistoryKind.RECOVERED: "steps that ran past complete-by, run again",
    HistoryKind.UNCOUNTED: "steps whose attempt cannot have started, run again",
    HistoryKind.REMINDED: "tasks that no Scheduler had started, sent again",
    HistoryKind.LATE_EFFECT: "effects of a fenced attempt, undone",
    HistoryKind.ALERTED: "alerts to operators",
}


def made_to_fail(injected: Mapping[tuple[str, str, str], int]) -> Table:
    """The requests by service and fault; `injected` counts them by operation, too."""
    by_kind: Counter[str] = Counter()
    for (service, _, action), times in injected.items():
        by_kind[f"{service}  {action}"] += times
    return table("made to fail", "what", "requests", rows=sorted(by_kind.items()))


def killed(by_victim: Mapping[tuple[str, bool], int]) -> Table:
    """The processes by function, and by whether they were at work."""
    rows = ((victim, *(by_victim.get((victim, busy), 0) for busy in (True, False))) for victim in VICTIMS)
    return table("killed with SIGKILL", "function", "at work", "idle", rows=rows)


def recovered(happened: Mapping[HistoryKind, int], dead_letters: int, given_up: int, resubmitted: int) -> Table:
    """What became of all that."""
    rows = [
        *((text, happened.get(kind, 0)) for kind, text in RECOVERIES.items()),
        ("messages that ended in a dead-letter queue", dead_letters),
        ("orders undone because a step had used up its attempts", given_up),
        ("orders that an operator resubmitted when AWS worked again", resubmitted),
    ]
    return table("what the system did about it", "what", "times", rows=rows)
