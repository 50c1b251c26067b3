"""S7, S13: two operators click twice each; the order does once what they ask."""

from collections.abc import Sequence
from functools import partial

import pytest

from stepward.app.scheduler.audit_log import AuditLog
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Cancel, Command, Outcome, Pause, Reply, Resubmit, Resume, Start, Undo
from stepward.domain.task.record import ProcessState, Task, new_task
from stepward.domain.workflow.plan import Plan, PlannedStep
from stepward.wire.messages import encode
from tests.contract.worlds.store_worlds import NOW, TIMING, order_of
from tests.lab.races.conftest import RACERS, Race, Shared, until_done

pytestmark = pytest.mark.cloud

RESERVE = PlannedStep("reserve", "inventory", "reserve", (), 60_000, 3, undo_agent="inventory", undo="release")
CHARGE = PlannedStep("charge", "payments", "charge", ("reserve",), 60_000, 3, undo_agent="payments", undo="refund")
UNDOABLE = Plan("undoable", 1, (RESERVE, CHARGE))
WHO = ("ann", "bob")


def charging(race: Race, order_id: str) -> Task:
    """An order whose first step is done, and whose second runs."""
    race.world.store.submit(order_of(order_id), new_task(order_id, UNDOABLE, NOW, TIMING), UNDOABLE)
    first = race.transition(0, NOW)
    first.apply(order_id, Start(order_id))
    first.apply(order_id, reply(race.task(order_id), "reserve", Outcome.OK))
    return race.task(order_id)


def reply(task: Task, step: str, outcome: Outcome) -> Reply:
    record = task.steps[step]
    return Reply(task.order_id, step, record.attempt, record.token or "", outcome, error="declined")


def clicked(race: Race, shared: Shared, commands: Sequence[Command]) -> None:
    """Each command reaches the Scheduler as a message of its own, all at once."""
    schedulers = [one.scheduler(f"scheduler-{racer}") for racer, one in enumerate(race.assemblies(shared))]
    pairs = zip(schedulers, commands, strict=True)
    race.run([until_done(partial(one.handle, encode(command))) for one, command in pairs])


def judged(race: Race, shared: Shared, order_id: str, kind: HistoryKind) -> Task:
    """The order after the clicks: its audit log and its history hold one command; the others changed nothing."""
    task, audit_log = race.task(order_id), AuditLog(shared[0]).of(order_id)
    (winner,) = [entry for entry in audit_log if entry.applied]
    assert [entry.by for entry in task.history if entry.kind is kind] == [winner.who]
    assert {entry.who for entry in audit_log if not entry.applied} <= {*WHO} - {winner.who}
    race.outcomes[f"won by {winner.who}"] += 1
    return task


def test_a_step_is_resubmitted_once(race: Race, shared: Shared) -> None:
    """S7: and claimed once again."""
    for order_id in race.orders("resubmit"):
        task = charging(race, order_id)
        race.transition(0, NOW).apply(order_id, reply(task, "charge", Outcome.PERMANENT))

        clicked(race, shared, [Resubmit(order_id, "charge", 1, WHO[n % 2], "unblocked") for n in range(RACERS)])

        step = judged(race, shared, order_id, HistoryKind.RESUBMITTED).steps["charge"]
        assert (step.process_state, step.attempt, step.fence) == (ProcessState.PROCESSING, 2, 3)


@pytest.mark.parametrize("kind", [Undo, Cancel])
def test_an_undo_begins_once(race: Race, shared: Shared, kind: type[Undo | Cancel]) -> None:
    """S17: each compensation is claimed once."""
    for order_id in race.orders(kind.__name__.lower()):
        charging(race, order_id)

        clicked(race, shared, [kind(order_id, WHO[n % 2], "sold twice") for n in range(RACERS)])

        task = judged(race, shared, order_id, HistoryKind.UNDO_BEGUN)
        assert task.process_state is ProcessState.UNDOING
        assert [(name, record.attempt) for name, record in task.steps.items() if name.endswith("/undo")] == [
            ("reserve/undo", 0),
            ("charge/undo", 1),
        ]


def test_an_order_is_paused_once(race: Race, shared: Shared) -> None:
    """S7."""
    for order_id in race.orders("pause"):
        charging(race, order_id)

        clicked(race, shared, [Pause(order_id, WHO[n % 2], "ask first", asked_at=NOW) for n in range(RACERS)])

        judged(race, shared, order_id, HistoryKind.PAUSED)


def test_a_pause_and_a_newer_resume_leave_the_order_going(race: Race, shared: Shared) -> None:
    """S7: whichever of the two the queue brings first."""
    for order_id in race.orders("resume"):
        charging(race, order_id)
        race.transition(0, NOW).apply(order_id, Pause(order_id, "ann", "ask first", asked_at=NOW - 2))

        pauses: list[Command] = [Pause(order_id, "ann", "again", asked_at=NOW - 1)] * (RACERS // 2)
        resumes: list[Command] = [Resume(order_id, "bob", "asked", asked_at=NOW)] * (RACERS // 2)
        clicked(race, shared, [*pauses, *resumes])

        task = race.task(order_id)
        assert sum(entry.kind is HistoryKind.RESUMED for entry in task.history) == 1
        assert race.transition(0, NOW).apply(order_id, reply(task, "charge", Outcome.OK))
        assert race.task(order_id).process_state is ProcessState.PROCESSED
        race.outcomes["going"] += 1
