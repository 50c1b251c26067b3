"""What a person reads when the lane of an order waits."""

import string
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepward.adapters.alerts.sns import attributes
from stepward.adapters.alerts.step_texts import subject, summary, summary_subject, text
from stepward.domain.convoy.lane import Alerted
from stepward.domain.messages import LaneWaits, StepFailed

BLOCKED = LaneWaits("ord-1", "5", Alerted.BLOCKED, "modifies: 2 is no earlier create or add", 1_000_000)
GAP = LaneWaits("ord-2", "3", Alerted.GAP, "event 3 has not come, and 7 has", 1_000_000)
IDLE = LaneWaits("ord-3", "9", Alerted.IDLE, "nothing has come after event 8", 1_000_000)
FAILED = StepFailed("ord-4", "charge", 3, "card declined", 1_000_000)
TROUBLES = st.sampled_from([Alerted.BLOCKED, Alerted.GAP, Alerted.IDLE])


def test_the_text_of_a_blocked_lane_says_why_what_waits_and_what_to_type() -> None:
    """C6."""
    assert text(BLOCKED) == (
        "Event 5 of order ord-1 could not be applied; the order's lane has stopped.\n\n"
        "Why: modifies: 2 is no earlier create or add\n\n"
        "Later events of this order wait behind it, in order. Other orders go on. Look at it:\n"
        "  stepward convoy show ord-1\n"
        "Fix the cause, then try the event again:\n"
        '  stepward convoy retry ord-1 --why "..."\n'
        "Or replace it with a corrected event, or skip it:\n"
        '  stepward convoy replace ord-1 5 FILE --why "..."\n'
        '  stepward convoy skip ord-1 5 --why "..."\n'
    )
    assert subject(BLOCKED) == "Stepward: event 5 stops the lane, order ord-1"


def test_the_text_of_a_gap_says_that_the_missing_event_is_enough() -> None:
    """C5."""
    assert text(GAP) == (
        "Event 3 of order ord-2 is missing; later ones wait for it.\n\n"
        "Why: event 3 has not come, and 7 has\n\n"
        "No event behind a gap is ever applied. Look at it:\n"
        "  stepward convoy show ord-2\n"
        "Have its source send the event again; the lane then goes on by itself.\n"
        "If it will never come, supply it yourself, or skip it:\n"
        '  stepward convoy replace ord-2 3 FILE --why "..."\n'
        '  stepward convoy skip ord-2 3 --why "..."\n'
    )
    assert subject(GAP) == "Stepward: event 3 is missing, order ord-2"


def test_an_idle_lane_offers_nothing_that_changes_it() -> None:
    """C5: there is nothing to retry or to skip."""
    assert "stepward convoy show ord-3\n" in text(IDLE)
    assert not any(word in text(IDLE) for word in ("retry", "skip", "replace"))
    assert subject(IDLE) == "Stepward: no last event yet, order ord-3"


def test_an_unsequenced_event_is_called_as_people_call_it() -> None:
    unsequenced_event = LaneWaits("ord-1", "u2", Alerted.BLOCKED, "sequence: is missing", 0)
    assert 'stepward convoy skip ord-1 u2 --why "..."' in text(unsequenced_event)


def test_a_summary_of_lanes_counts_their_troubles() -> None:
    """C6: one message for many orders."""
    lanes = [LaneWaits(f"ord-{n}", str(n), Alerted.BLOCKED, "no such item", 0) for n in range(30)]
    assert summary([*lanes, GAP]) == (
        "30 orders wait in their lanes:\n\n"
        "  blocked 30 times: no such item\n"
        "  gap 1 times: event 3 has not come, and 7 has\n\n"
        f"The first of them: {', '.join(f'ord-{n}' for n in range(20))}\n\n"
        "Their later events wait, in order, until you act. List the lanes and look at one; it shows what to type:\n"
        "  stepward convoy list\n"
        "  stepward convoy show ord-0\n"
    )
    assert summary_subject([IDLE]) == "Stepward: 1 order waits in its lane"


def test_a_summary_of_steps_and_lanes_keeps_them_apart() -> None:
    """S7 and C6: for each kind, what to type about it."""
    message = summary([BLOCKED, FAILED, GAP])
    steps, lanes = message.split("2 orders wait in their lanes:")
    assert steps.startswith("1 order ended in Error:\n\n  charge 1 times: card declined\n")
    assert "stepward resubmit ord-4 charge" in steps
    assert "convoy" not in steps
    assert "stepward convoy show ord-1" in lanes
    assert "ord-4" not in lanes
    assert summary_subject([BLOCKED, FAILED, GAP]) == "Stepward: 1 order ended in Error, 2 orders wait in their lanes"


def test_programs_read_what_holds_the_lane_up() -> None:
    named = attributes(GAP)
    assert named["trouble"] == {"DataType": "String", "StringValue": "gap"}
    assert "trouble" not in attributes(FAILED)


@settings(deadline=None)
@given(st.text(st.characters()), st.text(st.characters()), TROUBLES)
def test_whatever_a_lane_says_can_be_sent(order: str, reason: str, trouble: Alerted) -> None:
    alert = LaneWaits(order, "1", trouble, reason, 0)
    for line in (subject(alert), summary_subject([alert, FAILED])):
        assert line.isascii()
        assert line.isprintable()
        assert len(line) <= 100
        assert line[0] in string.ascii_letters
    assert text(replace(alert, order_id="ord-1")).replace("\n", "").isprintable()
    assert summary([replace(alert, order_id="ord-1")]).replace("\n", "").isprintable()


@pytest.mark.parametrize("alert", [BLOCKED, GAP, IDLE])
def test_an_order_id_with_signs_that_a_shell_reads_is_quoted_here_too(alert: LaneWaits) -> None:
    nasty = replace(alert, order_id="$(reboot)", reason="no", at=0)
    assert "stepward convoy show '$(reboot)'" in text(nasty)
