"""What messages do that come twice, late, in disorder, or from somebody who no longer holds the step."""

from dataclasses import replace
from typing import Any

import pytest

from stepward.domain.errors import Rejected
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Outcome, Reply, Resubmit, Retry
from stepward.domain.task.record import ProcessState
from tests.decisions import asked, kinds, requests
from tests.factories import MINUTE, ORDER_ID, SECOND, T0, Life, answer, diamond, sequence, started

PENDING, PROCESSING, PROCESSED, ERROR, *_ = ProcessState


@pytest.mark.parametrize(("first", "second"), [("pick", "pay"), ("pay", "pick")])
def test_replies_of_parallel_steps_may_come_in_any_order(first: str, second: str) -> None:
    """tl_out_of_order_replies, I3: the records decide, not the order of arrival."""
    life = started(diamond(), "check")

    assert asked(life.done(first)) == []
    assert life.state("ship") is PENDING
    assert asked(life.done(second)) == ["ship"]
    life.done("ship")
    assert life.task.process_state is PROCESSED


def test_replies_after_a_recovery_may_come_in_any_order() -> None:
    """tl_out_of_order_replies: the reply of the second attempt comes before that of the first."""
    life = started(diamond(), "check")
    first = life.request("pick")
    life.check(at=T0 + 2 * MINUTE)
    for step in ("pick", "pay"):
        life.retry(step, 1)
    for step in ("pick", "pay"):
        life.done(step)

    assert life.state("ship") is PROCESSING
    assert life.apply(answer(first)).task is life.before


def test_a_reply_that_comes_twice_advances_the_task_once() -> None:
    """tl_duplicate_reply, design rule 1: the second sends again what the first has claimed, and writes nothing."""
    life = started(sequence("reserve", "charge", "ship"))
    reply = answer(life.request("reserve"))
    first = life.apply(reply)

    second = life.apply(reply, at=T0 + 30, by="scheduler-2")

    assert second.task is first.task
    assert requests(second) == [replace(requests(first)[0], budget=MINUTE - 30)]
    assert second.history == ()


def test_a_reply_that_comes_twice_is_quiet_once_its_successor_is_done(life: Life) -> None:
    """tl_duplicate_reply."""
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


def test_a_start_that_comes_late_disturbs_nothing(life: Life) -> None:
    """S18: what another message claimed is not asked for again by `start`."""
    life.done("reserve")
    assert life.ignored(life.start())


def test_a_retry_that_comes_twice_claims_once(life: Life) -> None:
    """Design rule 1, I2."""
    life.check(at=T0 + 2 * MINUTE)
    first = life.retry("reserve", 1)

    second = life.retry("reserve", 1, by="scheduler-2")

    assert second.task is first.task
    assert requests(second) == requests(first)
    assert life.step("reserve").attempt == 2


def test_a_retry_for_an_earlier_attempt_claims_nothing(life: Life) -> None:
    """I2: a retry that was on its way for long finds another attempt waiting."""
    life.check(at=T0 + 2 * MINUTE)
    life.retry("reserve", 1)
    life.check(at=T0 + 4 * MINUTE)

    assert life.retry("reserve", 1).task is life.before
    assert life.state("reserve") is PENDING


@pytest.mark.parametrize("change", [{"token": "another"}, {"attempt": 2}, {"attempt": 0}])
def test_a_reply_of_another_attempt_or_token_changes_nothing(life: Life, change: dict[str, Any]) -> None:
    """Design rule 4, I2: only the holder completes a step; attempt and token are both compared."""
    decision = life.apply(replace(answer(life.request("reserve")), **change))
    assert life.ignored(decision)
    assert kinds(decision) == [HistoryKind.LATE_REPLY]


@pytest.mark.parametrize("outcome", [Outcome.OK, Outcome.PERMANENT, Outcome.FAILING, Outcome.WAITING])
@pytest.mark.parametrize("late", [1, MINUTE])
def test_a_late_reply_changes_nothing(life: Life, outcome: Outcome, late: int) -> None:
    """S6: past complete-by neither success nor error nor report is taken, though nobody else owns the step yet."""
    decision = life.apply(answer(life.request("reserve"), outcome, error="no"), at=T0 + MINUTE + late)
    assert life.ignored(decision)
    assert kinds(decision) == [HistoryKind.LATE_REPLY]


def test_a_reply_at_complete_by_is_in_time(life: Life) -> None:
    """S6."""
    life.done("reserve", at=T0 + MINUTE)
    assert life.state("reserve") is PROCESSED


def test_a_reply_to_an_earlier_life_of_the_order_id_changes_nothing() -> None:
    """Design rule 4: the token holds the time of submission."""
    earlier, later = started(sequence("reserve")), started(sequence("reserve"), now=T0 + 1)
    assert kinds(later.apply(answer(earlier.request("reserve")))) == [HistoryKind.LATE_REPLY]
    assert later.state("reserve") is PROCESSING


WRAP = ORDER_ID, "wrap", 1


@pytest.mark.parametrize("event", [Retry(*WRAP), Resubmit(*WRAP, "ada", "mistyped"), Reply(*WRAP, "t", Outcome.OK)])
def test_a_message_about_an_unknown_step_is_rejected(event: Retry | Resubmit | Reply) -> None:
    """Design rules 7 and 11: it never creates a step."""
    with pytest.raises(Rejected, match=r"step: 'wrap' is not a step of this task"):
        Life(sequence("reserve")).apply(event)
