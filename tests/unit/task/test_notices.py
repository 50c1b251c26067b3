"""S19, I8: the notices to the submitter: each matches a state that was really reached."""

from dataclasses import replace
from typing import Any

import pytest

from stepward.domain.messages import Notice, Pause, Resume, Retry, Start, Status
from stepward.domain.task.decide import Event
from stepward.domain.workflow.plan import Exhausted, Plan
from tests import factories
from tests.factories import MINUTE, ORDER_ID, T0, UNDOES, Life, notices, sequence, started, undoable

QUEUE = "https://sqs.us-east-1.amazonaws.com/111122223333/replies-shop"


def sent(life: Life) -> list[tuple[str, str, int]]:
    return [(notice.status.value, notice.step, notice.revision) for notice in life.notices]


UNDONE = [("undo",), ("done", "ship/undo"), ("done", "charge/undo"), ("done", "reserve/undo")]


@pytest.mark.parametrize(
    ("last", "calls", "notices"),
    [
        ({}, [("done", "ship")], [("step-completed", "ship", 5), ("completed", "", 5)]),
        ({}, [("done", "ship")] * 2, [("step-completed", "ship", 5), ("completed", "", 5), ("completed", "", 5)]),
        ({}, UNDONE, [("undoing", "", 5), ("undone", "", 8)]),
        ({}, [("undo",)] * 2, [("undoing", "", 5)] * 2),
        ({}, [("declined", "ship")] * 2, [("failed", "ship", 5), ("failed", "", 5)]),
        ({}, [("declined", "ship"), ("retry", "ship", 1)], [("failed", "ship", 5), ("failed", "", 5)]),
        (
            {},
            [("declined", "ship"), ("undo",), ("declined", "ship/undo")],
            [("failed", "ship", 5), ("undoing", "", 6), ("undo-failed", "ship/undo", 7)],
        ),
        ({"on_permanent": Exhausted.UNDO}, [("declined", "ship")] * 2, [("undoing", "", 5)] * 2),
        ({"threshold": 1, "exhausted": (UNDOES,)}, [("overdue", "ship")], [("undoing", "", 5)]),
    ],
    ids=[
        "each step, and the end",
        "a reply that comes again: the first notice may be lost with the process",
        "an undo, in which a compensation is no step of the submitter's",
        "an undo that comes again",
        "an error reply that comes again",
        "a retry that comes again: its claim may have ended in Error",
        "an error and an undo that fails have statuses of their own",
        "a refusal that undoes: the step was never in Error",
        "a threshold that undoes: the Supervisor's write sends the notice too",
    ],
)
def test_a_submitter_hears_of_each_state_with_rising_revisions(
    last: dict[str, Any], calls: list[tuple[Any, ...]], notices: list[tuple[str, str, int]]
) -> None:
    """S13, S17, S19, I8, status_notifications_order, design rule 1."""
    life = factories.shipping(QUEUE, **last)
    for name, *step in calls:
        getattr(life, name)(*step)

    begun = [("received", "", 2), ("step-completed", "reserve", 3), ("step-completed", "charge", 4)]
    assert sent(life) == [*begun, *notices]


def test_a_notice_carries_what_the_submitter_needs_to_know_it_by() -> None:
    """S19: its queue, its own correlation id, the revision and the time."""
    life = Life(sequence("reserve"), reply_to=QUEUE)
    life.start(at=T0 + 5)
    life.done("reserve", at=T0 + 9)

    assert life.notices == [
        Notice(ORDER_ID, "checkout-1", QUEUE, Status.RECEIVED, "", 2, T0),
        Notice(ORDER_ID, "checkout-1", QUEUE, Status.STEP_COMPLETED, "reserve", 3, T0 + 9),
        Notice(ORDER_ID, "checkout-1", QUEUE, Status.COMPLETED, "", 3, T0 + 9),
    ]


def test_who_named_no_queue_hears_nothing() -> None:
    """S19."""
    life = started(undoable(), "reserve")
    life.undo()
    life.undo()
    life.report()

    assert life.notices == []


def test_an_undo_that_has_nothing_to_undo_is_notified_once() -> None:
    """I8: it was never Undoing."""
    life = Life(undoable(), reply_to=QUEUE)
    life.cancel()
    assert sent(life) == [("received", "", 2), ("undone", "", 2)]


def test_a_start_that_comes_again_notifies_again() -> None:
    """S19: at least once; a copy has the same revision."""
    life = started(sequence("reserve"), reply_to=QUEUE)
    life.start()
    assert sent(life) == [("received", "", 2)] * 2


def test_a_report_says_the_state_of_the_order_and_changes_nothing() -> None:
    """S19."""
    life = Life(undoable(), reply_to=QUEUE)

    def reported() -> str:
        (notice,) = notices(life.report())
        assert life.task is life.before
        return notice.status.value

    assert reported() == "received"
    life.start()
    assert reported() == "received"
    life.declined("reserve")
    assert reported() == "failed"
    life.undo()
    assert reported() == "undoing"
    life.declined("reserve/undo")
    assert reported() == "undo-failed"
    life.resubmit("reserve/undo", 1)
    life.done("reserve/undo")
    assert reported() == "undone"


def test_an_alert_that_is_sent_again_notifies_the_submitter_again() -> None:
    """S19, I1: whoever died before the alert was out may have died before the notice, too."""
    life = factories.shipping(QUEUE, threshold=1)
    life.overdue("ship")
    assert sent(life)[-1] == ("failed", "ship", 5)

    life.check(at=life.now + 2 * MINUTE)

    assert sent(life)[-1] == ("failed", "", 5)


@pytest.mark.parametrize(
    "event",
    [Start(ORDER_ID), Resume(ORDER_ID, "ada", "go on"), Pause(ORDER_ID, "ada", "wait"), Retry(ORDER_ID, "reserve", 1)],
    ids=lambda event: type(event).__name__,
)
def test_whatever_comes_to_an_end_of_which_nobody_was_told_notifies_once(event: Event) -> None:
    """S19, I8: it takes the task out of the index, where a Supervisor would have found it."""
    (reserve,) = sequence("reserve", threshold=1).steps
    life = started(Plan("line", 1, (replace(reserve, exhausted=(UNDOES,)),)), reply_to=QUEUE)
    ended = life.check(at=T0 + 2 * MINUTE).task
    assert (ended.has_ended, ended.due is None) == (True, False)

    told = life.apply(event)

    assert (told.task.due, [notice.status for notice in notices(told)]) == (None, [Status.UNDONE])
    if isinstance(event, Pause | Resume):
        assert told.refusal, "whoever asks dry hears of it"


def test_the_end_of_an_undo_with_nothing_to_take_back_is_notified_however_often_a_supervisor_dies() -> None:
    """S19: the task stays due until the Scheduler was asked to notify, which a look of a Supervisor does not show."""
    (reserve,) = sequence("reserve", threshold=1).steps
    life = started(Plan("line", 1, (replace(reserve, exhausted=(UNDOES,)),)), reply_to=QUEUE)
    looks = [life.check(at=T0 + 2 * MINUTE)]
    for _ in range(3):
        assert life.task.due is not None
        looks.append(life.check(at=life.task.due + MINUTE))
    assert [notice.status for look in looks for notice in notices(look)] == [Status.UNDONE] * 4

    told = life.report()

    assert [notice.status for notice in notices(told)] == [Status.UNDONE]
    assert life.task.due is None
    life.check(at=life.now + MINUTE)  # of an index page that is older
    assert life.task.due is None
