import re

import pytest

from stepward.cli.deployment.options import Target
from stepward.cli.orders.json_documents import task_document
from stepward.cli.orders.tables import reject_view, rejects_table, tasks_table
from stepward.cli.orders.view import order_view, what_next
from stepward.domain.rejects import Reject
from tests.unit.cli.lives import (
    SUBMITTED,
    Life,
    failed,
    not_deployed,
    paused,
    recovered,
    shipping,
    stopped,
    timed_out,
    undo_failed,
    undoing,
    undone,
)
from tests.unit.cli.printing import printed

HERE = Target()
NASTY = "[red]x[/red] \x1b[2J"
SHOWN = r"[red]x[/red] \x1b[2J"


def view(life: Life, width: int = 120) -> str:
    return printed(order_view(life.loaded), width)


@pytest.mark.parametrize("width", [80, 120])
def test_an_order_shows_state_steps_and_timeline_within_the_width(width: int) -> None:
    text = view(recovered(), width)

    assert "Order ord-1: Processed" in text
    assert "fulfilment version 2" in text
    assert re.search(r"charge +Processed +2 +1 of 2", text)
    assert "+21,000 ms" in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width


def test_a_running_step_shows_who_holds_it_and_until_when() -> None:
    life = Life().start(0)
    text = view(life)

    assert "scheduler-1" in text
    assert "Complete by" in text
    assert "9.0 s left" in what_next(life.loaded, HERE, SUBMITTED + 1_000)


def test_an_order_that_waits_for_a_deployment_names_what_to_deploy() -> None:
    """D1: in its table, its timeline, its JSON document, and in what it waits for."""
    life = not_deployed()
    assert re.search(r"reserve +Processing +1 +0 of 3 .*deploy it", view(life))
    assert "reserve: it waits for a deployment: deploy it" in view(life)
    assert what_next(life.loaded, HERE, SUBMITTED) == "reserve waits for a deployment, uncounted: deploy it."
    assert task_document(life.loaded, with_order=False)["steps"][0]["lacks"] == "deploy it"


def test_an_order_in_error_shows_the_reason_and_what_to_type_next() -> None:
    """S7: the operator learns how to resubmit, for the very deployment that was looked at."""
    next_words = what_next(failed().loaded, Target(stack="shop", local=True), SUBMITTED)

    assert "refused with card_declined" in view(failed())
    assert "stepward resubmit ord-1 charge --why ... --stack shop --local" in next_words
    assert what_next(recovered().loaded, HERE, SUBMITTED) == ""


def test_an_undone_order_shows_steps_then_what_undid_them() -> None:
    """S17: compensations are steps of their own, last step first."""
    text = view(undone())

    assert "Order ord-1: Undone" in text
    assert "undo: withdrawn" in text
    assert "Undone in 2.2 s" in text
    rows = ["reserve", "charge", "ship", "charge/undo", "reserve/undo"]
    positions = [text.index(f"\n{name} ") for name in rows]
    assert positions == sorted(positions)
    assert re.search(r"charge +Stopped +1", text)
    assert what_next(undone().loaded, HERE, SUBMITTED + 3_000) == ""


def test_an_undo_that_failed_shows_what_is_not_undone_and_what_to_type() -> None:
    """S17: the operator resumes the undo from the compensation that failed."""
    words = what_next(undo_failed().loaded, HERE, SUBMITTED + 3_000)

    assert "Order ord-1: UndoFailed" in view(undo_failed())
    assert "charge is not undone" in words
    assert "stepward resubmit ord-1 charge/undo --why ..." in words
    assert "stepward undo" not in words


@pytest.mark.parametrize(
    ("life", "became", "kept"),
    [
        (timed_out(), "", None),
        (stopped(), ", which has passed", "passed"),
        (stopped().resubmit("charge", 13_000, "ada", "x"), ", lifted since it passed", "lifted"),
    ],
)
def test_an_order_shows_its_complete_by_and_what_became_of_it(life: Life, became: str, kept: str | None) -> None:
    """S24."""
    assert re.search(rf"complete by 2026-09-21 \d\d:\d\d:30{became} *\n", view(life))
    document = task_document(life.loaded, with_order=False)
    assert (document["completeBy"], document["timeLimit"]) == (SUBMITTED + 10_000, kept)
    assert "complete by" not in view(failed())


def test_a_paused_order_shows_why_and_how_to_go_on() -> None:
    words = what_next(paused().loaded, Target(local=True), SUBMITTED + 1_000)

    assert "paused: asking" in view(paused())
    assert "The order is paused: asking" in words
    assert "reserve is running" in words
    assert "stepward resume ord-1 --why ... --local" in words


def test_an_order_in_error_offers_an_undo_unless_it_only_goes_forward() -> None:
    stuck = shipping().answer("ship", 3_000, "no such address")

    assert "stepward undo ord-1 --why ..." in what_next(failed().loaded, HERE, SUBMITTED)
    assert "stepward resubmit ord-1 ship" in what_next(stuck.loaded, HERE, SUBMITTED)
    assert "stepward undo" not in what_next(stuck.loaded, HERE, SUBMITTED)


def test_a_list_counts_steps_not_compensations() -> None:
    text = printed(tasks_table([undoing().task, undo_failed().task]))

    assert re.search(r"Undoing .* 1/3 +charge/undo, attempt 1", text)
    assert re.search(r"UndoFailed .* 1/3 +charge/undo: account closed", text)


def test_texts_from_outside_are_printed_literally_everywhere() -> None:
    reject = Reject("m-1", "orders", SUBMITTED, NASTY, NASTY, NASTY, NASTY)

    for text in (
        view(failed(NASTY)),
        printed(tasks_table([failed(NASTY).task])),
        view(Life().start(0).pause(1, NASTY, NASTY)),
        printed(rejects_table([reject])),
        printed(reject_view(reject)),
    ):
        assert SHOWN in text
        assert "\x1b" not in text


def test_a_list_shows_the_state_of_each_order() -> None:
    text = printed(tasks_table([recovered().task, failed().task, Life().start(0).task]))

    assert re.search(r"Processed .* 2/2", text)
    assert re.search(r"Error .* 1/2 +charge: refused with card_declined", text)
    assert re.search(r"Processing .* 0/2 +reserve, attempt 1", text)


def test_a_reject_shows_the_size_of_its_body_but_not_the_body() -> None:
    text = printed(reject_view(Reject("m-1", "orders", SUBMITTED, "items", "is missing", '{"secret": 1}')))

    assert "13 characters" in text
    assert "secret" not in text
