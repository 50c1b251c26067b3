"""I1: faults may use up the attempts of an order, but only its own record can show that they did."""

from dataclasses import replace

from orders.demo.audit import Evidence, Heard
from orders.demo.ledger_audit import LedgerEvidence
from orders.demo.ledgers import LedgerScenario
from orders.demo.scenario import KINDS, Expected, Scenario
from stepward.domain.messages import Status
from stepward.domain.task.record import ProcessState, StepRecord, Task, new_task
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Plan, PlannedStep
from stepward.local.services import Effect
from tests.lab.chaos.audit import Findings, audit_run
from tests.lab.chaos.operator import is_alerted

STEPS = ("reserve", "charge", "ship")
PLAN = Plan("w", 1, tuple(PlannedStep(name, "a", name, (), 1000, 3) for name in STEPS))
PLAIN = Expected("ord-1", KINDS[0], ("{}",))


def undone(failures: int) -> Task:
    """An order whose `reserve` was done and undone, and whose `charge` missed its limit `failures` times."""
    done = StepRecord("ord-1", "reserve", ProcessState.PROCESSED, attempt=1)
    steps = {
        "reserve": done,
        "charge": StepRecord("ord-1", "charge", ProcessState.STOPPED, failure_count=failures),
        "ship": StepRecord("ord-1", "ship", ProcessState.STOPPED),
        "reserve/undo": replace(done, name="reserve/undo"),
    }
    return replace(new_task("ord-1", PLAN, 0, Timing()), steps=steps, due=None, undoing="charge: late", revision=9)


def audited(task: Task) -> Findings:
    effects = [_effect("ord-1/reserve", ""), _effect("ord-1/reserve/undo", "ord-1/reserve")]
    heard = [Heard("ord-1", "c", Status.UNDONE, "", task.revision)]
    evidence = Evidence({"ord-1": task}, frozenset({"ord-1"}), [], frozenset(), effects, heard, 0)
    nothing = LedgerEvidence({}, {}, [], {}, frozenset(), [])
    return audit_run(Scenario((PLAIN,), ()), LedgerScenario((), ()), evidence, nothing)


def test_an_order_whose_step_used_up_its_attempts_may_end_undone() -> None:
    found = audited(undone(failures=5))
    assert found.faults == ()
    assert found.given_up == ("ord-1",)


def test_an_order_that_was_undone_for_no_such_reason_is_a_fault() -> None:
    found = audited(undone(failures=4))
    assert found.faults == ("wrong: ord-1 (what goes wrong: nothing) ended Undone",)
    assert found.given_up == ()


def test_the_operator_on_call_waits_until_the_alert_is_sent() -> None:
    failed = StepRecord("ord-1", "charge", ProcessState.ERROR)
    task = replace(undone(0), undoing="", steps={"charge": failed})
    assert is_alerted(task)
    assert not is_alerted(replace(task, steps={"charge": replace(failed, alert_by=1)}))


def _effect(key: str, undo_of: str) -> Effect:
    return Effect(at=0, service="s", operation="o", key=key, undo_of=undo_of, fence=1, undid=bool(undo_of))
