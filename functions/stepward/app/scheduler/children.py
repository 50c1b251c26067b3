"""Children: orders that are a step of another order. The Scheduler submits them, and undoes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stepward.app.scheduler.transition import Transition
from stepward.domain.errors import Conflict, Rejected
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.key import child_key
from stepward.domain.messages import ChildEnded, ChildSubmit, ChildUndo, OfChild, Start
from stepward.domain.steps.child import child_order
from stepward.domain.steps.each import order_of_some
from stepward.domain.steps.many import plan_of
from stepward.domain.submission import Order, Submission
from stepward.domain.task.decide import decide
from stepward.domain.task.record import Loaded, Parent, Task, new_task
from stepward.domain.task.results import PARENT_RESULTS, readable
from stepward.domain.workflow.plan import Plan
from stepward.wire import strict_json
from stepward.wire.order import sized

MOST_WITH_RESULTS = 390_000
"""Bytes of the order of some items with what the engine adds: its parent's was accepted, and a record holds 400 KB."""


@dataclass(frozen=True, slots=True)
class Children:
    """Makes the task of a child from what stands in its parent's: the plan is frozen there, the order follows."""

    transition: Transition

    def handle(self, message: ChildSubmit | ChildUndo) -> None:
        """Submit the child, or have it undone; either has it tell its parent how it ended, if it has."""
        key, store = child_key(message.order_id, message.step), self.transition.store
        if isinstance(message, ChildUndo) and store.load(key, with_order=False):
            self.transition.apply(key, message)
            return
        if (parent := store.load(message.order_id)) is None:
            raise Rejected("orderId", f"there is no task for {message.order_id!r}")
        step = parent.plan.by_name.get(message.step.partition(".")[0])
        if step is None or not (step.child or step.parts):
            raise Rejected("step", f"{message.step!r} is not a child of {message.order_id!r}")
        plan = step.child or plan_of(parent.plan, step)
        if isinstance(message, ChildUndo):
            self._bury(key, parent, message.step, plan)
        elif parent.task.steps[step.name].runs:
            self._submit(key, parent, message.step, plan)

    def _submit(self, key: str, parent: Loaded, name: str, plan: Plan) -> None:
        """Put it, once; one that is there is started again, which has it tell, if it has ended."""
        transition = self.transition
        try:
            order = _order(key, parent, name)
        except Rejected as error:
            transition.apply(
                parent.task.order_id, ChildEnded(parent.task.order_id, name, error=f"its order {error.reason}")
            )
            return
        outcome = transition.store.submit(order, self._task(key, parent, name, plan), plan)
        if outcome is Submission.ACCEPTED:
            transition.telemetry.record(key, HistoryEntry(transition.now(), HistoryKind.SUBMITTED))
        transition.queues.to_scheduler([Start(key)])

    def _bury(self, key: str, parent: Loaded, name: str, plan: Plan) -> None:
        """Put a child that never came as one that is undone, so that a late submission finds it so."""
        transition, task = self.transition, self._task(key, parent, name, plan)
        event = ChildUndo(parent.task.order_id, name)
        decision = decide(
            task, plan, event, now=task.created_at, by=transition.instance, timing=transition.timing, order=None
        )
        order = Order.of(key, "{}")
        if transition.store.submit(order, decision.task, plan) is not Submission.ACCEPTED:
            raise Conflict(f"{key}: it was submitted at the same time; try again")
        for entry in decision.history:
            transition.telemetry.record(key, entry)
        transition.queues.to_scheduler([each for each in decision.messages if isinstance(each, OfChild)])

    def _task(self, key: str, parent: Loaded, name: str, plan: Plan) -> Task:
        transition = self.transition
        return new_task(key, plan, transition.now(), transition.timing, parent=Parent(parent.task.order_id, name))


def _order(key: str, parent: Loaded, name: str) -> Order:
    results, (step, _, at) = readable(parent.task.steps, parent.plan), name.partition(".")
    planned = parent.plan.by_name[step]
    if at:
        return Order.of(key, _fitting(order_of_some(int(at), planned, parent.order, results)))
    return Order.of(key, sized(strict_json.canonical(child_order(planned, parent.order, results))))


def _fitting(made: Mapping[str, Any]) -> str:
    """The order of some items as JSON; where all results would be too much, the longest are not at hand."""
    body, results = strict_json.canonical(made), made[PARENT_RESULTS]
    at_hand = {name: strict_json.canonical(result) for name, result in results.items() if result is not None}
    if len(body) <= MOST_WITH_RESULTS or not at_hand:
        return sized(body, MOST_WITH_RESULTS)
    longest = max(at_hand, key=lambda name: len(at_hand[name]))
    return _fitting({**made, PARENT_RESULTS: {**results, longest: None}})
