"""Whether an undelivered message would still have an effect."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stepward.domain.errors import Corrupt
from stepward.domain.messages import Cancel, Outcome, Pause, Report, Resubmit, Resume, Retry, Start, StepRequest, Undo
from stepward.domain.staleness import dated
from stepward.domain.task.record import Loaded
from stepward.domain.task.refusals import RefusalCode
from stepward.domain.workflow.plan import Plan, PlannedStep
from stepward.operator.dead_letters.of_tasks import DeadLetter, Opened, opened
from stepward.operator.dead_letters.staleness import Staleness, judge
from stepward.wire.messages import encode
from tests.factories import order_text
from tests.unit.cli.lives import (
    PATIENT,
    SUBMITTED,
    UNDOABLE,
    Life,
    Message,
    failed,
    paused,
    recovered,
    shipping,
    undo_failed,
    undoing,
    undone,
)

CURRENT, STALE, CORRUPT = Staleness.CURRENT, Staleness.STALE, Staleness.CORRUPT


def request(life: Life, step: str, attempt: int | None = None) -> StepRequest:
    record = life.task.steps[step]
    attempt = record.attempt if attempt is None else attempt
    complete_by = record.complete_by or SUBMITTED
    key = f"ord-1/{step}"
    token = record.token or "gone"
    return StepRequest("ord-1", step, "inventory", step, attempt, token, 1, key, complete_by, 1_000)


def staleness(message: Message, life: Life, *, at: int = 1_500, sent: int = 0) -> tuple[Staleness, str]:
    judgement = judge(dated(message, SUBMITTED + sent), life.loaded, now=SUBMITTED + at)
    return judgement.staleness, judgement.reason


def awaited(life: Life) -> Life:
    """The same order, whose submitter gets notices."""
    life.task = replace(life.task, reply_to="https://sqs/replies")
    return life


WORKING = Life(plan=UNDOABLE).start(0)


def field_case(name: str) -> dict[str, Any]:
    file = Path(__file__).parents[2] / "field_cases" / f"{name}.json"
    record: dict[str, Any] = json.loads(file.read_text())["record"]
    return record


def test_a_request_whose_step_was_done_meanwhile_is_stale() -> None:
    """resubmit_done_step: no second call of the remote service, and the reason is shown."""
    body = json.loads(field_case("resubmit_done_step")["body"])
    order, step, key = body["orderId"], body["stepId"], body["idempotencyKey"]
    plan = Plan("fulfilment", 1, (PlannedStep(step, "inventory", "reserve", (), 60_000, 3),))
    life = Life(order, plan).start(0)
    token = life.task.steps[step].token or ""
    asked = StepRequest(order, step, "inventory", "reserve", body["attempt"], token, 1, key, SUBMITTED + 60_000, 60_000)

    assert staleness(asked, life)[0] is CURRENT
    moved_on = f"the order has moved on: {step} is Processed at attempt 1"
    assert staleness(asked, life.answer(step, 1_000)) == (STALE, moved_on)


LATE, MOVED_ON = RefusalCode.LATE, RefusalCode.MOVED_ON
BEGUN, STUCK, NO_STEP = RefusalCode.UNDO_BEGUN, RefusalCode.PAST_NO_RETURN, RefusalCode.NO_SUCH_STEP
FREED = Life(plan=UNDOABLE).start(0).check_deadlines(10_500)
RESTING = Life(plan=PATIENT).start(0).check_deadlines(20_500)


@pytest.mark.parametrize(
    ("message", "life", "at", "code"),
    [
        (request(WORKING, "reserve"), WORKING, 9_000, None),
        (request(WORKING, "reserve"), WORKING, 10_001, LATE),
        (request(WORKING, "reserve", attempt=0), WORKING, 9_000, MOVED_ON),
        (request(WORKING, "reserve"), undoing(), 2_000, MOVED_ON),
        (request(WORKING, "reserve"), RESTING, 2_000, NO_STEP),
        (WORKING.reply("reserve"), WORKING, 9_000, None),
        (WORKING.reply("reserve", Outcome.PERMANENT), WORKING, 9_000, None),
        (WORKING.reply("reserve"), WORKING, 10_001, LATE),
        (WORKING.reply("reserve", token="another"), WORKING, 9_000, MOVED_ON),
        (WORKING.reply("reserve"), shipping(), 2_500, MOVED_ON),
        # I6: what took effect after its undo has to be undone again.
        (undone().reply("charge"), undone(), 9_000, None),
        (undone().reply("charge", Outcome.PERMANENT), undone(), 9_000, MOVED_ON),
        (Start("ord-1"), Life(), 100, None),
        # Rule 1: the request that it caused may be lost, and is sent again.
        (Start("ord-1"), WORKING, 100, None),
        (Start("ord-1"), shipping(), 2_500, MOVED_ON),
        (Report("ord-1"), awaited(recovered()), 90_000, None),
        (Report("ord-1"), recovered(), 90_000, MOVED_ON),
        (Retry("ord-1", "reserve", 1), FREED, 12_000, None),
        (Retry("ord-1", "reserve", 0), FREED, 12_000, MOVED_ON),
        (Retry("ord-1", "charge", 1), RESTING, 21_000, None),
        (Retry("ord-1", "paint", 1), WORKING, 9_000, NO_STEP),
        (Resubmit("ord-1", "charge", 1, "ada", "x"), failed(), 9_000, None),
        (Resubmit("ord-1", "charge", 2, "ada", "x"), failed(), 9_000, RefusalCode.NOT_IN_ERROR),
        (Resubmit("ord-1", "charge/undo", 1, "ada", "x"), undo_failed(), 9_000, None),
        (Resubmit("ord-1", "charge/undo", 1, "ada", "x"), undone(), 9_000, RefusalCode.NOT_IN_ERROR),
        (Undo("ord-1", "ada", "x"), WORKING, 9_000, None),
        (Undo("ord-1", "ada", "x"), undoing(), 9_000, BEGUN),
        (Cancel("ord-1", "ada", "x"), shipping(), 9_000, STUCK),
        (Pause("ord-1", "ada", "x"), paused(), 9_000, RefusalCode.PAUSED_ALREADY),
        (Pause("ord-1", "ada", "x"), undone(), 9_000, RefusalCode.ENDED),
        (Resume("ord-1", "ada", "x"), WORKING, 9_000, RefusalCode.NOT_PAUSED),
        # Clocks differ by a millisecond or two: one asked for in the very moment of the pause is applied.
        (Resume("ord-1", "ada", "x", SUBMITTED + 500), paused(), 9_000, None),
        (Resume("ord-1", "ada", "x", SUBMITTED + 499), paused(), 9_000, RefusalCode.SUPERSEDED),
    ],
)
def test_a_message_is_stale_if_the_policy_would_refuse_it(
    message: Message, life: Life, at: int, code: RefusalCode | None
) -> None:
    """S6, case 77: what redriving it would do is known before it is done, and by a code for programs."""
    judgement = judge(message, life.loaded, now=SUBMITTED + at)

    assert (judgement.staleness, judgement.code) == ((STALE, code) if code else (CURRENT, ""))


def test_a_retry_of_a_step_that_is_not_ready_is_stale() -> None:
    held = Life(plan=UNDOABLE).start(0).check_deadlines(10_500).pause(12_000)

    assert "a ready step is claimed without this message" in staleness(Retry("ord-1", "reserve", 1), held, at=13_000)[1]


def test_an_old_pause_does_not_revoke_a_newer_resume() -> None:
    """A pause that got stuck must not stop an order that was resumed since."""
    pause, resume = Pause("ord-1", "ada", "asking"), Resume("ord-1", "ada", "agreed")
    resumed = paused().resume(9_000)

    assert staleness(pause, WORKING, sent=400)[0] is CURRENT
    assert staleness(resume, paused(), sent=900)[0] is CURRENT
    assert staleness(pause, paused(), sent=900) == (STALE, "nothing to pause: the order is paused")
    assert staleness(resume, WORKING, sent=400) == (STALE, "nothing to resume: the order is not paused")
    assert staleness(pause, resumed, sent=400) == (STALE, "alex has resumed the order since")
    assert staleness(pause, resumed, sent=9_500)[0] is CURRENT
    assert staleness(pause, recovered(), sent=90_000) == (STALE, "nothing to pause: the order is Processed")


def test_a_pause_without_a_date_is_sent_again_with_that_of_its_dead_letter() -> None:
    """What is judged is what is sent: the Scheduler decides the same about it."""
    body = encode(Pause("ord-1", "ada", "asking"))

    assert read("scheduler", body, WORKING).body == encode(Pause("ord-1", "ada", "asking", asked_at=SUBMITTED))


def test_a_message_about_no_order_is_stale() -> None:
    judgement = judge(Start("ord-9"), None, now=1)

    assert (judgement.staleness, judgement.reason) == (STALE, "there is no order ord-9")


def read(queue: str, body: str, life: Life | None = None, receives: int = 6) -> Opened:
    dead_letter = DeadLetter("m-1", body, SUBMITTED, receives, "handle")
    return opened(queue, dead_letter, lambda _: life.loaded if life else None, SUBMITTED + 5_000)


def test_an_order_that_was_taken_often_but_never_handled_is_good() -> None:
    """tl_poison_vs_throttle: being in the dead-letter queue does not prove that a message is bad."""
    record = field_case("tl_poison_vs_throttle")
    receives = int(record["attributes"]["ApproximateReceiveCount"])

    found = read("orders", record["body"], receives=receives)

    assert (found.judgement.staleness, found.order_id, found.what) == (CURRENT, "ord-1001", "an order")
    assert (found.body, found.dead_letter.receives) == (record["body"], 6)
    assert "duplicate" in read("orders", order_text("ord-1"), WORKING).judgement.reason


def test_an_order_that_will_be_rejected_goes_back_to_submission() -> None:
    found = read("orders", '{"orderId": "ord-1", "type": "order.submitted"}')

    assert found.judgement.staleness is CURRENT
    assert "Submission will reject it: version" in found.judgement.reason
    assert found.order_id == "ord-1"


def test_a_cancellation_is_compared_with_its_order() -> None:
    body = '{"orderId": "ord-1", "type": "order.cancelled"}'

    assert read("orders", body, WORKING).judgement.staleness is CURRENT
    assert read("orders", body, undone()).judgement.staleness is STALE


@pytest.mark.parametrize(
    ("queue", "body", "what", "expected"),
    [
        ("agent-inventory", encode(request(WORKING, "reserve")), "a request to inventory: reserve, attempt 1", CURRENT),
        ("responses", encode(WORKING.reply("reserve")), "a reply: reserve, attempt 1, ok", CURRENT),
        ("scheduler", encode(Undo("ord-1", "ada", "x")), "the command to undo", CURRENT),
        ("scheduler", encode(Retry("ord-1", "reserve", 1)), "the command to retry reserve, after attempt 1", STALE),
        ("scheduler", "{oops", "a corrupt message", CORRUPT),
        ("agent-inventory", encode(Start("ord-1")), "a corrupt message", CORRUPT),
    ],
)
def test_a_dead_letter_is_described_in_words(queue: str, body: str, what: str, expected: Staleness) -> None:
    found = read(queue, body, WORKING)

    assert (found.what, found.judgement.staleness) == (what, expected)


def test_nothing_stored_is_replayed_byte_for_byte() -> None:
    """Case 77: what is sent is written anew from what was understood."""
    body = '{"orderId":"ord-1", "type":"task.undo", "who":"ada", "why":"x", "extra":"kept from nobody"}'

    assert read("scheduler", body, WORKING).body == encode(Undo("ord-1", "ada", "x"))


def test_an_order_that_cannot_be_read_leaves_its_messages_alone() -> None:
    def load(_: str) -> Loaded:
        raise Corrupt("ord-1: it lacks steps")

    found = opened("scheduler", DeadLetter("m-1", encode(Undo("ord-1", "a", "x")), 1, 1, "handle"), load, 2)

    assert (found.judgement.staleness, found.order_id) == (CORRUPT, "ord-1")
    assert "it lacks steps" in found.judgement.reason
