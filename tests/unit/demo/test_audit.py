"""The audit of the demonstration passes what is right, and names whatever is not."""

import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from orders.demo.audit import FINAL_STATUS, Evidence, Findings, Heard, audit
from orders.demo.ledger_audit import LedgerFindings
from orders.demo.limits import limits, out_of_time, times_quiet
from orders.demo.run import report
from orders.demo.scenario import HANG_SECONDS, KINDS, Scenario, scenario
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.rejects import Reject
from stepward.domain.task.record import ProcessState, StepRecord, Task, new_task
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Plan, PlannedStep
from stepward.local.services import Effect

SAMPLES = Path(__file__).parents[3] / "events" / "orders"
STEPS = ("reserve", "charge", "ship")
PLAN = Plan("w", 1, tuple(PlannedStep(name, "a", name, (), 1000, 3) for name in STEPS))


def ended(order_id: str, state: ProcessState) -> Task:
    """A task that reached `state`; one in Error did so in its second step, one that was undone had done two."""
    done = StepRecord(order_id, "", ProcessState.PROCESSED, attempt=1)
    steps = {name: replace(done, name=name) for name in STEPS}
    undoing = ""
    if state in {ProcessState.UNDONE, ProcessState.UNDO_FAILED}:
        steps["ship"] = StepRecord(order_id, "ship", ProcessState.STOPPED)
        steps |= {f"{name}/undo": replace(done, name=f"{name}/undo") for name in ("reserve", "charge")}
        undoing = "cancelled"
    elif state is not ProcessState.PROCESSED:
        steps["charge"] = replace(done, name="charge", process_state=state, error="declined")
        steps["ship"] = StepRecord(order_id, "ship")
    if state is ProcessState.UNDO_FAILED:
        steps["charge/undo"] = replace(steps["charge/undo"], process_state=ProcessState.ERROR)
    return replace(new_task(order_id, PLAN, 0, Timing()), steps=steps, due=None, undoing=undoing, revision=9)


def effect(key: str, undo_of: str = "") -> Effect:
    return Effect(at=0, service="s", operation="o", key=key, undo_of=undo_of, fence=1, undid=bool(undo_of))


def effects_of(task: Task) -> list[Effect]:
    """What the services did for a task: forward in order, and back in reverse."""
    keys = [f"{task.order_id}/{name}" for name in STEPS if task.steps[name].process_state is ProcessState.PROCESSED]
    undone = reversed(keys) if task.process_state is ProcessState.UNDONE else []
    return [*map(effect, keys), *(effect(f"{key}/undo", key) for key in undone)]


def evidence(acts: Scenario) -> Evidence:
    """The evidence if everything went as it must."""
    tasks = {order.order_id: ended(order.order_id, order.ends) for order in acts.orders}
    return Evidence(
        tasks=tasks,
        stored=frozenset(tasks),
        rejects=[Reject(str(n), "orders", n, "field", "reason", body) for n, body in enumerate(acts.rejected)],
        alerted=frozenset(order.order_id for order in acts.orders if order.ends is ProcessState.ERROR),
        effects=[done for task in tasks.values() for done in effects_of(task)],
        notices=[
            Heard(order.order_id, "c", status, "", revision)
            for order in acts.orders
            for status, revision in (("received", 2), (FINAL_STATUS[order.ends], 9))
        ],
        replayed=2,
    )


ACTS = scenario(16, 3, SAMPLES)
PLAIN = next(order.order_id for order in ACTS.orders if order.kind is KINDS[0])
DECLINED = next(order.order_id for order in ACTS.orders if order.ends is ProcessState.ERROR)
REFUSED = HistoryEntry(0, HistoryKind.FAILED, "charge", 3, note="declined")
UNDONE = next(order.order_id for order in ACTS.orders if order.ends is ProcessState.UNDONE)


def found(change: Callable[[Evidence], Evidence] = lambda right: right) -> Findings:
    """The audit's findings after a change to what is right."""
    return audit(ACTS, change(evidence(ACTS)))


def ending(order_id: str, state: ProcessState) -> Callable[[Evidence], Evidence]:
    return lambda e: replace(e, tasks={**e.tasks, order_id: ended(order_id, state)})


def without(key: str) -> Callable[[Evidence], Evidence]:
    return lambda e: replace(e, effects=[done for done in e.effects if done.key != key])


def also(*more: Effect) -> Callable[[Evidence], Evidence]:
    return lambda e: replace(e, effects=[*e.effects, *more])


def undone_forwards(effects: Sequence[Effect]) -> list[Effect]:
    """The effects as if the first had been undone first."""
    back = [done for done in effects if done.undo_of]
    return [*(done for done in effects if not done.undo_of), *reversed(back)]


def heard(*notices: Heard) -> Callable[[Evidence], Evidence]:
    return lambda e: replace(e, notices=[n for n in e.notices if n.order_id != PLAIN] + list(notices))


LATE = HistoryEntry(0, HistoryKind.FAILED, "charge", 3, note="no answer within complete-by", value=900)


def late(order_id: str, **changes: Any) -> Callable[[Evidence], Evidence]:
    """The order ends in Error at `charge`, whose attempts had no answer in time; `changes` are of that record."""

    def change(right: Evidence) -> Evidence:
        task = ended(order_id, ProcessState.ERROR)
        steps = {**task.steps, "charge": replace(task.steps["charge"], attempt=3, **changes)}
        task = replace(task, steps=steps, history=(LATE,))
        notice = Heard(order_id, "c", "failed", "", 9)
        notices = [*(each for each in right.notices if each.order_id != order_id), notice]
        effects = [done for done in right.effects if done.key != f"{order_id}/ship"]
        alerted = right.alerted | {order_id}
        return replace(right, tasks={**right.tasks, order_id: task}, notices=notices, effects=effects, alerted=alerted)

    return change


def test_an_order_whose_attempts_ran_out_of_time_is_late_and_nothing_else() -> None:
    """Its service may have done the work: the operators were alerted to that."""
    findings = found(late(PLAIN))
    assert (findings.passed, list(findings.faults())) == (False, [])
    assert findings.late == (f"{PLAIN} ended Error: charge had no answer in time, 3 attempts",)


@pytest.mark.parametrize(
    ("fault", "then"),
    [
        ("unalerted", lambda e: replace(e, alerted=e.alerted - {PLAIN})),
        ("wrong", lambda e: replace(e, alerted=e.alerted - {PLAIN})),
        ("wrong", also(effect(f"{PLAIN}/ship"))),
        ("doubled", also(effect(f"{PLAIN}/charge"))),
        ("lost", without(f"{PLAIN}/reserve")),
        ("wrong", late(PLAIN, raised="TimeoutError: payments")),
        ("wrong", late(PLAIN, process_state=ProcessState.STOPPED)),
        ("wrong", late(PLAIN, alert_by=1)),
        ("wrong", lambda e: replace(e, tasks={**e.tasks, PLAIN: replace(e.tasks[PLAIN], history=())})),
        ("wrong", lambda e: replace(e, tasks={**e.tasks, PLAIN: replace(e.tasks[PLAIN], history=(REFUSED,))})),
    ],
)
def test_what_is_late_excuses_no_loss(fault: str, then: Callable[[Evidence], Evidence]) -> None:
    findings = found(lambda right: then(late(PLAIN)(right)))
    assert getattr(findings, fault), list(findings.faults())


@pytest.mark.parametrize(("failures", "why", "passes"), [(5, "charge", True), (4, "charge", False), (5, "x", False)])
def test_an_order_that_its_policy_undid_for_lateness_is_late(failures: int, why: str, passes: bool) -> None:
    task = ended(PLAIN, ProcessState.UNDONE)
    steps = {**task.steps, "charge": replace(task.steps["charge"], failure_count=failures)}
    task = replace(task, steps=steps, undoing=f"{why}: no answer")
    assert bool(out_of_time(task)) == passes


@pytest.mark.parametrize(("took", "times"), [(0.3, 1), (0.6, 1), (0.8, 2), (1.2001, 3), (60, 5)])
def test_a_busy_machine_gets_more_time(took: float, times: float) -> None:
    slow = times_quiet(took)
    assert slow == pytest.approx(times, abs=0.001)
    settings = limits(slow)
    assert settings["complete_within_ms"] == 4_000 * times < HANG_SECONDS * 1000


def test_what_is_right_passes_and_is_counted() -> None:
    """I1, I4, I6, I8."""
    right = found()
    assert right.passed, list(right.faults())
    assert right.summary == (
        f"demo: 16 orders: 12 Processed, 3 Undone, 1 Error (1 alerted); {len(ACTS.rejected)} rejected and stored; "
        "0 lost, 0 doubled despite 2 repeated calls"
    )


@pytest.mark.parametrize(
    ("fault", "change"),
    [
        ("lost", lambda e: replace(e, tasks={k: t for k, t in e.tasks.items() if k != PLAIN})),
        ("lost", lambda e: replace(e, stored=e.stored - {PLAIN})),
        ("lost", without(f"{PLAIN}/ship")),
        ("lost", lambda e: replace(e, rejects=e.rejects[1:])),
        ("lost", lambda e: replace(e, rejects=[replace(r, field="", reason="") for r in e.rejects])),
        ("doubled", also(effect(f"{PLAIN}/charge"))),
        ("doubled", also(effect(f"{UNDONE}/charge/undo", f"{UNDONE}/charge"))),
        ("stuck", ending(PLAIN, ProcessState.PROCESSING)),
        ("stuck", ending(PLAIN, ProcessState.PENDING)),
        ("unalerted", lambda e: replace(e, alerted=frozenset())),
        ("unalerted", ending(UNDONE, ProcessState.UNDO_FAILED)),
        ("wrong", ending(DECLINED, ProcessState.PROCESSED)),
        ("wrong", ending(PLAIN, ProcessState.ERROR)),
        ("wrong", ending("x", ProcessState.PROCESSED)),
        ("wrong", also(effect(f"{DECLINED}/ship"))),
        ("wrong", also(effect("nobody/ship"))),
        ("wrong", without(f"{UNDONE}/charge/undo")),
        ("wrong", lambda e: replace(e, effects=undone_forwards(e.effects))),
        ("wrong", also(effect(f"{PLAIN}/ship/undo", f"{PLAIN}/ship"))),
        ("wrong", heard()),
        ("wrong", heard(Heard(PLAIN, "c", "received", "", 2))),
        ("wrong", heard(Heard(PLAIN, "c", "completed", "", 9), Heard(PLAIN, "c", "failed", "", 10))),
        ("wrong", heard(Heard(PLAIN, "", "completed", "", 9))),
    ],
)
def test_whatever_is_not_right_is_named(fault: str, change: Callable[[Evidence], Evidence]) -> None:
    """I1, I4, I6, I8: an audit that cannot fail proves nothing."""
    findings = found(change)
    assert not findings.passed
    assert getattr(findings, fault)
    assert any(line.startswith(f"{fault}: ") for line in findings.faults())


@pytest.mark.parametrize(
    ("late", "code", "says"),
    [
        ((), 0, "Try next"),
        (("x",), 1, "1 order ran out of time: an attempt has 4 s, and this machine is busy. Run it again"),
        (("x", "y"), 1, "The log of the local cloud is .local/demo.log."),
    ],
)
def test_the_end_tells_lateness_from_faults_and_names_the_log(late: tuple[str, ...], code: int, says: str) -> None:
    shown = io.StringIO()
    assert report(Findings("demo", late=late), LedgerFindings("ledgers", ()), "4 s", Console(file=shown)) == code
    assert says in shown.getvalue()
