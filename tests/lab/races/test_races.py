"""S10, S15: many Schedulers, submitters and Supervisors at once, and one winner each time."""

from collections import Counter
from functools import partial

import pytest

from stepward.domain.backoff import FIRST_BACKOFF
from stepward.domain.coordination.outlook import DeadlineCheck
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.messages import Outcome, Reply, Retry, Start
from stepward.domain.submission import Submission
from stepward.domain.task.record import ProcessState, Task
from tests.contract.worlds.store_worlds import NOW, PLAN, TIMING, order_of, submitted, task_of
from tests.lab.races.conftest import RACERS, Race

pytestmark = pytest.mark.cloud

STARTED = NOW + 1_000
COMPLETE_BY = STARTED + PLAN.by_name["reserve"].complete_within
OVERDUE = COMPLETE_BY + TIMING.skew_margin


def count(history: list[tuple[HistoryEntry, ...]], kind: HistoryKind) -> int:
    return sum(entry.kind is kind for entries in history for entry in entries)


def started(race: Race, order_id: str) -> Task:
    submitted(race.world.store, order_id)
    race.transition(0, STARTED).apply(order_id, Start(order_id))
    return race.task(order_id)


def test_one_scheduler_claims_a_step(race: Race) -> None:
    """S10: the others find the claim; every one of them may ask the agent, all for the same attempt."""
    for order_id in race.orders("claim"):
        submitted(race.world.store, order_id)

        history = race.run(race.applying(order_id, Start(order_id), STARTED))

        step = race.task(order_id).steps["reserve"]
        (winner,) = [number for number, entries in enumerate(history) if count([entries], HistoryKind.CLAIMED)]
        assert count(history, HistoryKind.CLAIMED) == 1
        assert (step.locked_by, step.attempt, step.fence) == (f"scheduler-{winner}", 1, 1)
        race.outcomes["claimed"] += 1


def test_one_submission_is_accepted(race: Race) -> None:
    """S8: equal ones are duplicates, others conflicts; nothing is written twice."""
    for order_id in race.orders("submit"):
        orders = [order_of(order_id, f'{{"total":"{racer % 2}"}}') for racer in range(RACERS)]
        pairs = zip(race.stores, orders, strict=True)

        outcomes = race.run([partial(store.submit, order, task_of(order_id), PLAN) for store, order in pairs])

        half = RACERS // 2
        numbers = {Submission.ACCEPTED: 1, Submission.DUPLICATE: half - 1, Submission.CONFLICT: half}
        assert Counter(outcomes) == numbers
        assert race.world.orders.find(order_id) == orders[outcomes.index(Submission.ACCEPTED)]
        assert race.task(order_id) == task_of(order_id)
        race.outcomes["accepted"] += 1


def test_one_supervisor_recovers_a_step(race: Race) -> None:
    """S15: FailureCount rises by one, once."""
    for order_id in race.orders("look"):
        started(race, order_id)

        history = race.run(race.applying(order_id, DeadlineCheck(), OVERDUE, role="supervisor"))

        step = race.task(order_id).steps["reserve"]
        assert count(history, HistoryKind.RECOVERED) == 1
        assert (step.process_state, step.failure_count, step.locked_by) == (ProcessState.PENDING, 1, None)
        race.outcomes["recovered"] += 1


def test_a_reply_and_a_supervisor_do_not_both_win(race: Race) -> None:
    """S6: the Scheduler's clock is behind, so its reply is in time while the Supervisor finds the step overdue."""
    for order_id in race.orders("reply"):
        claimed = started(race, order_id).steps["reserve"]
        reply = Reply(order_id, "reserve", 1, claimed.token or "", Outcome.OK, {"reservation": "r-1"})
        schedulers = race.applying(order_id, reply, COMPLETE_BY, range(RACERS // 2))
        supervisors = race.applying(order_id, DeadlineCheck(), OVERDUE, range(RACERS // 2, RACERS), "supervisor")

        history = race.run([*schedulers, *supervisors])

        task = race.task(order_id)
        done, recovered = count(history, HistoryKind.COMPLETED), count(history, HistoryKind.RECOVERED)
        assert (done, recovered) in {(1, 0), (0, 1)}
        assert task.steps["reserve"].failure_count == recovered
        assert task.steps["charge"].attempt == done
        race.outcomes["completed" if done else "recovered"] += 1


def test_one_of_many_retries_claims_the_next_attempt(race: Race) -> None:
    """S10: a recovered step is claimed once again, with a fence that has risen by one."""
    for order_id in race.orders("retry"):
        started(race, order_id)
        race.transition(0, OVERDUE, "supervisor").apply(order_id, DeadlineCheck())

        history = race.run(race.applying(order_id, Retry(order_id, "reserve", 1), OVERDUE + FIRST_BACKOFF))

        step = race.task(order_id).steps["reserve"]
        assert count(history, HistoryKind.CLAIMED) == 1
        assert (step.attempt, step.fence, step.process_state) == (2, 2, ProcessState.PROCESSING)
        race.outcomes["claimed"] += 1
