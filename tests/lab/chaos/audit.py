"""The demonstration's audits, for runs in which faults alone may use up the attempts of an order."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from orders.demo.audit import Evidence, audit
from orders.demo.ledger_audit import LedgerEvidence, audit_ledgers
from orders.demo.ledgers import LedgerScenario
from orders.demo.scenario import Scenario
from orders.fulfilment import fulfilment
from stepward.domain.task.record import ProcessState, Task


@dataclass(frozen=True, slots=True)
class Findings:
    """The audits' summaries, every fault as a line, and the orders that were undone when their attempts ran out."""

    summaries: tuple[str, ...]
    faults: tuple[str, ...]
    given_up: tuple[str, ...]


def audit_run(acts: Scenario, ledgers: LedgerScenario, evidence: Evidence, of_ledgers: LedgerEvidence) -> Findings:
    """Audit a run: an order ends as it does without faults, or Undone if its record shows that its policy did so."""
    given_up = set(_given_up({**evidence.tasks, **of_ledgers.tasks}))
    orders = tuple(
        replace(order, kind=replace(order.kind, ends=ProcessState.UNDONE)) if order.order_id in given_up else order
        for order in acts.orders
    )
    lanes = tuple(replace(order, given_up=order.given_up or order.order_id in given_up) for order in ledgers.orders)
    # Alerts come at least once: one whose answer was lost is sent again, and counts once here.
    alerts = {order_id: min(1, count) for order_id, count in of_ledgers.alerts.items()}
    found = audit(replace(acts, orders=orders), evidence)
    of_lanes = audit_ledgers(replace(ledgers, orders=lanes), replace(of_ledgers, alerts=alerts))
    surprised = given_up & {order.order_id for order in acts.orders if order.ends is ProcessState.PROCESSED}
    surprised |= given_up & {order.order_id for order in lanes if order.given_up}
    late = (*found.late, *of_lanes.late)  # no order may end in Error here
    return Findings(
        (found.summary, of_lanes.summary), (*found.faults(), *of_lanes.faults, *late), tuple(sorted(surprised))
    )


def _given_up(tasks: Mapping[str, Task]) -> Iterator[str]:
    """The orders that are undone because a step used up its attempts."""
    thresholds = {step.name: step.threshold for step in fulfilment.plan().steps}
    for order_id, task in tasks.items():
        forward = [record for record in task.steps.values() if not record.is_compensation]
        if task.undoing and any(record.failure_count >= thresholds[record.name] for record in forward):
            yield order_id
