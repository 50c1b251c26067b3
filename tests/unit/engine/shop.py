"""A deployment in memory with a submitter that listens on a queue of its own."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from stepward.adapters.sqs.notices import CheckedNotices
from stepward.app.assembly import Assembly
from stepward.app.scheduler.schedule import Schedule
from stepward.domain.errors import Permanent
from stepward.domain.reply_queues import Allowed
from stepward.domain.task.record import ProcessState, Task
from stepward.domain.workflow.definition import Call
from stepward.domain.workflow.plan import Exhausted, Plan, Policy
from stepward.testing.memory.notices import MemoryReplyQueues
from stepward.testing.memory.task_store import MemoryTaskStore
from tests.factories import MINUTE, ORDER_ID, order_text, planned
from tests.unit.engine.world import World, operation

URL = "https://sqs.us-east-1.amazonaws.com/111122223333/replies-shop"
ALLOWED = Allowed(frozenset({"111122223333"}), frozenset({"us-east-1"}), ("replies-",), "stepward-")


class Died(Exception):
    """The process ends here."""


@dataclass
class Reached(MemoryTaskStore):
    """Remembers each revision that was written; `dies` ends the process right after the next write."""

    written: dict[int, Task] = field(default_factory=dict)
    dies: bool = False

    def save(self, task: Task, *, replaces: Task) -> bool:
        won = super().save(task, replaces=replaces)
        if won:
            self.written[task.revision] = task
        if won and self.dies:
            self.dies = False
            raise Died
        return won


class Shop(World):
    """A deployment, and a submitter that listens on its own queue."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.store = self.reached = Reached(shard_of=lambda _: 0)
        self.replies = self.queue("replies-shop")
        self.notices = CheckedNotices(MemoryReplyQueues({URL: self.replies}), ALLOWED, self.telemetry)
        self.fails: set[str] = set()

    def assembly(self, **settings: Any) -> Assembly:
        """See World; here the submitter may be notified."""
        return super().assembly(reply_queues=ALLOWED, **settings)

    def order(self, **changes: Any) -> None:
        self.submit.handle(order_text(**{"replyTo": URL, "correlationId": "checkout-1", **changes}))
        self.reached.written[1] = self.reached.tasks[ORDER_ID]

    def scheduler(self) -> Schedule:
        return replace(self.assembly(), notices=self.notices).scheduler("scheduler-1")

    def hear(self) -> list[Any]:
        return [json.loads(body) for body in self.replies.bodies]

    def statuses(self) -> list[tuple[str, str | None]]:
        return [(told["status"], told["step"]) for told in self.hear()]

    def tell(self, text: str) -> None:
        self.scheduler().handle(text)

    def run(self) -> None:
        """Until nobody has anything to do."""
        while self.step():
            pass

    def step(self) -> bool:
        """One message is worked on, wherever there is one."""
        for queue, handle in [
            (self.queues.scheduler, self.tell),
            (self.queues.responses, self.tell),
            (self.queues.agents["worker"], self.serve(*self.operations()).handle),
        ]:
            for message in queue.receive(1):
                handle(message.body)
                queue.delete(message.handle)
                return True
        return False

    def operations(self) -> Iterator[Any]:
        names = {step.operation for step in self.plan.by_name.values()}
        return (operation(partial(self.work, name), name) for name in sorted(names))

    def work(self, name: str, _: Call) -> Mapping[str, Any]:
        if name in self.fails:
            raise Permanent("no")
        return {"ref": name}

    def sweep(self) -> None:
        self.clock.now += 5 * MINUTE
        self.supervise().sweep(lambda: MINUTE)


def plan() -> Plan:
    """Two steps that can be undone, the second of which is undone if it is refused or not answered."""
    reserve = replace(planned("reserve", threshold=2), undo_agent="worker", undo="release")
    charge = replace(planned("charge", "reserve", threshold=1), undo_agent="worker", undo="refund")
    policies = (Policy(Exhausted.UNDO),)
    return Plan("shop", 1, (reserve, replace(charge, exhausted=policies, on_permanent=Exhausted.UNDO)))


def check(told: Sequence[Mapping[str, Any]], reached: Mapping[int, Task]) -> None:
    """Each notice against the record as it was written under the notice's revision; none goes back in time."""
    revisions = [notice["revision"] for notice in told]
    assert revisions == sorted(revisions)
    for notice in told:
        assert (notice["orderId"], notice["correlationId"]) == (ORDER_ID, "checkout-1")
        task = reached[notice["revision"]]
        states = {
            "received": {task.process_state},
            "step-completed": {task.process_state},
            "completed": {ProcessState.PROCESSED},
            "failed": {ProcessState.ERROR},
            "undoing": {ProcessState.UNDOING, ProcessState.UNDONE},
            "undone": {ProcessState.UNDONE},
            "undo-failed": {ProcessState.UNDO_FAILED},
        }
        assert task.process_state in states[notice["status"]]
        if notice["status"] == "step-completed":
            assert task.steps[notice["step"]].process_state is ProcessState.PROCESSED
