"""The operator on call: takes up again what faults brought to an Error that it would not have come to without them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from orders.demo.stage import Stage
from stepward.domain.task.record import ProcessState, Task
from tests.lab.chaos.director import Told

MOST_TIMES = 3
TROUBLED = frozenset({ProcessState.ERROR, ProcessState.UNDO_FAILED})


@dataclass(slots=True)
class OnCall:
    """Acts on `stage` from second `begins`; `left` are the orders that shall stand in Error, or are others' work."""

    stage: Stage
    begins: float
    left: Collection[str]
    told: Told
    resubmitted: Counter[str] = field(default_factory=Counter)

    def look(self, tasks: Mapping[str, Task], seconds: float) -> None:
        """Resubmit every order in trouble that an alert was sent for, one at a time."""
        for order_id, task in tasks.items() if seconds >= self.begins else ():
            if order_id not in self.left and is_told_of(task) and self.resubmitted[order_id] < MOST_TIMES:
                self.resubmitted[order_id] += 1
                self.told(f"an operator types: stepward resubmit {order_id}", seconds)
                self.stage.type_in(["resubmit", order_id, "--why", "AWS works again"])
                return


def is_told_of(task: Task) -> bool:
    """Whether it stands in trouble, and the alert about that is sent."""
    return task.process_state in TROUBLED and all(record.alert_by is None for record in task.steps.values())
