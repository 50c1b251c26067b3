import json
from dataclasses import replace

import pytest

from stepward.domain.errors import Rejected, Transient
from stepward.domain.history import HistoryKind
from stepward.domain.key import SUBMITTED
from stepward.domain.messages import Start
from stepward.domain.messages.reply_queues import Allowed
from stepward.domain.task.record import ProcessState
from stepward.testing.settings import REPLY_QUEUES, REPLY_TO
from stepward.wire.messages import encode
from tests.factories import ORDER_ID, SECOND, T0, order_text, sequence
from tests.unit.engine.world import World

STARTED = encode(Start(ORDER_ID))


def test_an_order_becomes_an_order_and_a_task_with_a_record_per_step(world: World) -> None:
    """S8, S9: and the Scheduler gets its message."""
    world.submit.handle(order_text(customerId="customer-7"))

    order = world.store.find(ORDER_ID)
    assert order is not None
    assert json.loads(order.body)["customerId"] == "customer-7"
    task = world.store.tasks[ORDER_ID]
    assert (list(task.steps), task.process_state, task.created_at) == (["reserve", "ship"], ProcessState.PENDING, T0)
    assert world.queues.scheduler.bodies == [STARTED]
    assert world.kinds() == [HistoryKind.SUBMITTED]


def test_an_orders_own_complete_by_is_stored_with_its_task_even_if_it_has_passed(world: World) -> None:
    """S24, I1: what was late in the queue is accepted, so that its policy applies and its submitter hears of it."""
    world.submit.handle(order_text(completeBy="2026-01-02T00:00:00Z"))

    task = world.store.tasks[ORDER_ID]
    assert task.complete_by == task.due == 1_767_312_000_000
    world.schedule().handle(world.take(world.queues.scheduler))
    assert world.queues.agents["worker"].bodies == []


def test_the_plan_is_frozen_with_the_order(world: World) -> None:
    """A new deployment never changes a task in flight."""
    world.submit.handle(order_text())

    replace(world.submit, plans={SUBMITTED: sequence("something", "else")}).handle(order_text("ord-1002"))

    plans = {order_id: loaded.plan for order_id in world.store.tasks if (loaded := world.store.load(order_id))}
    assert [step.name for step in plans[ORDER_ID].steps] == ["reserve", "ship"]
    assert [step.name for step in plans["ord-1002"].steps] == ["something", "else"]


def test_the_same_order_again_is_a_success_and_starts_it_again(world: World) -> None:
    """S8, S18: the first start may have been lost; the task is not touched."""
    world.submit.handle(order_text(customerId="customer-7", priority="high"))
    before = world.store.tasks[ORDER_ID]
    world.clock.now += SECOND

    reordered = json.dumps(dict(reversed(json.loads(order_text(customerId="customer-7", priority="high")).items())))
    world.submit.handle("\n " + reordered)

    assert world.store.tasks[ORDER_ID] is before
    assert world.queues.scheduler.bodies == [STARTED, STARTED]
    assert world.kinds() == [HistoryKind.SUBMITTED, HistoryKind.DUPLICATE]


def test_the_same_order_again_in_the_middle_of_its_life_disturbs_nothing(world: World) -> None:
    """S18."""
    world.ask()
    before = world.store.tasks[ORDER_ID]

    world.submit.handle(order_text())

    assert world.store.tasks[ORDER_ID] is before


def test_other_content_under_the_same_id_is_a_conflict(world: World) -> None:
    """Rejected with the field; the order stays as it was first submitted, and nothing is started."""
    world.submit.handle(order_text(customerId="customer-7"))
    before = world.store.find(ORDER_ID)

    with pytest.raises(Rejected, match="'ord-1001' was submitted before with other content") as caught:
        world.submit.handle(order_text(customerId="customer-8"))

    assert caught.value.field == "orderId"
    assert world.store.find(ORDER_ID) == before
    assert world.queues.scheduler.bodies == [STARTED]
    assert world.kinds() == [HistoryKind.SUBMITTED, HistoryKind.CONFLICT]


@pytest.mark.parametrize(
    "notice",
    [
        {"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "b"},
        {"Type": "SubscriptionConfirmation", "TopicArn": "arn:aws:sns:us-east-1:111122223333:t", "SubscribeURL": "u"},
    ],
)
def test_a_notification_of_aws_is_counted_and_nothing_else(world: World, notice: dict[str, str]) -> None:
    """It is acknowledged, and neither followed nor retried."""
    world.submit.handle(json.dumps(notice))

    assert world.kinds() == [HistoryKind.IGNORED]
    assert (world.store.tasks, world.queues.scheduler.bodies) == ({}, [])


def test_a_start_that_cannot_be_sent_brings_the_message_back(world: World) -> None:
    """Design rule 1: the order is stored; the message comes again as a duplicate, and then the start goes out."""
    world.queues.scheduler.faults = lambda _: "InternalError"
    with pytest.raises(Transient):
        world.submit.handle(order_text())

    world.queues.scheduler.faults = lambda _: ""
    world.submit.handle(order_text())

    assert world.queues.scheduler.bodies == [STARTED]
    assert list(world.store.tasks) == [ORDER_ID]


def test_the_reply_queue_is_stored_with_the_task_as_a_url(world: World) -> None:
    """S19: even if the order names it by its ARN."""
    submit = replace(world.submit, reply_queues=REPLY_QUEUES)

    submit.handle(order_text(replyTo="arn:aws:sqs:us-east-1:111122223333:replies-shop", correlationId="checkout-1"))

    task = world.store.tasks[ORDER_ID]
    assert (task.reply_to, task.correlation_id) == (REPLY_TO, "checkout-1")


@pytest.mark.parametrize("allowed", [REPLY_QUEUES, Allowed()])
def test_an_order_with_a_reply_queue_that_is_not_allowed_is_refused_before_anything_is_stored(allowed: Allowed) -> None:
    """S19: field case 76; the submitter gets no notice, so the operator sees field and reason."""
    world = World()
    submit = replace(world.submit, reply_queues=allowed)

    with pytest.raises(Rejected) as caught:
        submit.handle(order_text(replyTo="https://sqs.us-east-1.amazonaws.com.evil.example/111122223333/replies-shop"))

    assert caught.value.field == "replyTo"
    assert (world.store.tasks, world.store.find(ORDER_ID), world.queues.scheduler.bodies) == ({}, None, [])


def test_an_order_without_a_reply_queue_needs_none_to_be_allowed(world: World) -> None:
    """S19."""
    world.submit.handle(order_text(replyTo=None, correlationId="checkout-1"))
    assert (world.store.tasks[ORDER_ID].reply_to, world.store.tasks[ORDER_ID].correlation_id) == ("", "checkout-1")
