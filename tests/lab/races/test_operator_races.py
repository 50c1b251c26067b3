"""S7, S13: an operator clicks twice, and another one does so, too; the order does once what was asked."""

from collections.abc import Iterator, Sequence
from functools import partial

import boto3
import pytest

from stepward.adapters.dynamodb.shared_records import DynamoSharedRecords
from stepward.app.scheduler.audit_log import AuditLog
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Cancel, Command, Outcome, Pause, Reply, Resubmit, Resume, Start, Undo
from stepward.domain.task.record import ProcessState, Task, new_task
from stepward.domain.workflow.plan import Plan, PlannedStep
from stepward.local.access import Access
from stepward.wire.messages import encode
from tests.contract.worlds.shared_record_tables import created, on
from tests.contract.worlds.store_worlds import NOW, TIMING, order_of
from tests.lab.races.conftest import RACERS, Race, until_done

pytestmark = [pytest.mark.cloud, pytest.mark.xdist_group("races")]

UNDOABLE = Plan(
    "undoable",
    1,
    (
        PlannedStep("reserve", "inventory", "reserve", (), 60_000, 3, undo_agent="inventory", undo="release"),
        PlannedStep("charge", "payments", "charge", ("reserve",), 60_000, 3, undo_agent="payments", undo="refund"),
    ),
)
WHO = ("ann", "bob")


@pytest.fixture(scope="module")
def shared(cloud_access: Access) -> Sequence[DynamoSharedRecords]:
    """The racers' own views of the trails."""
    table = created(boto3.client("dynamodb", **cloud_access))
    return [on(table, cloud_access["endpoint_url"]) for _ in range(RACERS)]


def orders_of(race: Race, kind: str) -> Iterator[str]:
    return (f"{kind}-{order_id}" for order_id in race.rounds)


def charging(race: Race, order_id: str) -> Task:
    """An order whose first step is done, and whose second runs."""
    race.world.store.submit(order_of(order_id), new_task(order_id, UNDOABLE, NOW, TIMING), UNDOABLE)
    first = race.transition(0, NOW)
    first.apply(order_id, Start(order_id))
    first.apply(order_id, reply(task_of(race, order_id), "reserve", Outcome.OK))
    return task_of(race, order_id)


def reply(task: Task, step: str, outcome: Outcome) -> Reply:
    record = task.steps[step]
    return Reply(task.order_id, step, record.attempt, record.token or "", outcome, error="declined")


def task_of(race: Race, order_id: str) -> Task:
    loaded = race.world.store.load(order_id)
    assert loaded is not None
    return loaded.task


def clicked(race: Race, shared: Sequence[DynamoSharedRecords], commands: Sequence[Command]) -> None:
    """Each command reaches the Scheduler as a message of its own, all at once."""
    schedulers = [
        race.assembly(racer, shared_records=shared_records).scheduler(f"scheduler-{racer}")
        for racer, shared_records in enumerate(shared)
    ]
    pairs = zip(schedulers, commands, strict=True)
    race.run([until_done(partial(one.handle, encode(command))) for one, command in pairs])


def judged(race: Race, shared: Sequence[DynamoSharedRecords], order_id: str, kind: HistoryKind) -> Task:
    """The order after the clicks: one was done, its trail and its history tell so; the others changed nothing."""
    task, audit_log = task_of(race, order_id), AuditLog(shared[0]).of(order_id)
    (winner,) = [entry for entry in audit_log if entry.applied]
    assert [entry.by for entry in task.history if entry.kind is kind] == [winner.who]
    assert {entry.who for entry in audit_log if not entry.applied} <= {*WHO} - {winner.who}
    race.told[f"won by {winner.who}"] += 1
    return task


def test_a_step_is_resubmitted_once(race: Race, shared: Sequence[DynamoSharedRecords]) -> None:
    """S7: and claimed once again."""
    for order_id in orders_of(race, "resubmit"):
        task = charging(race, order_id)
        race.transition(0, NOW).apply(order_id, reply(task, "charge", Outcome.PERMANENT))

        clicked(race, shared, [Resubmit(order_id, "charge", 1, WHO[n % 2], "unblocked") for n in range(RACERS)])

        step = judged(race, shared, order_id, HistoryKind.RESUBMITTED).steps["charge"]
        assert (step.process_state, step.attempt, step.fence) == (ProcessState.PROCESSING, 2, 3)


@pytest.mark.parametrize("kind", [Undo, Cancel])
def test_an_undo_begins_once(race: Race, shared: Sequence[DynamoSharedRecords], kind: type[Undo | Cancel]) -> None:
    """S17: each compensation is claimed once."""
    for order_id in orders_of(race, kind.__name__.lower()):
        charging(race, order_id)

        clicked(race, shared, [kind(order_id, WHO[n % 2], "sold twice") for n in range(RACERS)])

        task = judged(race, shared, order_id, HistoryKind.UNDO_BEGUN)
        assert task.process_state is ProcessState.UNDOING
        assert [(name, record.attempt) for name, record in task.steps.items() if name.endswith("/undo")] == [
            ("reserve/undo", 0),
            ("charge/undo", 1),
        ]


def test_an_order_is_paused_once(race: Race, shared: Sequence[DynamoSharedRecords]) -> None:
    """S7."""
    for order_id in orders_of(race, "pause"):
        charging(race, order_id)

        clicked(race, shared, [Pause(order_id, WHO[n % 2], "ask first", asked_at=NOW) for n in range(RACERS)])

        judged(race, shared, order_id, HistoryKind.PAUSED)


def test_a_pause_and_a_newer_resume_leave_the_order_going(race: Race, shared: Sequence[DynamoSharedRecords]) -> None:
    """S7: whichever of the two the queue brings first."""
    for order_id in orders_of(race, "resume"):
        charging(race, order_id)
        race.transition(0, NOW).apply(order_id, Pause(order_id, "ann", "ask first", asked_at=NOW - 2))

        pauses: list[Command] = [Pause(order_id, "ann", "again", asked_at=NOW - 1)] * (RACERS // 2)
        resumes: list[Command] = [Resume(order_id, "bob", "asked", asked_at=NOW)] * (RACERS // 2)
        clicked(race, shared, [*pauses, *resumes])

        task = task_of(race, order_id)
        assert sum(entry.kind is HistoryKind.RESUMED for entry in task.history) == 1
        assert race.transition(0, NOW).apply(order_id, reply(task, "charge", Outcome.OK))
        assert task_of(race, order_id).process_state is ProcessState.PROCESSED
        race.told["going"] += 1
