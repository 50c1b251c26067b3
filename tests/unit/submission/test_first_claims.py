"""The first steps of an order are claimed where it is submitted, as far as that takes nothing but requests."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from stepward.app.submission import Submit
from stepward.domain.errors import Transient
from stepward.domain.history import HistoryKind
from stepward.domain.messages import OPERATORS, Cancel, SignalGiven, Start
from stepward.domain.task.record import ProcessState, Task
from stepward.domain.workflow.plan import Plan, PlannedStep, StepKind
from stepward.testing.memory.task_store import MemoryTaskStore
from stepward.testing.settings import REPLY_QUEUES, REPLY_TO
from stepward.wire.messages import encode
from tests.factories import ALERTS, HOUR, ORDER_ID, SECOND, T0, falls_back, order_text, planned
from tests.unit.engine.world import World

STARTED = encode(Start(ORDER_ID))
FALLBACK = planned("reserve", exhausted=(falls_back("worker"), ALERTS))
LATER = planned("reserve", answer_within=HOUR)
TIMER = PlannedStep("reserve", "", "", (), 20 * SECOND, 1, kind=StepKind.TIMER)
ABSENT = replace(planned("reserve"), agent="nobody")
BUSY = "InternalError"


def submit(world: World) -> Submit:
    return replace(world.assembly().submission("submission-1"), reply_queues=REPLY_QUEUES)


def asked(world: World) -> list[str]:
    """The tokens of the requests for the first step."""
    return [json.loads(body)["token"] for body in world.queues.agents["worker"].bodies]


def test_an_order_is_put_then_its_first_step_is_claimed_and_its_agent_asked(world: World) -> None:
    """S9, S10: two writes, no message to the Scheduler, and a request with all that the agent needs."""
    seen: list[Task] = []
    world.store = Watched(world.store.shard_of, seen=seen)

    submit(world).handle(order_text(customerId="customer-7", priority="high"))

    (before,) = seen
    assert (before.process_state, before.steps["reserve"].locked_by, before.revision) == (ProcessState.PENDING, None, 1)
    task = world.store.tasks[ORDER_ID]
    step = task.steps["reserve"]
    assert (step.process_state, step.locked_by, step.attempt) == (ProcessState.PROCESSING, "submission-1", 1)
    (request,) = map(json.loads, world.queues.agents["worker"].bodies)
    assert (request["token"], request["order"]["customerId"], request["priority"]) == (step.token, "customer-7", "high")
    assert (task.due, world.queues.scheduler.bodies) == (before.due, [])
    assert world.kinds() == [HistoryKind.SUBMITTED, HistoryKind.CLAIMED]


@dataclass(slots=True)
class Watched(MemoryTaskStore):
    """The twin, which notes each task that a write replaces; `first` acts before the first one."""

    seen: list[Task] = field(kw_only=True)
    first: Callable[[Task], object] = field(default=lambda _: None, kw_only=True)

    def save(self, task: Task, *, replaces: Task) -> bool:
        self.seen.append(self.tasks[task.order_id])
        if len(self.seen) == 1:
            self.first(task)
        return MemoryTaskStore.save(self, task, replaces=replaces)


@pytest.mark.parametrize(
    ("steps", "order"),
    [
        pytest.param([LATER], {}, id="an answer that comes later takes a token, whose key is the Scheduler's"),
        pytest.param([FALLBACK], {}, id="a fallback takes a look at agents"),
        pytest.param([TIMER], {}, id="a wait"),
        pytest.param([ABSENT], {}, id="an agent without a queue"),
        pytest.param([planned("reserve"), replace(ABSENT, name="pack")], {}, id="the same, beside one that has one"),
        pytest.param([planned("reserve")], {"replyTo": REPLY_TO}, id="the submitter is told, by the Scheduler"),
        pytest.param([planned("reserve")], {"completeBy": "2026-01-02T00:00:00Z"}, id="an order that is late"),
    ],
)
def test_what_only_the_scheduler_can_begin_is_left_to_it(steps: list[PlannedStep], order: dict[str, Any]) -> None:
    """S2, S19, S21, W6: nothing is claimed, and it gets a Start as ever."""
    world = World(Plan("line", 1, (*steps, planned("ship", "reserve"))))

    submit(world).handle(order_text(**order))

    assert world.store.tasks[ORDER_ID].fence == 0
    assert (asked(world), world.queues.scheduler.bodies) == ([], [STARTED])


def test_what_an_order_does_not_take_of_what_came_early_is_told_by_the_scheduler(world: World) -> None:
    """I11: its claim is the Scheduler's, too, since that is sent a message anyway."""
    signal = SignalGiven(ORDER_ID, "approval", "a-1", {}, "", "ada", OPERATORS)
    world.schedule().handle(encode(signal))

    submit(world).handle(order_text())

    assert (asked(world), world.queues.scheduler.bodies) == ([], [STARTED, encode(signal)])


def test_a_claim_that_another_won_is_left_to_the_scheduler(world: World) -> None:
    """I2: whoever was faster; here an operator's undo."""
    undo = Cancel(ORDER_ID, "ada", "sold twice")
    store = Watched(
        world.store.shard_of, seen=[], first=lambda _: world.transition("scheduler-2").apply(ORDER_ID, undo)
    )
    world.store = store

    submit(world).handle(order_text())

    assert store.tasks[ORDER_ID].process_state is ProcessState.UNDONE
    assert (asked(world), world.queues.scheduler.bodies) == ([], [STARTED])


@pytest.mark.parametrize("written", [False, True], ids=["lost", "its answer lost"])
def test_a_claim_that_fails_is_made_by_the_scheduler(world: World, *, written: bool) -> None:
    """Rules 1 and 3: the order is accepted at once; what was written all the same is known by its token."""

    def fail(task: Task) -> None:
        if written:
            store.tasks[ORDER_ID] = task
        raise Transient("throttled")

    world.store = store = Watched(world.store.shard_of, seen=[], first=fail)
    submit(world).handle(order_text())
    assert (asked(world), world.queues.scheduler.bodies) == ([], [STARTED])

    world.schedule().handle(world.take(world.queues.scheduler))

    step = world.store.tasks[ORDER_ID].steps["reserve"]
    assert (step.process_state, step.attempt, asked(world)) == (ProcessState.PROCESSING, 1, [step.token])
    assert step.locked_by == ("submission-1" if written else "scheduler-1")


def test_a_request_that_could_not_be_sent_is_sent_by_the_scheduler(world: World) -> None:
    """Rule 1: the message comes again as a duplicate, and the Start finds the claim, which stands."""
    world.queues.agents["worker"].faults = lambda _: BUSY
    with pytest.raises(Transient):
        submit(world).handle(order_text())
    claimed = world.store.tasks[ORDER_ID]
    world.queues.agents["worker"].faults = lambda _: ""

    submit(world).handle(order_text())
    world.schedule().handle(world.take(world.queues.scheduler))

    assert world.store.tasks[ORDER_ID] == claimed
    assert asked(world) == [claimed.steps["reserve"].token]


def test_an_order_whose_submission_dies_before_its_claim_is_found_when_it_is_due(world: World) -> None:
    """S11: even if its message never came again; nobody had it, so no failure is counted."""
    world.submit.handle(order_text())
    world.take(world.queues.scheduler)
    world.clock.now = T0 + HOUR

    world.supervise().sweep(lambda: 60_000)
    world.schedule().handle(world.take(world.queues.scheduler))

    step = world.store.tasks[ORDER_ID].steps["reserve"]
    assert (step.attempt, step.failure_count, asked(world)) == (1, 0, [step.token])
