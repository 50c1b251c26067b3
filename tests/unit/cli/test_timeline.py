from dataclasses import replace

import pytest

from stepward.cli.deployment.options import Target
from stepward.cli.orders.view import what_next
from stepward.cli.terminal import day_and_time
from stepward.domain.messages import SignalGiven, Start
from stepward.domain.task.record import SERVICE
from stepward.domain.workflow.plan import Exhausted, Plan, PlannedStep, Policy, StepKind
from stepward.operator.wording.prospects import prospects
from stepward.operator.wording.timeline import is_complete, timeline
from tests.factories import ALERTS
from tests.unit.cli.lives import (
    APPROVAL,
    APPROVED,
    CHARGE,
    GIVEN,
    PATIENT,
    RESERVE,
    SUBMITTED,
    Life,
    approving,
    failed,
    one_way,
    paused,
    recovered,
    stopped,
    timed_out,
    undo_failed,
    undone,
)

TIMED_OUT = "charge: attempt {} passed its complete-by without a reply: its agent is slow or dead"


def lines_of(life: Life) -> list[tuple[int, str]]:
    return [(happening.at - SUBMITTED, happening.text) for happening in timeline(life.task, life.plan)]


def test_the_timeline_of_an_order_without_trouble_runs_from_submission_to_end() -> None:
    life = Life().start(40).answer("reserve", 1_000).answer("charge", 3_500)

    assert lines_of(life) == [
        (0, "the order was submitted"),
        (40, "reserve: attempt 1 began; 10.0 s until its complete-by"),
        (1_000, "reserve: attempt 1 succeeded after 960 ms"),
        (1_000, "charge: attempt 1 began; 20.0 s until its complete-by"),
        (3_500, "charge: attempt 1 succeeded after 2.5 s"),
        (3_500, "the order is Processed, 3.5 s after it was submitted"),
    ]


def test_the_timeline_of_a_recovered_order_says_who_lost_the_step_and_who_recovered_it() -> None:
    """S11, S12: the attempt without a reply is shown, though its claim is no longer in the record."""
    assert lines_of(recovered())[3:] == [
        (1_000, "charge: attempt 1 began, claimed by scheduler-1; 20.0 s until its complete-by"),
        (21_000, "charge: attempt 1 passed its complete-by without a reply: its agent is slow or dead"),
        (25_000, "charge: 4.0 s later the Supervisor counted a failure and released the step for another attempt"),
        (26_000, "charge: attempt 2 began; 20.0 s until its complete-by"),
        (27_000, "charge: attempt 2 succeeded after 1.0 s"),
        (27_000, "the order is Processed, 27.0 s after it was submitted"),
    ]


def test_the_timeline_of_a_resubmitted_order_says_what_the_operator_did() -> None:
    """S7: an operator fixes the cause and resubmits the step."""
    life = failed().resubmit("charge", 60_000, "alex", "card limit raised").answer("charge", 61_000)

    assert lines_of(life)[3:] == [
        (
            2_000,
            "charge: attempt 1 ended in Error (when it began is no longer kept): refused with card_declined",
        ),
        (2_050, "charge: the operators were alerted"),
        (60_000, "charge: alex resubmitted it: card limit raised"),
        (60_000, "charge: attempt 2 began; 20.0 s until its complete-by"),
        (61_000, "charge: attempt 2 succeeded after 1.0 s"),
        (61_000, "the order is Processed, 1 min 1 s after it was submitted"),
    ]


def test_a_step_that_used_up_its_attempts_shows_that_the_last_one_timed_out_too() -> None:
    """S13: at the threshold the step ends in Error."""
    life = Life().start(0).answer("reserve", 0).check_deadlines(21_000).retry(22_000).check_deadlines(43_000)

    texts = [text for _, text in lines_of(life)]
    assert texts.count(TIMED_OUT.format(2)) == 1
    assert texts[-1] == "charge: attempt 2 ended in Error: no answer within complete-by, 2 of 2 times"
    assert (42_000, TIMED_OUT.format(2)) in lines_of(life)


def test_a_step_that_nobody_claimed_and_an_outage_are_shown_as_such() -> None:
    reminded = lines_of(Life().check_deadlines(30_000))
    uncounted = lines_of(Life().start(0).check_deadlines(10_000 + 700_000))

    assert "no Scheduler had claimed it 20.0 s after it was due" in reminded[1][1]
    assert "without counting a failure" in uncounted[-1][1]


def test_a_step_that_was_handed_over_waits_for_its_service() -> None:
    """W6."""
    life = Life().start(0)
    record = replace(life.task.steps["reserve"], locked_by=SERVICE)
    task = replace(life.task, steps={**life.task.steps, "reserve": record})
    assert prospects(task, life.plan, SUBMITTED + 4_000) == [
        "reserve waits for its service, which has 6.0 s left to answer attempt 1."
    ]


def test_each_step_that_waits_or_runs_says_what_comes_next() -> None:
    fresh, working = Life(), Life().start(0)

    assert prospects(fresh.task, fresh.plan, SUBMITTED) == [
        "reserve waits for a Scheduler to claim it; if none does, the Supervisor sends a reminder."
    ]
    assert prospects(working.task, working.plan, SUBMITTED + 4_000) == [
        "reserve is running: attempt 1, 6.0 s left until its complete-by."
    ]
    assert "passed its complete-by 500 ms ago" in prospects(working.task, working.plan, SUBMITTED + 10_500)[0]
    assert prospects(recovered().task, recovered().plan, SUBMITTED + 30_000) == []
    assert prospects(failed().task, failed().plan, SUBMITTED + 30_000) == []


def test_the_timeline_of_an_undone_order_runs_to_the_last_compensation() -> None:
    """S17: what was fenced, what was dropped, and what was taken back, last step first."""
    assert lines_of(undone())[3:] == [
        (1_000, "charge: attempt 1 began; 20.0 s until its complete-by"),
        (2_000, "ada started the undo: withdrawn"),
        (2_000, "charge: attempt 1 was fenced before it replied; it may have had its effect"),
        (2_000, "ship: dropped; it had not begun"),
        (2_000, "charge/undo: attempt 1 began; 20.0 s until its complete-by"),
        (2_100, "charge/undo: attempt 1 succeeded after 100 ms; charge is undone"),
        (2_100, "reserve/undo: attempt 1 began; 10.0 s until its complete-by"),
        (2_200, "reserve/undo: attempt 1 succeeded after 100 ms; reserve is undone"),
        (2_200, "the order is Undone, 2.2 s after it was submitted: all its effects are compensated"),
    ]


def test_an_undo_that_failed_and_was_resubmitted_shows_both() -> None:
    """S17: a compensation fails, an operator resubmits it, and the undo goes on from there."""
    life = undo_failed().resubmit("charge/undo", 60_000, "alex", "account opened").answer("charge/undo", 61_000)

    texts = [text for _, text in lines_of(life.answer("reserve/undo", 62_000))]

    assert "charge/undo: attempt 1 ended in Error (when it began is no longer kept): account closed" in texts
    assert "charge/undo: alex resubmitted it: account opened" in texts
    assert texts[-1] == "the order is Undone, 1 min 2 s after it was submitted: all its effects are compensated"


def test_an_undo_after_an_error_says_that_the_step_may_have_had_its_effect() -> None:
    life = Life(plan=undone().plan).start(0).answer("reserve", 100, "sold out").undo(1_000)

    assert (1_000, "reserve: attempt 1, which ended in Error, was fenced; it may have had its effect") in lines_of(life)


def test_an_effect_that_came_after_its_undo_is_shown() -> None:
    """I6: the fenced attempt answers after all, and is undone once more."""
    fenced = Life(plan=undone().plan).start(0)
    life = fenced.undo(1_000).answer("reserve/undo", 1_100).answer("reserve", 1_200)

    assert (1_200, "reserve: attempt 1 had its effect after all; it is undone again") in lines_of(life)


def test_the_effect_of_a_step_without_undo_stands() -> None:
    """S17: an Undone order says what its undo has left, whether it came before the undo or after."""
    life = one_way()
    left = "reserve has no undo: its effect stands; charge has no undo: its effect may stand"
    assert lines_of(life)[-1] == (2_000, f"the order is Undone, 2.0 s after it was submitted: {left}")

    life.answer("charge", 2_100)
    assert (2_100, "charge: attempt 1 had its effect after all; it has no undo") in lines_of(life)
    assert lines_of(life)[-2][1].endswith("reserve and charge have no undo: their effects stand")


def test_a_pause_and_its_end_say_who_and_why() -> None:
    texts = lines_of(paused().resume(9_000))

    assert (500, "ada paused the order: asking") in texts
    assert (9_000, "alex resumed the order: agreed") in texts


def test_a_backoff_and_a_fallback_say_what_was_tried_and_who_takes_over() -> None:
    """S13, S21: what happens when a step's attempts are used up."""
    life = Life(plan=PATIENT).start(0).check_deadlines(20_500)
    resting = prospects(life.task, PATIENT, SUBMITTED + 21_000)
    life.apply(Start("ord-1"), 60_000).check_deadlines(80_500)

    texts = lines_of(life)

    assert resting == ["charge waits another 29.5 s (backoff) before its next attempt."]
    assert (20_500, "charge: its attempts are used up; it waits for 30 s, round 1 of 1") in texts
    assert (20_000, TIMED_OUT.format(1)) in texts
    assert texts[-1][1].startswith("charge: its attempts are used up: no answer within complete-by")
    assert texts[-1][1].endswith("invoices takes over")


def test_a_record_that_dropped_old_entries_is_not_called_complete() -> None:
    life = failed()
    for number in range(10):
        at = 10_000 + number * 1_000
        life.resubmit("charge", at, "alex", "again").answer("charge", at + 500, "declined").alerted("charge", at + 600)

    assert is_complete(failed().task)
    assert not is_complete(life.task)


def test_the_timeline_of_an_order_past_its_complete_by_says_what_that_stopped() -> None:
    """S24: and before the Supervisor has seen it, what it will not do any more."""
    reason = "the order's complete-by, 2026-09-21T14:13:30Z, has passed"
    assert lines_of(stopped())[3:] == [
        (12_000, reason),
        (12_000, f"charge: ended in Error before it began: {reason}; a resubmission lifts it"),
        (12_050, "charge: the operators were alerted"),
    ]
    late = "The order's complete-by passed 3.0 s ago. Running steps may end, no step starts."
    for life in (timed_out(), stopped()):
        assert prospects(life.task, life.plan, SUBMITTED + 13_000) == [late]
    lifted = stopped().resubmit("charge", 13_000, "alex", "the customer waits")
    assert all(late not in said for said in prospects(lifted.task, lifted.plan, SUBMITTED + 13_000))


HOUR = 3_600_000
RARE = ("gt", ("order", "total", 0), 50)
COOLING = PlannedStep("cooling-off", "", "", (), 30 * HOUR, 1, kind=StepKind.TIMER)
REMINDS = replace(APPROVAL, after=("gift",), exhausted=(Policy(Exhausted.REMIND, 24 * HOUR, 1), ALERTS))
WAITING = Plan("fulfilment", 7, (COOLING, replace(CHARGE, name="gift", after=("cooling-off",), when=RARE), REMINDS))


def test_a_wait_is_told_as_one() -> None:
    """W2, W3, W4: nobody made an attempt, and nobody is to blame."""
    life = Life(plan=WAITING).start(0)
    ends, until = (day_and_time(SUBMITTED + hours * HOUR) for hours in (30, 102))
    assert prospects(life.task, life.plan, SUBMITTED) == [f"cooling-off is a timer, and ends at {ends}."]

    life.check_deadlines(30 * HOUR).start(30 * HOUR)
    life.check_deadlines(78 * HOUR).alerted("approval", 78 * HOUR)
    waits = f"approval waits for its signal until {until}; the operators were reminded."
    answer = "To answer approval:\n  stepward signal ord-1 approval --data '{...}'"
    assert what_next(life.loaded, Target(), SUBMITTED + 78 * HOUR) == f"{waits}\n{answer}"
    assert "which has passed" in prospects(life.task, life.plan, SUBMITTED + 103 * HOUR)[0]

    life.apply(GIVEN, 80 * HOUR)
    assert lines_of(life) == [
        (0, "the order was submitted"),
        (0, "cooling-off: the timer began, 1 d 6 h"),
        (30 * HOUR, "cooling-off: it ended after 1 d 6 h"),
        (30 * HOUR, "gift: skipped, for order.total is not over 50 (0 if missing)"),
        (30 * HOUR, "approval: it began to wait for its signal, for 2 d"),
        (78 * HOUR, "approval: nobody gave the signal 'approval' yet; the operators were reminded"),
        (78 * HOUR, "approval: the operators were alerted"),
        (80 * HOUR, 'approval: ada gave the signal {"by": "ann"}'),
        (80 * HOUR, "approval: it ended after 2 d 2 h"),
        (80 * HOUR, "the order is Processed, 3 d 8 h after it was submitted"),
    ]


def test_what_one_write_did_is_told_causes_first() -> None:
    """S5: an end, then the skip that it allows, then what begins after that; a step before what waits for it."""
    skipped, last = replace(CHARGE, name="approval", when=RARE), replace(CHARGE, name="alarm", after=("approval",))
    life = Life(plan=Plan("fulfilment", 8, (RESERVE, replace(skipped, after=("reserve",)), last))).start(0)

    assert [text.split(":")[0] for _, text in lines_of(life.answer("reserve", 100))][2:] == [
        "reserve",
        "approval",
        "alarm",
    ]


def test_a_signal_that_came_early_counts_when_its_step_begins() -> None:
    """W3: who gave it, and its data, stand where it was given."""
    plan = replace(APPROVED, steps=(RESERVE, replace(APPROVAL, after=("reserve",)), APPROVED.steps[1]))
    life = Life(plan=plan).start(0).apply(GIVEN, 50)
    assert (50, 'approval: ada gave the signal {"by": "ann"}; it is kept until the step begins') in lines_of(life)

    assert lines_of(life.answer("reserve", 100))[2:] == [
        (50, 'approval: ada gave the signal {"by": "ann"}'),
        (100, "reserve: attempt 1 succeeded after 100 ms"),
        (100, "approval: it began to wait for its signal, for 2 d"),
        (100, "approval: the signal of ada counts"),
        (100, "approval: it ended after 0 ms"),
        (100, "charge: attempt 1 began, claimed by scheduler-1; 20.0 s until its complete-by"),
    ]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (replace(GIVEN, data={}, refused="too dear"), "approval: ada refused it: too dear"),
        (replace(GIVEN, data={}), "approval: ada gave the signal"),
    ],
)
def test_a_signal_without_data_says_who_gave_it(given: SignalGiven, text: str) -> None:
    assert (500, text) in lines_of(approving().apply(given, 500))
