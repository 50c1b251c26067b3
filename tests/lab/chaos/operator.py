"""The operator on call: resubmits the orders that ended in Error only because of faults."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from orders.demo.stage import Stage
from stepward.domain.task.record import ProcessState, Task
from tests.lab.chaos.director import Log

MOST_TIMES = 3
TROUBLED = frozenset({ProcessState.ERROR, ProcessState.UNDO_FAILED})


@dataclass(slots=True)
class OnCall:
    """Acts on `stage` from second `begins`; `left` are the orders that must end in Error or that others resubmit."""

    stage: Stage
    begins: float
    left: Collection[str]
    log: Log
    resubmitted: Counter[str] = field(default_factory=Counter)

    def act(self, tasks: Mapping[str, Task], seconds: float) -> None:
        """Resubmit the next order in Error whose alert was sent, if there is one."""
        for order_id, task in tasks.items() if seconds >= self.begins else ():
            if order_id not in self.left and is_alerted(task) and self.resubmitted[order_id] < MOST_TIMES:
                self.resubmitted[order_id] += 1
                self.log(f"an operator types: stepward resubmit {order_id}", seconds)
                self.stage.type_in(["resubmit", order_id, "--why", "AWS works again"])
                return


def is_alerted(task: Task) -> bool:
    """Whether the task is in Error or Undo Failed, and its alert was sent."""
    return task.process_state in TROUBLED and all(record.alert_by is None for record in task.steps.values())
