"""The audit: compares what was sent with the state store, the alerts, the rejects and the services' own ledgers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from orders.demo.scenario import Scenario
from stepward.domain.messages import Status
from stepward.domain.rejects import Reject
from stepward.domain.task.record import ProcessState, Task
from stepward.local.services import Effect

FAILED = frozenset({ProcessState.ERROR, ProcessState.UNDO_FAILED})
ENDS = FAILED | {ProcessState.PROCESSED, ProcessState.UNDONE}
TOLD_AT_THE_END = {
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
    """What stands at the end: tasks by order id, ids of stored orders and of those told of, effects in their order.

    `replayed` counts the calls that came again under a key and were answered without a second effect.
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
        """How often each forward key had its effect."""
        return Counter(effect.key for effect in self.effects if not effect.undo_of)

    @cached_property
    def undone(self) -> Counter[str]:
        """How often each forward key's effect was taken back."""
        return Counter(effect.undo_of for effect in self.effects if effect.undid)


@dataclass(frozen=True, slots=True)
class Findings:
    """What the audit found; each list names orders, or says what is wrong."""

    summary: str
    lost: tuple[str, ...] = ()
    doubled: tuple[str, ...] = ()
    stuck: tuple[str, ...] = ()
    unalerted: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not any((self.lost, self.doubled, self.stuck, self.unalerted, self.wrong))

    def faults(self) -> Iterator[str]:
        """Every fault as a line."""
        for name in ("lost", "doubled", "stuck", "unalerted", "wrong"):
            yield from (f"{name}: {fault}" for fault in getattr(self, name))


def audit(scenario: Scenario, evidence: Evidence) -> Findings:
    """Every accepted order ended as it must, with each effect once or undone; every other message was kept."""
    states = Counter(task.process_state for task in evidence.tasks.values())
    failed = [order_id for order_id, task in evidence.tasks.items() if task.process_state in FAILED]
    lost = tuple(_lost(scenario, evidence))
    doubled = tuple(_doubled(evidence))
    unalerted = tuple(order_id for order_id in failed if order_id not in evidence.alerted)
    kept = len(scenario.rejected) - len(_not_kept(scenario, evidence))
    summary = (
        f"demo: {len(scenario.orders)} orders: {states[ProcessState.PROCESSED]} Processed, "
        f"{states[ProcessState.UNDONE]} Undone, {len(failed)} Error ({len(failed) - len(unalerted)} alerted); "
        f"{kept} rejected, kept; {len(lost)} lost, {len(doubled)} doubled "
        f"though {evidence.replayed} calls came again"
    )
    stuck = tuple(f"{order_id} is {task.process_state}" for order_id, task in evidence.tasks.items() if is_stuck(task))
    wrong = (*_ended_wrong(scenario, evidence), *_left_standing(evidence), *_told_wrong(scenario, evidence))
    return Findings(summary, lost, doubled, stuck, unalerted, wrong)


def is_stuck(task: Task) -> bool:
    """Whether the order has not come to an end."""
    running = any(record.process_state is ProcessState.PROCESSING for record in task.steps.values())
    return running or task.process_state not in ENDS


def _lost(scenario: Scenario, evidence: Evidence) -> Iterator[str]:
    """Orders that are gone, effects that a Processed step claims but never had, messages nobody kept."""
    for order in scenario.orders:
        if order.order_id not in evidence.stored or order.order_id not in evidence.tasks:
            yield order.order_id
            continue
        for step, record in evidence.tasks[order.order_id].steps.items():
            forward = record.process_state is ProcessState.PROCESSED and not record.is_compensation
            if forward and not evidence.done[f"{order.order_id}/{step}"]:
                yield f"the effect of {order.order_id}/{step}"
    yield from _not_kept(scenario, evidence)


def _not_kept(scenario: Scenario, evidence: Evidence) -> list[str]:
    kept = Counter(reject.body for reject in evidence.rejects if reject.field and reject.reason)
    return [f"the rejected message {body[:60]!r}" for body in scenario.rejected if not kept[body]]


def _doubled(evidence: Evidence) -> Iterator[str]:
    yield from (f"{key} had its effect {times} times" for key, times in evidence.done.items() if times > 1)
    yield from (f"{key} was undone {times} times" for key, times in evidence.undone.items() if times > 1)


def _ended_wrong(scenario: Scenario, evidence: Evidence) -> Iterator[str]:
    """Orders that ended otherwise than they must, or that nobody sent."""
    expected = {order.order_id: order for order in scenario.orders}
    for order_id, task in evidence.tasks.items():
        if order_id not in expected:
            yield f"{order_id} was never sent"
        elif not is_stuck(task) and task.process_state is not expected[order_id].ends:
            yield f"{order_id} ({expected[order_id].kind.name}) ended {task.process_state}"


def _left_standing(evidence: Evidence) -> Iterator[str]:
    """Effects that nobody has on record, and those of an undone order that stand or went in the wrong order."""
    for key in evidence.done:
        order_id, _, step = key.partition("/")
        task = evidence.tasks.get(order_id)
        if task is None or step not in task.steps:
            yield f"{key} had an effect that no task knows of"
        elif task.undoing and task.process_state is ProcessState.UNDONE and not evidence.undone[key]:
            yield f"{key} still stands though the order is Undone"
        elif not task.undoing and task.steps[step].process_state is not ProcessState.PROCESSED:
            yield f"{key} had an effect but is not Processed"
    for order_id, task in evidence.tasks.items():
        mine = [effect for effect in evidence.effects if effect.key.split("/")[0] == order_id]
        undone = [effect.undo_of for effect in mine if effect.undid]
        if undone and not task.undoing:
            yield f"{order_id} had effects undone though nobody undid it"
        if undone != [key for key in reversed([e.key for e in mine if not e.undo_of]) if key in undone]:
            yield f"{order_id} was not undone in reverse order: {', '.join(undone)}"


def _told_wrong(scenario: Scenario, evidence: Evidence) -> Iterator[str]:
    """Orders whose submitter did not hear how they ended, or heard of what they never reached."""
    for order in scenario.orders:
        task = evidence.tasks.get(order.order_id)
        heard = sorted(
            (notice for notice in evidence.notices if notice.order_id == order.order_id), key=lambda it: it.revision
        )
        if task is None or is_stuck(task):
            continue
        if not heard or TOLD_AT_THE_END[task.process_state] not in {
            notice.status for notice in heard if notice.revision == heard[-1].revision
        }:
            yield f"{order.order_id} is {task.process_state}, its submitter last heard {heard[-1:] or 'nothing'}"
        if any(notice.revision > task.revision or not notice.correlation_id for notice in heard):
            yield f"{order.order_id}: a notice tells of a state that was not reached"
