import io
import re

import pytest
from rich.console import Console, RenderableType

from stepward.cli.lists import reject_view, rejects_table, tasks_table
from stepward.cli.render import order_view, what_next
from stepward.cli.where import Where
from stepward.ports import Reject
from tests.unit.cli.lives import SUBMITTED, Life, failed, recovered

HERE = Where()
NASTY = "[red]x[/red] \x1b[2J"
SHOWN = r"[red]x[/red] \x1b[2J"


def printed(what: RenderableType, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width, markup=False, highlight=False, emoji=False)
    console.print(what)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def view(life: Life, width: int = 120) -> str:
    return printed(order_view(life.loaded), width)


@pytest.mark.parametrize("width", [80, 120])
def test_an_order_shows_state_steps_and_story_within_the_width(width: int) -> None:
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


def test_an_order_in_error_shows_the_reason_and_what_to_type_next() -> None:
    """S7: the operator learns how to resubmit, for the very deployment that was looked at."""
    next_words = what_next(failed().loaded, Where(stack="shop", local=True), SUBMITTED)

    assert "refused with card_declined" in view(failed())
    assert "stepward resubmit ord-1 charge --why ... --stack shop --local" in next_words
    assert what_next(recovered().loaded, HERE, SUBMITTED) == ""


def test_texts_from_outside_are_printed_literally_everywhere() -> None:
    reject = Reject("m-1", "orders", SUBMITTED, NASTY, NASTY, NASTY, NASTY)

    for text in (
        view(failed(NASTY)),
        printed(tasks_table([failed(NASTY).task])),
        printed(rejects_table([reject])),
        printed(reject_view(reject)),
    ):
        assert SHOWN in text
        assert "\x1b" not in text


def test_a_list_shows_where_each_order_stands() -> None:
    text = printed(tasks_table([recovered().task, failed().task, Life().start(0).task]))

    assert re.search(r"Processed .* 2/2", text)
    assert re.search(r"Error .* 1/2 +charge: refused with card_declined", text)
    assert re.search(r"Processing .* 0/2 +reserve, attempt 1", text)


def test_a_reject_shows_the_size_of_its_body_but_not_the_body() -> None:
    text = printed(reject_view(Reject("m-1", "orders", SUBMITTED, "items", "is missing", '{"secret": 1}')))

    assert "13 characters" in text
    assert "secret" not in text
