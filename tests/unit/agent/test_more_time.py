"""W8: an attempt that its agent's rate holds up gets more time, and is asked for once."""

from dataclasses import replace

import pytest

from stepward.domain.history import HistoryKind
from stepward.domain.messages import Outcome, Reply
from stepward.domain.task.record import ProcessState
from tests.factories import MINUTE, SECOND, T0, Life, answer, kinds, requests, sequence

LEFT = 20 * SECOND


@pytest.fixture
def life() -> Life:
    life = Life(sequence("reserve", "ship"))
    life.start()
    life.now = T0 + MINUTE - LEFT
    return life


def waiting(life: Life) -> Reply:
    """The agent's wish for more time."""
    reply = answer(life.request("reserve"), Outcome.WAITING, error="its rate is used up", result={})
    return replace(reply, complete_by=life.request("reserve").complete_by)


def test_its_complete_by_moves_and_nothing_is_counted(life: Life) -> None:
    before, decision = life.step("reserve"), life.apply(waiting(life))

    assert life.step("reserve") == replace(before, complete_by=life.now + MINUTE)
    (request,) = requests(decision)
    assert (request.token, request.attempt) == (before.token, 1)
    assert (request.complete_by, request.budget, request.delay) == (life.now + MINUTE, MINUTE, 7_500)
    assert kinds(decision) == [HistoryKind.EXTENDED]
    assert not life.task.history, "the record does not grow while the rate is used up"
    assert life.task.due is not None
    assert life.task.due <= T0 + MINUTE


def test_the_same_wish_again_moves_nothing_and_sends_what_may_be_lost(life: Life) -> None:
    wish = waiting(life)
    life.apply(wish)

    again = life.apply(wish, at=life.now + SECOND)

    assert again.task is life.before
    assert [request.complete_by for request in requests(again)] == [life.step("reserve").complete_by]


def test_a_clock_that_is_behind_never_takes_time_away(life: Life) -> None:
    wish, limit = waiting(life), life.step("reserve").complete_by
    decision = life.apply(wish, at=T0 - SECOND)
    assert (life.step("reserve").complete_by, len(requests(decision))) == (limit, 1)


def test_who_waits_for_long_is_found_by_nobody_and_counts_nothing(life: Life) -> None:
    """I5: the Supervisor finds the task due and nothing in it overdue, however often its limit was moved."""
    for _ in range(50):
        life.apply(waiting(life))
        assert not requests(life.check(at=life.now + 40 * SECOND))
    assert (life.step("reserve").attempt, life.step("reserve").failure_count) == (1, 0)
    life.done("reserve")
    assert life.state("reserve") is ProcessState.PROCESSED


@pytest.mark.parametrize("change", [{"token": "another"}, {"attempt": 2}])
def test_another_attempt_gets_nothing(life: Life, change: dict[str, str]) -> None:
    assert life.apply(replace(waiting(life), **change)).task is life.before  # type: ignore[arg-type]


def test_an_attempt_that_failed_gets_nothing(life: Life) -> None:
    """It was made, so it is not the rate that holds it up."""
    life.apply(answer(life.request("reserve"), Outcome.FAILING, error="Transient: HTTP 503"))
    assert life.apply(waiting(life)).task is life.before
