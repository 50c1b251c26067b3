"""Audits the orders: compares the scenario with the state store, the alerts, the rejects and the services' ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from orders.demo.limits import out_of_time, ran_out
from orders.demo.scenario import Scenario
from stepward.domain.messages import Status
from stepward.domain.rejects import Reject
from stepward.domain.task.record import ProcessState, Task
from stepward.local.services import Effect

FAILED = frozenset({ProcessState.ERROR, ProcessState.UNDO_FAILED})
ENDS = FAILED | {ProcessState.PROCESSED, ProcessState.UNDONE}
FINAL_STATUS = {
    ProcessState.PROCESSED: Status.COMPLETED,
    ProcessState.UNDONE: Status.UNDONE,
    ProcessState.ERROR: Status.FAILED,
    ProcessState.UNDO_FAILED: Status.UNDO_FAILED,
}


@dataclass(frozen=True, slots=True)
class Heard:
    """One notice that reached the submitter."""

    order_id: str
    correlation_id: str
    status: str
    step: str
    revision: int


@dataclass(frozen=True)
class Evidence:
    """The state at the end: tasks by order id, the ids of stored orders and of alerted ones, effects oldest first.

    `replayed` counts the repeated calls that a service answered without a second effect.
    """

    tasks: Mapping[str, Task]
    stored: frozenset[str]
    rejects: Sequence[Reject]
    alerted: frozenset[str]
    effects: Sequence[Effect]
    notices: Sequence[Heard]
    replayed: int

    @cached_property
    def done(self) -> Counter[str]:
        """The number of effects of each forward key."""
        return Counter(effect.key for effect in self.effects if not effect.undo_of)

    @cached_property
    def undone(self) -> Counter[str]:
        """The number of times that each forward key was undone."""
        return Counter(effect.undo_of for effect in self.effects if effect.undid)


@dataclass(frozen=True, slots=True)
class Findings:
    """The result of the audit; each list names orders, or says what is wrong.

    Those `late` ended as they should not, since attempts ran out of their time; nothing else is wrong with them.
    """

    summary: str
    lost: tuple[str, ...] = ()
    doubled: tuple[str, ...] = ()
    stuck: tuple[str, ...] = ()
    unalerted: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    late: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong or late."""
        return not any((self.lost, self.doubled, self.stuck, self.unalerted, self.wrong, self.late))

    def faults(self) -> Iterator[str]:
        """Every fault as a line."""
        for name in ("lost", "doubled", "stuck", "unalerted", "wrong"):
            yield from (f"{name}: {fault}" for fault in getattr(self, name))


def audit(scenario: Scenario, evidence: Evidence) -> Findings:
    """Check that every order ended as it must, its effects single or undone, and every other message was rejected."""
    states = Counter(task.process_state for task in evidence.tasks.values())
    failed = [order_id for order_id, task in evidence.tasks.items() if task.process_state in FAILED]
    lost = tuple(_lost(scenario, evidence))
    doubled = tuple(_doubled(evidence))
    unalerted = tuple(order_id for order_id in failed if order_id not in evidence.alerted)
    rejected = len(scenario.rejected) - len(_not_rejected(scenario, evidence))
    summary = (
        f"demo: {len(scenario.orders)} orders: {states[ProcessState.PROCESSED]} Processed, "
        f"{states[ProcessState.UNDONE]} Undone, {len(failed)} Error ({len(failed) - len(unalerted)} alerted); "
        f"{rejected} rejected and stored; {len(lost)} lost, {len(doubled)} doubled "
        f"despite {evidence.replayed} repeated calls"
    )
    stuck = tuple(f"{order_id} is {task.process_state}" for order_id, task in evidence.tasks.items() if is_stuck(task))
    wrong = (*_ended_wrong(scenario, evidence), *_wrong_effects(evidence), *_wrong_notices(scenario, evidence))
    return Findings(summary, lost, doubled, stuck, unalerted, wrong, tuple(_late(scenario, evidence)))


def is_stuck(task: Task) -> bool:
    """Whether the order has not come to an end."""
    running = any(record.process_state is ProcessState.PROCESSING for record in task.steps.values())
    return running or task.process_state not in ENDS


def _lost(scenario: Scenario, evidence: Evidence) -> Iterator[str]:
    """Orders that are gone, missing effects of Processed steps, and malformed messages that are not in the rejects."""
    for order in scenario.orders:
        if order.order_id not in evidence.stored or order.order_id not in evidence.tasks:
            yield order.order_id
            continue
        for step, record in evidence.tasks[order.order_id].steps.items():
            forward = record.process_state is ProcessState.PROCESSED and not record.is_compensation
            if forward and not evidence.done[f"{order.order_id}/{step}"]:
                yield f"the effect of {order.order_id}/{step}"
    yield from _not_rejected(scenario, evidence)


def _not_rejected(scenario: Scenario, evidence: Evidence) -> list[str]:
    rejected = Counter(reject.body for reject in evidence.rejects if reject.field and reject.reason)
    return [f"the rejected message {body[:60]!r}" for body in scenario.rejected if not rejected[body]]


def _doubled(evidence: Evidence) -> Iterator[str]:
    yield from (f"{key} had its effect {times} times" for key, times in evidence.done.items() if times > 1)
    yield from (f"{key} was undone {times} times" for key, times in evidence.undone.items() if times > 1)


def _ended_wrong(scenario: Scenario, evidence: Evidence) -> Iterator[str]:
    """Orders that ended in a wrong state, or that nobody sent."""
    expected = {order.order_id: order for order in scenario.orders}
    for order_id, task in evidence.tasks.items():
        if order_id not in expected:
            yield f"{order_id} was never sent"
        elif not is_stuck(task) and task.process_state is not expected[order_id].ends and not out_of_time(task):
            yield f"{order_id} (what goes wrong: {expected[order_id].kind.name}) ended {task.process_state}"


def _late(scenario: Scenario, evidence: Evidence) -> Iterator[str]:
    """Orders that ended in a wrong state only because a step's last attempt had no answer in time."""
    for order in scenario.orders:
        task = evidence.tasks.get(order.order_id)
        if task and not is_stuck(task) and task.process_state is not order.ends and (step := out_of_time(task)):
            yield ended_late(order.order_id, task, step)


def ended_late(order_id: str, task: Task, step: str) -> str:
    """The fault of an order that ended since this step's attempts ran out of their time."""
    return f"{order_id} ended {task.process_state}: {step} had no answer in time, {task.steps[step].attempt} attempts"


def _wrong_effects(evidence: Evidence) -> Iterator[str]:
    """Effects without a record, and those of an undone order that were not undone, or in the wrong order."""
    for key in evidence.done:
        order_id, _, step = key.partition("/")
        task = evidence.tasks.get(order_id)
        if task is None or step not in task.steps:
            yield f"{key} had an effect but has no task"
        elif task.undoing and task.process_state is ProcessState.UNDONE and not evidence.undone[key]:
            yield f"{key} is not undone though the order is Undone"
        elif not task.undoing and not _may_have_effect(task, step, order_id in evidence.alerted):
            yield f"{key} had an effect but is not Processed"
    for order_id, task in evidence.tasks.items():
        mine = [effect for effect in evidence.effects if effect.key.split("/")[0] == order_id]
        undone = [effect.undo_of for effect in mine if effect.undid]
        if undone and not task.undoing:
            yield f"{order_id} had effects undone though nobody undid it"
        if undone != [key for key in reversed([e.key for e in mine if not e.undo_of]) if key in undone]:
            yield f"{order_id} was not undone in reverse order: {', '.join(undone)}"


def _may_have_effect(task: Task, step: str, alerted: bool) -> bool:  # noqa: FBT001 - a fact
    """Whether the step is done, or nobody answered its last attempt and an operator knows that."""
    record = task.steps[step]
    return record.process_state is ProcessState.PROCESSED or (alerted and ran_out(task, record))


def _wrong_notices(scenario: Scenario, evidence: Evidence) -> Iterator[str]:
    """Orders whose submitter got no notice of the end, or one of a state that was never reached."""
    for order in scenario.orders:
        task = evidence.tasks.get(order.order_id)
        heard = sorted(
            (notice for notice in evidence.notices if notice.order_id == order.order_id), key=lambda it: it.revision
        )
        if task is None or is_stuck(task):
            continue
        last = {notice.status for notice in heard if notice.revision == heard[-1].revision}
        if FINAL_STATUS[task.process_state] not in last:
            yield f"{order.order_id} is {task.process_state}; the last notice was {heard[-1:] or 'none'}"
        if any(notice.revision > task.revision or not notice.correlation_id for notice in heard):
            yield f"{order.order_id}: a notice names a state that was not reached"
