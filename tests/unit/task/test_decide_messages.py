"""What messages do that come twice, late, in disorder, or from somebody who no longer holds the step."""

from dataclasses import replace
from typing import Any

import pytest

from stepward.domain.errors import Rejected
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Outcome, Reply, Resubmit, Retry
from stepward.domain.task.record import ProcessState
from tests.factories import (
    MINUTE,
    ORDER_ID,
    SECOND,
    T0,
    Life,
    answer,
    diamond,
    requests,
    sequence,
)

PENDING, PROCESSING, PROCESSED, ERROR, *_ = ProcessState


@pytest.mark.parametrize("order", [("pick", "pay"), ("pay", "pick")])
def test_replies_of_parallel_steps_may_come_in_any_order(order: tuple[str, str]) -> None:
    """tl_out_of_order_replies, I3: the records decide, not the order of arrival."""
    life = Life(diamond())
    life.start()
    life.done("check")
    first, second = order

    assert requests(life.done(first)) == []
    assert life.state("ship") is PENDING
    assert [request.step for request in requests(life.done(second))] == ["ship"]
    life.done("ship")
    assert life.task.process_state is PROCESSED


def test_replies_after_a_recovery_may_come_in_any_order() -> None:
    """tl_out_of_order_replies: the reply of the second attempt overtakes that of the first."""
    life = Life(diamond())
    life.start()
    life.done("check")
    first = life.request("pick")
    life.look(at=T0 + 2 * MINUTE)
    life.retry("pick", 1)
    life.retry("pay", 1)

    life.done("pick")
    life.done("pay")
    assert life.state("ship") is PROCESSING
    before = life.task
    assert life.apply(answer(first)).task is before


def test_a_reply_that_comes_twice_advances_the_task_once() -> None:
    """tl_duplicate_reply, design rule 1: the second sends again what the first has claimed, and writes nothing."""
    life = Life(sequence("reserve", "charge", "ship"))
    life.start()
    reply = answer(life.request("reserve"))
    first = life.apply(reply)

    second = life.apply(reply, at=T0 + 30, by="scheduler-2")

    assert second.task is first.task
    assert [(request.step, request.token) for request in requests(second)] == [
        (request.step, request.token) for request in requests(first)
    ]
    assert requests(second)[0].budget == MINUTE - 30
    assert second.history == ()


def test_a_reply_that_comes_twice_is_quiet_once_its_successor_is_done() -> None:
    """tl_duplicate_reply."""
    life = Life(sequence("reserve", "ship"))
    life.start()
    reply = answer(life.request("reserve"))
    life.apply(reply)
    life.done("ship")

    assert life.apply(reply).messages == ()


def test_a_start_that_comes_twice_asks_again_for_what_it_claimed() -> None:
    """Design rule 1, S16: crash between write and send; any Scheduler sends the very same request."""
    life = Life(diamond())
    first = life.start(by="scheduler-1")

    second = life.start(by="scheduler-2", at=T0 + SECOND)

    assert second.task is first.task
    assert requests(second) == [replace(requests(first)[0], budget=MINUTE - SECOND)]


def test_a_start_that_comes_late_disturbs_nothing() -> None:
    """S18: what another message claimed is not asked for again by `start`."""
    life = Life(sequence("reserve", "ship"))
    life.start()
    life.done("reserve")
    before = life.task

    decision = life.start()

    assert (decision.task, decision.messages) == (before, ())


def test_a_retry_that_comes_twice_claims_once() -> None:
    """Design rule 1, I2."""
    life = Life(sequence("reserve", "ship"))
    life.start()
    life.look(at=T0 + 2 * MINUTE)
    first = life.retry("reserve", 1)

    second = life.retry("reserve", 1, by="scheduler-2")

    assert second.task is first.task
    assert requests(second) == requests(first)
    assert life.step("reserve").attempt == 2


def test_a_retry_for_an_earlier_attempt_claims_nothing() -> None:
    """I2: a retry that was on its way for long finds another attempt waiting."""
    life = Life(sequence("reserve", "ship"))
    life.start()
    life.look(at=T0 + 2 * MINUTE)
    life.retry("reserve", 1)
    life.look(at=T0 + 4 * MINUTE)
    before = life.task

    assert life.retry("reserve", 1).task is before
    assert life.state("reserve") is PENDING


@pytest.mark.parametrize("change", [{"token": "another"}, {"attempt": 2}, {"attempt": 0}])
def test_a_reply_of_another_attempt_or_token_changes_nothing(change: dict[str, Any]) -> None:
    """Design rule 4, I2: only the holder completes a step; attempt and token are both compared."""
    life = Life(sequence("reserve", "ship"))
    life.start()
    before = life.task

    decision = life.apply(replace(answer(life.request("reserve")), **change))

    assert (decision.task, decision.messages) == (before, ())
    assert [entry.kind for entry in decision.history] == [HistoryKind.LATE_REPLY]


@pytest.mark.parametrize("outcome", list(Outcome))
@pytest.mark.parametrize("late", [1, MINUTE])
def test_a_late_reply_changes_nothing(outcome: Outcome, late: int) -> None:
    """S6: past complete-by neither success nor error is taken, though nobody else owns the step yet."""
    life = Life(sequence("reserve", "ship"))
    life.start()
    before = life.task

    decision = life.apply(answer(life.request("reserve"), outcome, error="no"), at=T0 + MINUTE + late)

    assert (decision.task, decision.messages) == (before, ())
    assert [entry.kind for entry in decision.history] == [HistoryKind.LATE_REPLY]


def test_a_reply_at_complete_by_is_in_time() -> None:
    """S6."""
    life = Life(sequence("reserve", "ship"))
    life.start()

    life.done("reserve", at=T0 + MINUTE)

    assert life.state("reserve") is PROCESSED


def test_a_reply_to_an_earlier_life_of_the_order_id_changes_nothing() -> None:
    """Design rule 4: the token holds the time of submission."""
    earlier, later = Life(sequence("reserve"), now=T0), Life(sequence("reserve"), now=T0 + 1)
    earlier.start()
    later.start()

    assert later.apply(answer(earlier.request("reserve"))).history[0].kind is HistoryKind.LATE_REPLY
    assert later.state("reserve") is PROCESSING


@pytest.mark.parametrize(
    "event",
    [
        Retry(ORDER_ID, "wrap", 1),
        Resubmit(ORDER_ID, "wrap", 1, "ada", "mistyped"),
        Reply(ORDER_ID, "wrap", 1, "token", Outcome.OK),
    ],
)
def test_a_message_about_an_unknown_step_is_rejected(event: Retry | Resubmit | Reply) -> None:
    """Design rules 7 and 11: it never creates a step."""
    life = Life(sequence("reserve"))

    with pytest.raises(Rejected, match=r"step: 'wrap' is not a step of this task"):
        life.apply(event)
