from collections.abc import Callable
from dataclasses import replace

import pytest

from stepward.app.optimistic import TRIES
from stepward.domain.coordination.outlook import DeadlineCheck
from stepward.domain.errors import Conflict, Permanent, Rejected, Transient
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Alert, Start
from stepward.domain.task.record import ProcessState
from stepward.domain.workflow.agents import Call
from stepward.testing.memory.queues import MemoryAlerts
from stepward.wire.messages import decode_request, encode
from tests.factories import MINUTE, ORDER_ID, order_text
from tests.unit.engine.troubled import troubled
from tests.unit.engine.world import World, operation


def race(world: World, act: Callable[[], object], times: int = 1) -> None:
    """From now on, let `act` happen between a read and the write that follows it, the first `times` times."""
    world.store = troubled(world, rival=act, races=times)


def run(world: World, *, most: int = 20) -> None:
    """Let every part handle what is sent to it, until nothing is left."""
    serve = world.serve(operation(lambda _: {}), operation(lambda _: {}, name="ship"))
    for _ in range(most):
        for queue, handle in (
            (world.queues.scheduler, world.schedule().handle),
            (world.queues.agents["worker"], serve.handle),
            (world.queues.responses, world.schedule("scheduler-2").handle),
        ):
            for text in world.drain(queue):
                handle(text)


def test_an_order_runs_to_its_end(world: World) -> None:
    """S1, S2, I1: submission, Scheduler and Agent share nothing but messages and records."""
    world.submit.handle(order_text())

    run(world)

    task = world.store.tasks[ORDER_ID]
    assert (task.process_state, task.due, task.revision) == (ProcessState.PROCESSED, None, 4)
    step = [HistoryKind.CLAIMED, HistoryKind.COMPLETED]
    assert world.kinds() == [HistoryKind.SUBMITTED, *step, *step, HistoryKind.PROCESSED]


def test_the_request_carries_the_order(world: World) -> None:
    """S4: it is stored once, with the order, and joined to the request when that is sent."""
    request = decode_request(world.ask())

    assert (request.order["orderId"], request.order["version"]) == (ORDER_ID, 1)


def test_of_two_schedulers_one_claims(world: World) -> None:
    """S10, I2: the loser reads again, decides again, and sends the request of the winner's claim."""
    world.submit.handle(order_text())
    winner = world.schedule("scheduler-2")
    race(world, lambda: winner.handle(encode(Start(ORDER_ID))))

    world.schedule("scheduler-1").handle(encode(Start(ORDER_ID)))

    record = world.store.tasks[ORDER_ID].steps["reserve"]
    assert (record.locked_by, record.attempt) == ("scheduler-2", 1)
    assert world.telemetry.count(HistoryKind.CLAIMED) == 1
    assert {decode_request(text).token for text in world.queues.agents["worker"].bodies} == {record.token}


def test_of_two_supervisors_one_recovers(world: World) -> None:
    """tl_two_supervisors, S15: one failure is counted, one retry is sent."""
    world.ask()
    world.clock.now += 2 * MINUTE
    rival = world.transition("supervisor-2")
    race(world, lambda: rival.apply(ORDER_ID, DeadlineCheck()))

    history = world.transition("supervisor-1").apply(ORDER_ID, DeadlineCheck())

    assert history == ()
    assert world.store.tasks[ORDER_ID].steps["reserve"].failure_count == 1
    assert len(world.queues.scheduler.bodies) == 1


def test_a_reply_that_races_the_supervisor_has_one_outcome(world: World) -> None:
    """tl_supervisor_vs_reply: the Supervisor writes first, so the reply comes too late."""
    world.serve(operation(lambda _: {})).handle(world.ask())
    reply = world.take(world.queues.responses)
    supervisor = world.transition("supervisor-1")

    def recover() -> None:
        world.clock.now += 2 * MINUTE
        supervisor.apply(ORDER_ID, DeadlineCheck())

    race(world, recover)
    world.schedule("scheduler-2").handle(reply)

    assert world.store.tasks[ORDER_ID].steps["reserve"].process_state is ProcessState.PENDING
    assert world.kinds()[-2:] == [HistoryKind.RECOVERED, HistoryKind.LATE_REPLY]


def test_a_race_that_is_never_won_goes_back_to_the_queue(world: World) -> None:
    """Nothing is sent for a change that was not written."""
    world.submit.handle(order_text())

    def touch() -> None:
        task = world.store.tasks[ORDER_ID]
        world.store.tasks[ORDER_ID] = replace(task, revision=task.revision + 1)

    race(world, touch, times=TRIES)
    with pytest.raises(Conflict, match=f"{ORDER_ID}: {TRIES} writes lost the race"):
        world.transition().apply(ORDER_ID, Start(ORDER_ID))

    assert world.queues.agents["worker"].bodies == []
    assert world.telemetry.count(HistoryKind.CLAIMED) == 0


def test_a_race_is_won_at_the_last_try(world: World) -> None:
    world.submit.handle(order_text())
    rival = world.transition("supervisor-1")

    race(world, lambda: rival.apply(ORDER_ID, DeadlineCheck()), TRIES - 1)

    world.transition().apply(ORDER_ID, Start(ORDER_ID))

    assert world.store.tasks[ORDER_ID].steps["reserve"].attempt == 1


def test_a_message_about_an_order_that_is_not_there_is_rejected(world: World) -> None:
    """Design rule 7: an update never creates."""
    with pytest.raises(Rejected, match="orderId: there is no task for 'ord-9'"):
        world.schedule().handle(encode(Start("ord-9")))

    assert world.store.tasks == {}


def test_dying_between_the_write_and_the_send_loses_nothing(world: World) -> None:
    """tl_crash_between_write_and_send, design rule 1: the message comes again, and the request of its claim is sent."""
    world.submit.handle(order_text())
    start = world.take(world.queues.scheduler)
    world.queues.agents["worker"].faults = lambda _: "InternalError"
    with pytest.raises(Transient):
        world.schedule("scheduler-1").handle(start)
    claimed = world.store.tasks[ORDER_ID]

    world.queues.agents["worker"].faults = lambda _: ""
    world.schedule("scheduler-2").handle(start)

    assert world.store.tasks[ORDER_ID] is claimed
    assert decode_request(world.take(world.queues.agents["worker"])).token == claimed.steps["reserve"].token


def decline(_: Call) -> dict[str, object]:
    raise Permanent("card declined")


def declined(world: World) -> str:
    """The reply of an agent that refused, taken out of its queue."""
    world.serve(operation(decline)).handle(world.ask())
    return world.take(world.queues.responses)


def test_an_operator_is_alerted_once_to_an_error(world: World) -> None:
    """S7, I1: the alert is sent, noted in the record, and the task leaves the index."""
    reply = declined(world)

    world.schedule().handle(reply)
    world.schedule().handle(reply)

    (alert,) = world.alerts.told
    assert (alert.alert_id, alert.reason) == (f"{ORDER_ID}/reserve/1", "card declined")
    task = world.store.tasks[ORDER_ID]
    assert (task.process_state, task.due, task.steps["reserve"].alert_by) == (ProcessState.ERROR, None, None)


class Deaf(MemoryAlerts):
    def send(self, alert: Alert) -> bool:
        raise Transient(f"{alert.alert_id}: the topic is throttled")


def test_an_alert_that_cannot_be_told_is_told_later(world: World) -> None:
    """S7, I1: the reply comes again, or the Supervisor finds the task still due."""
    reply = declined(world)
    hearing, world.alerts = world.alerts, Deaf()
    with pytest.raises(Transient, match="throttled"):
        world.schedule().handle(reply)
    assert world.store.tasks[ORDER_ID].due is not None

    world.alerts = hearing
    world.clock.now += 2 * MINUTE
    world.supervise().sweep(lambda: MINUTE)

    assert [alert.alert_id for alert in world.alerts.told] == [f"{ORDER_ID}/reserve/1"]
    assert world.store.tasks[ORDER_ID].due is None
