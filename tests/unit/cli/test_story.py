from stepward.cli.story import ended_at, is_complete, prospects, story
from tests.unit.cli.lives import PLAN, SUBMITTED, Life, failed, recovered


def told(life: Life) -> list[tuple[int, str]]:
    return [(happening.at - SUBMITTED, happening.text) for happening in story(life.task, PLAN)]


def test_an_order_without_trouble_is_told_from_submission_to_end() -> None:
    life = Life().start(40).answer("reserve", 1_000).answer("charge", 3_500)

    assert told(life) == [
        (0, "the order was submitted"),
        (40, "reserve: attempt 1 began, with 10.0 s until its complete-by"),
        (1_000, "reserve: Processed by attempt 1, which took 960 ms"),
        (1_000, "charge: attempt 1 began, with 20.0 s until its complete-by"),
        (3_500, "charge: Processed by attempt 1, which took 2.5 s"),
        (3_500, "the order is Processed, 3.5 s after it was submitted"),
    ]


def test_a_recovered_order_tells_who_lost_the_step_and_who_mended_it() -> None:
    """S11, S12: the attempt that nobody answered is told, though its claim is no longer in the record."""
    assert told(recovered())[3:] == [
        (1_000, "charge: attempt 1 began, claimed by scheduler-1, with 20.0 s until its complete-by"),
        (21_000, "charge: attempt 1 gave no answer by its complete-by: its agent is slow or dead"),
        (
            25_000,
            "charge: the Supervisor noticed 4.0 s later, counted a failure, and freed the step to be run again",
        ),
        (25_100, "charge: attempt 2 began, with 20.0 s until its complete-by"),
        (26_000, "charge: Processed by attempt 2, which took 900 ms"),
        (26_000, "the order is Processed, 26.0 s after it was submitted"),
    ]


def test_a_failed_and_resubmitted_order_tells_what_the_operator_did() -> None:
    """S7: an operator fixes the cause and resubmits the step."""
    life = failed().resubmit("charge", 60_000, "alex", "card limit raised").answer("charge", 61_000)

    assert told(life)[3:] == [
        (2_000, "charge: ended in Error at attempt 1: refused with card_declined"),
        (2_050, "charge: an operator was told"),
        (60_000, "charge: alex resubmitted it: card limit raised"),
        (60_000, "charge: attempt 2 began, with 20.0 s until its complete-by"),
        (61_000, "charge: Processed by attempt 2, which took 1.0 s"),
        (61_000, "the order is Processed, 1 min 1 s after it was submitted"),
    ]


def test_a_step_that_used_up_its_attempts_tells_that_the_last_one_timed_out_too() -> None:
    """S13: at the threshold the step ends in Error."""
    life = Life().start(0).answer("reserve", 0).look(21_000).retry(22_000).look(43_000)

    texts = [text for _, text in told(life)]
    assert texts.count("charge: attempt 2 gave no answer by its complete-by: its agent is slow or dead") == 1
    assert texts[-1] == "charge: ended in Error at attempt 2: no answer within complete-by, 2 of 2 times"
    assert (42_000, "charge: attempt 2 gave no answer by its complete-by: its agent is slow or dead") in told(life)


def test_a_step_that_nobody_claimed_and_an_outage_are_told_as_such() -> None:
    reminded = told(Life().look(30_000))
    excused = told(Life().start(0).look(10_000 + 700_000))

    assert "nobody had claimed it, 20.0 s after it was due" in reminded[1][1]
    assert "counted no failure" in excused[-1][1]


def test_what_comes_next_is_told_of_each_step_that_waits_or_works() -> None:
    fresh, working = Life(), Life().start(0)

    assert prospects(fresh.task, PLAN, SUBMITTED) == [
        "reserve waits for a Scheduler to claim it; the Supervisor reminds it if none does."
    ]
    assert prospects(working.task, PLAN, SUBMITTED + 4_000) == [
        "reserve is at work: attempt 1, 6.0 s left until its complete-by."
    ]
    assert "passed its complete-by 500 ms ago" in prospects(working.task, PLAN, SUBMITTED + 10_500)[0]
    assert prospects(recovered().task, PLAN, SUBMITTED + 30_000) == []
    assert prospects(failed().task, PLAN, SUBMITTED + 30_000) == []


def test_an_order_has_ended_only_when_every_step_is_processed() -> None:
    assert ended_at(recovered().task) == SUBMITTED + 26_000
    assert ended_at(failed().task) is None


def test_a_record_that_dropped_old_troubles_is_not_called_complete() -> None:
    life = failed()
    for number in range(10):
        at = 10_000 + number * 1_000
        life.resubmit("charge", at, "alex", "again").answer("charge", at + 500, "declined").told("charge", at + 600)

    assert is_complete(failed().task)
    assert not is_complete(life.task)
