"""D1, I10: code meets the work of newer code; nothing is lost, counted, undone or deleted."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from stepward.app.intake import Intake, Received
from stepward.app.optimistic import SharedValue
from stepward.domain.coordination.breaker import Breaker, Mode
from stepward.domain.coordination.lease import Lease, lease_of
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.errors import Corrupt, NotUnderstood, RetryLater
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Outcome, Reply, StepWaits
from stepward.domain.task.record import ProcessState
from stepward.domain.workflow.plan import Exhausted, Plan
from stepward.testing import Engine
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.wire.messages import decode_request, encode
from tests.factories import (
    ALERTS,
    HOUR,
    MINUTE,
    ORDER_ID,
    SECOND,
    T0,
    UNDOES,
    falls_back,
    order_text,
    planned,
    sequence,
)
from tests.planned_app import PlannedApp
from tests.unit.engine.test_supervising import retried, sweep
from tests.unit.engine.troubled import abandoned, troubled
from tests.unit.engine.world import World

SCREENED = Plan(
    "line",
    2,
    (
        planned("reserve", undo="release"),
        planned("screen", "reserve", threshold=1, exhausted=(UNDOES,), on_permanent=Exhausted.UNDO),
        planned("ship", "screen"),
    ),
)
SCREEN = ("worker", "screen")
REPLY = Reply("ord-404", "reserve", 1, "token", Outcome.OK)


def submitted(plan: Plan) -> tuple[Engine, PlannedApp]:
    app = PlannedApp(plan)
    engine = Engine(app)
    engine.post("orders", order_text())
    return engine, app


def waits(engine: Engine) -> list[StepWaits]:
    return [alert for alert in engine.alerts if isinstance(alert, StepWaits)]


@pytest.mark.parametrize("late", [20, 3_600, 86_400])
def test_a_new_step_waits_for_an_agent_that_is_updated_late(late: int) -> None:
    """Case 1: Submission has version 2, the agent still version 1, for seconds, an hour, a day."""
    engine, app = submitted(SCREENED)
    older = app.known.pop(SCREEN)
    engine.clock.move(late)
    told = waits(engine)
    app.known[SCREEN] = older
    engine.run()
    engine.verdict()

    task = engine.task(ORDER_ID)
    assert task is not None
    assert task.process_state is ProcessState.PROCESSED
    assert (engine.effects, task.steps["screen"].failure_count) == (["reserve", "screen", "ship"], 0)
    assert [alert.reason for alert in told] == ["agent worker does not know operation screen; deploy it"] * (late > 300)
    assert engine.alerts == told
    assert (engine.rejects, engine.dead_letters) == ([], [])


@pytest.mark.parametrize(
    ("queue", "whose", "reader"),
    [
        ("agent-worker", "type", "agent worker"),
        ("responses", "type", "the Scheduler"),
        ("responses", "outcome", "the Scheduler"),
    ],
)
def test_what_waits_past_complete_by_for_code_that_can_read_it_counts_nothing(
    queue: str, whose: str, reader: str
) -> None:
    """D1: who sent a kind of request or reply was updated first, or its reader was rolled back."""
    engine, _ = submitted(sequence("reserve", "ship", threshold=1, exhausted=(UNDOES,)))
    messages = engine.pump.lines[queue].queue
    engine.run(until=lambda: bool(messages.stored))
    (newer,) = messages.stored
    known, newer.body = newer.body, json.dumps({**json.loads(newer.body), whose: "unheard-of"})

    engine.clock.move(5)
    lacks = engine.order(ORDER_ID).step("reserve").lacks
    engine.clock.move(85)
    assert lacks.startswith(f"{reader} was sent a message whose {whose} is 'unheard-of', which this code does not know")

    newer.body = known
    engine.run()
    engine.verdict()
    reserve = engine.order(ORDER_ID).step("reserve")
    assert (reserve.attempt, reserve.failure_count, reserve.lacks) == (2, 0, "")
    assert (engine.effects, engine.rejects) == (["reserve", "ship"], [])


@pytest.mark.parametrize(
    ("said", "spares"),
    [
        *(({"outcome": each}, True) for each in Outcome),
        *((said, False) for said in ({"step": "ship"}, {"attempt": 2}, {"token": "other"})),
    ],
)
def test_a_reply_to_an_order_whose_plan_the_scheduler_cannot_read_spares_its_attempt_once(
    world: World, said: Mapping[str, Any], spares: bool
) -> None:
    """D1: whoever froze the plan was updated first; another write may be faster than the note."""
    request, asked = decode_request(world.ask()), world.store.tasks[ORDER_ID]
    reply = replace(REPLY, **{"order_id": ORDER_ID, "token": request.token, **said})
    faster = {ORDER_ID: replace(asked, revision=asked.revision + 1, due=T0)}
    world.store = troubled(world, newer={asked.plan_id}, races=1, rival=lambda: world.store.tasks.update(faster))
    for _ in range(2):
        with pytest.raises(NotUnderstood, match=f"{ORDER_ID}: plan"):
            world.schedule().handle(encode(reply))
        noted = world.store.tasks[ORDER_ID]
        assert (noted.revision - asked.revision, noted.due) == ((2, T0) if spares else (0, asked.due))
    assert noted.steps["reserve"].lacks.startswith(f"the Scheduler cannot read {ORDER_ID}: plan") is spares

    world.clock.now += 2 * MINUTE
    sweep(world)
    assert (world.store.tasks[ORDER_ID].steps["reserve"].failure_count == 0) is spares


@pytest.mark.parametrize(
    "text", ['{"type":"task.freeze","orderId":"ord-1"}', encode(REPLY).replace('"ok"', '"unheard-of"')]
)
def test_what_is_not_understood_of_an_order_that_is_not_there_is_no_reject(world: World, text: str) -> None:
    with pytest.raises(NotUnderstood):
        world.schedule().handle(text)


@pytest.mark.parametrize("late", [20, 3_600, 86_400])
def test_an_order_waits_for_an_agent_without_a_queue(late: int) -> None:
    """Case 4: its agent is not there yet, or was taken out; and comes back."""
    engine, _ = submitted(sequence("reserve", "ship", threshold=1))
    agents: dict[str, Any] = engine.parts.queues.agents  # type: ignore[assignment]
    queue = agents.pop("worker")
    engine.clock.move(late)
    task, told = engine.task(ORDER_ID), waits(engine)
    assert task is not None
    assert (task.process_state, task.steps["reserve"].attempt) == (ProcessState.PENDING, 0)
    assert [alert.reason for alert in told] == ["agent worker has no queue; deploy it"] * (late > 300)
    agents["worker"] = queue
    engine.run()
    engine.verdict()

    assert (engine.effects, engine.alerts, engine.dead_letters) == (["reserve", "ship"], told, [])


def test_a_request_that_waits_while_its_agent_is_taken_out_counts_nothing() -> None:
    """Case 4: the queue is deleted with the request in it."""
    engine, _ = submitted(sequence("reserve", threshold=1))
    agents: dict[str, Any] = engine.parts.queues.agents  # type: ignore[assignment]
    engine.lose("agent-worker")
    engine.run(until=lambda: bool((task := engine.task(ORDER_ID)) and task.steps["reserve"].attempt))
    queue = agents.pop("worker")
    engine.clock.move(7_200)
    agents["worker"] = queue
    engine.run()
    engine.verdict()

    task = engine.task(ORDER_ID)
    assert task is not None
    assert (task.process_state, task.steps["reserve"].failure_count) == (ProcessState.PROCESSED, 0)


def test_a_fallback_takes_over_from_an_agent_without_a_queue() -> None:
    """S21."""
    plan = Plan("line", 1, (planned("reserve", exhausted=(falls_back("other"), ALERTS)), planned("ship", "reserve")))
    engine, _ = submitted(plan)
    agents: dict[str, Any] = engine.parts.queues.agents  # type: ignore[assignment]
    queue = agents.pop("worker")
    engine.clock.move(600)
    task = engine.task(ORDER_ID)
    assert task is not None
    assert task.steps["reserve"].process_state is ProcessState.PROCESSED
    agents["worker"] = queue
    engine.run()
    assert engine.effects == ["reserve/by-other", "ship"]


def test_the_other_messages_of_a_change_go_out_beside_an_agent_without_a_queue() -> None:
    """Case 4: two steps are ready at once, and one of their agents is not there."""
    world = World(Plan("line", 1, (planned("pick"), replace(planned("pay"), agent="elsewhere"))))
    assert decode_request(world.ask()).step == "pick"
    assert [record.process_state for record in world.store.tasks[ORDER_ID].steps.values()] == [
        ProcessState.PROCESSING,
        ProcessState.PENDING,
    ]


@pytest.mark.parametrize("age", [0, MINUTE, 4 * 24 * HOUR])
def test_a_message_that_only_newer_code_knows_goes_back_with_its_age(world: World, age: int) -> None:
    """Case 3: it is no reject, and an alarm on its age tells an operator."""
    intake = Intake(world.schedule().handle, world.rejects, world.telemetry, world.clock)
    world.clock.now += age
    with pytest.raises(RetryLater) as back:
        intake.accept(Received("m-1", "scheduler", T0, '{"type":"task.freeze","orderId":"ord-1"}'))

    (_, entry) = world.telemetry.history[-1]
    assert (entry.kind, entry.value, entry.by) == (HistoryKind.NOT_UNDERSTOOD, age, "scheduler")
    assert "task.freeze" in entry.note
    assert not world.rejects.kept
    assert 5 <= back.value.seconds <= 900


@dataclass(slots=True)
class Extended:
    """Shared records to which newer code adds what this code does not know, at every depth."""

    inner: MemorySharedRecords = field(default_factory=MemorySharedRecords)

    def put(self, name: str, body: Mapping[str, Any]) -> None:
        before = self.inner.read(name)
        following = SharedRecord(name, before.revision + 1 if before else 1, body)
        assert self.inner.write(following, replaces=before)


def _bodies() -> Iterator[tuple[str, Mapping[str, Any], Any, Any]]:
    breaker = {"mode": "open", "failures": 2, "region": "eu", "pause": {"who": "a", "why": "b", "at": 1, "until": 9}}
    yield "breaker", breaker, lambda record: Breaker.of(record.body), Breaker.body
    yield (
        "lease",
        {"holder": "s-1", "fence": 3, "until": 9, "zone": {"a": 1}},
        lambda r: lease_of(r.body),
        Lease.to_body,
    )


@pytest.mark.parametrize(("name", "body", "decode", "encode"), list(_bodies()), ids=["breaker", "lease"])
def test_what_newer_code_added_to_a_shared_record_stays_in_it(
    name: str, body: Mapping[str, Any], decode: Any, encode: Any
) -> None:
    """Case 3."""
    records = Extended()
    records.put(name, body)
    value: SharedValue[Any] = SharedValue(records.inner, name, decode, encode)

    assert value.write(value.read())

    written = records.inner.read(name)
    assert written is not None
    assert {**written.body, "openings": 0, "since": 0, "probe": "", "until": 9} == {
        "openings": 0,
        "since": 0,
        "probe": "",
        **body,
        "until": 9,
    }


def test_what_this_code_takes_out_of_a_shared_record_is_out() -> None:
    """S13: a pause that ended does not come back as something unknown."""
    records = Extended()
    records.put("breaker", {"mode": "closed", "region": "eu", "pause": {"who": "a", "why": "b", "at": 1, "until": 9}})
    value = SharedValue(records.inner, "breaker", lambda r: Breaker.of(r.body) if r else Breaker(), Breaker.body)

    value.change(lambda _: Breaker(failures=1))

    assert value.known is not None
    assert ("pause" in value.known.body, value.known.body["region"], value.known.body["failures"]) == (False, "eu", 1)


def test_a_breaker_in_a_mode_of_newer_code_is_not_corrupt() -> None:
    with pytest.raises(NotUnderstood, match="ajar"):
        Breaker.of({"mode": "ajar"})
    assert Breaker.of({"mode": "open", "colour": 1}).mode is Mode.OPEN
    with pytest.raises(Corrupt):
        Breaker.of({"mode": "open", "pause": {}})


def test_the_supervisor_goes_past_a_task_that_it_does_not_understand() -> None:
    """Case 3: it says which, and for how long it has been due."""
    world = abandoned(3)
    newer = NotUnderstood("ord-1: an item with Signals", T0 + 30 * SECOND)

    assert sweep(world, corrupt={"ord-1": newer}).listed == 3

    assert retried(world) == ["ord-0", "ord-2"]
    (entry,) = [entry for _, entry in world.telemetry.history if entry.kind is HistoryKind.NOT_UNDERSTOOD]
    assert (entry.value, "Signals" in entry.note) == (90 * SECOND, True)
