"""The audit: compares what was sent with the state store, the alerts, the rejects and the services' own ledgers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stepward.domain.task import ProcessState, Task
from stepward.local.demo.scenario import Scenario
from stepward.ports import Reject


@dataclass(frozen=True, slots=True)
class Evidence:
    """What stands at the end: tasks by order id, ids of stored orders and of those told of, effects by key."""

    tasks: Mapping[str, Task]
    stored: frozenset[str]
    rejects: Sequence[Reject]
    alerted: frozenset[str]
    effects: Mapping[str, int]
    undone: frozenset[str] = frozenset()


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
    """Every accepted order ended as it must, with each effect once; every other message was kept."""
    states = Counter(task.process_state for task in evidence.tasks.values())
    failed = [order_id for order_id, task in evidence.tasks.items() if task.process_state is ProcessState.ERROR]
    lost = tuple(_lost(scenario, evidence))
    doubled = tuple(f"{key} had its effect {times} times" for key, times in evidence.effects.items() if times > 1)
    unalerted = tuple(order_id for order_id in failed if order_id not in evidence.alerted)
    undone = {key.split("/")[0] for key in evidence.undone}
    kept = len(scenario.rejected) - len(_not_kept(scenario, evidence))
    summary = (
        f"demo: {len(scenario.orders)} orders: {states[ProcessState.PROCESSED]} Processed, {len(undone)} Undone, "
        f"{len(failed)} Error ({len(failed) - len(unalerted)} alerted); {kept} rejected, kept; "
        f"{len(lost)} lost, {len(doubled)} doubled"
    )
    stuck = tuple(f"{order_id} is {task.process_state}" for order_id, task in evidence.tasks.items() if _stuck(task))
    return Findings(summary, lost, doubled, stuck, unalerted, tuple(_wrong(scenario, evidence)))


def _lost(scenario: Scenario, evidence: Evidence) -> Iterator[str]:
    """Orders that are gone, effects that a Processed order claims but never had, messages nobody kept."""
    for order in scenario.orders:
        if order.order_id not in evidence.stored or order.order_id not in evidence.tasks:
            yield order.order_id
            continue
        task = evidence.tasks[order.order_id]
        for step, record in task.steps.items():
            if record.process_state is ProcessState.PROCESSED and not evidence.effects.get(f"{order.order_id}/{step}"):
                yield f"the effect of {order.order_id}/{step}"
    yield from _not_kept(scenario, evidence)


def _not_kept(scenario: Scenario, evidence: Evidence) -> list[str]:
    kept = Counter(reject.body for reject in evidence.rejects if reject.field and reject.reason)
    return [f"the rejected message {body[:60]!r}" for body in scenario.rejected if not kept[body]]


def _stuck(task: Task) -> bool:
    running = any(record.process_state is ProcessState.PROCESSING for record in task.steps.values())
    return running or task.process_state not in {ProcessState.PROCESSED, ProcessState.ERROR}


def _wrong(scenario: Scenario, evidence: Evidence) -> Iterator[str]:
    """Orders that ended otherwise than they must, or that nobody sent, and effects of steps not Processed."""
    expected = {order.order_id: order for order in scenario.orders}
    for order_id, task in evidence.tasks.items():
        if order_id not in expected:
            yield f"{order_id} was never sent"
        elif not _stuck(task) and task.process_state is not expected[order_id].ends:
            yield f"{order_id} ({expected[order_id].kind.name}) ended {task.process_state}"
    processed = {
        f"{order_id}/{step}"
        for order_id, task in evidence.tasks.items()
        for step, record in task.steps.items()
        if record.process_state is ProcessState.PROCESSED
    }
    yield from (f"{key} had an effect but is not Processed" for key in evidence.effects if key not in processed)
