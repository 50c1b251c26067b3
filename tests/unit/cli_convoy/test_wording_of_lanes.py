"""The views of lanes, for people and for programs."""

import re
from dataclasses import replace
from typing import Any

import pytest

from stepward.app.convoy.history import balance, history, unsequenced_seen, waiting
from stepward.cli.convoy.view import LaneShown, as_read, lane_document, lane_view, listed_lane, newest
from stepward.cli.convoy.wording import repairs
from stepward.cli.deployment.options import Target
from stepward.domain.convoy.commands import SkipEvent
from stepward.domain.convoy.event import StoredEvent
from stepward.domain.convoy.lane import LaneRules
from stepward.operator.lane_words import lane_position, lane_state
from stepward.wire.order_event import event_of, stored_event
from tests.factories import T0
from tests.unit.cli.printing import printed
from tests.unit.cli_convoy.lane_lives import LaneLife, ended, entry, flowing, poisoned, torn, unsequenced_events

SHOP = Target(stack="shop", local=True)


def shown(life: LaneLife, limit: int = 20) -> LaneShown:
    past, more = newest(history(life.lanes, life.lane), limit)
    events = (*past, *unsequenced_seen(life.lanes, life.lane), *waiting(life.lanes, life.lane))
    return LaneShown(life.lane, balance(life.lanes, life.lane), events, more)


def view(life: LaneLife, width: int = 120) -> str:
    return printed(lane_view(shown(life), T0 + 65_000), width)


def typed_next(life: LaneLife) -> str:
    return "\n".join(repairs(life.lane, life.seen.following, SHOP))


STATES = {flowing: "open", poisoned: "blocked", torn: "gap", unsequenced_events: "blocked", ended: "ended"}


@pytest.mark.parametrize(("life", "state"), [(made(), state) for made, state in STATES.items()])
def test_a_lane_is_in_one_state(life: LaneLife, state: str) -> None:
    assert lane_state(life.lane) == state
    assert view(life).startswith(f"Lane of order ord-1: {state}\n")


def test_a_lane_that_flows_shows_its_balance_and_nothing_to_type() -> None:
    text = view(flowing())

    assert "all events that arrived are applied, up to event 3" in text
    assert re.search(r"2 +add +applied +\{\"amount\": 5\}", text)
    assert re.search(r"3 +modify +applied +of 2: \{\"amount\": 6\}", text)
    assert re.search(r"event 2 +3 +\{\"amount\": 6\}", text)
    assert typed_next(flowing()) == ""


def test_a_blocked_lane_shows_why_what_waits_and_what_to_type() -> None:
    """C6: visibly."""
    text = view(poisoned())

    assert "event 4 stops the lane: modifies: 3 is no earlier create or add of this order" in text
    assert "for 1 min 5 s; applied up to event 3" in text
    assert re.search(r"4 +modify +stops the lane +modifies: 3 is no earlier", text)
    assert re.search(r"5 +add +waits", text)
    assert "stepward convoy retry ord-1 --why ... --stack shop --local" in typed_next(poisoned())
    assert "stepward convoy replace ord-1 4 FILE --why ..." in typed_next(poisoned())
    assert "stepward convoy skip ord-1 4 --why ..." in typed_next(poisoned())


def test_an_event_that_stops_its_lane_says_which_ledger_brought_it() -> None:
    """C6: so that it can be mended at its source."""
    brought: dict[str, Any] = {"customerId": "shop", "ledgerId": "l-1", "index": 6}
    life = flowing().bring(entry(4, "modify", modifies=3, amount=1, **brought))

    assert "of this order (entry 6 of ledger l-1 of shop)" in " ".join(view(life).split())
    last = lane_document(shown(life))["events"][-1]
    assert (last["customerId"], last["ledgerId"], last["index"]) == ("shop", "l-1", 6)


def test_a_gap_asks_for_the_missing_event_first() -> None:
    """C5."""
    words = typed_next(torn())

    assert "event 4 has not arrived, but event 5 has" in view(torn())
    assert words.startswith("Have its source send event 4 again")
    assert "stepward convoy skip ord-1 4" in words
    assert "retry" not in words


def test_an_event_without_a_sequence_is_called_u1_and_cannot_be_retried() -> None:
    """C6."""
    assert "event u1 stops the lane" in lane_position(unsequenced_events().lane, None)
    assert re.search(r"u1 +add +stops the lane", view(unsequenced_events()))
    assert "stepward convoy skip ord-1 u1" in typed_next(unsequenced_events())
    assert "retry" not in typed_next(unsequenced_events())


def test_what_was_skipped_shows_by_whom_and_why() -> None:
    """C6: audited."""
    life = poisoned().ask(SkipEvent("ord-1", 4, "ada", "typed twice", "k-1"))

    assert re.search(r"4 +modify +skipped +skipped by ada: typed twice", view(life))
    assert lane_document(shown(life))["balance"]["skipped"] == 1


def test_an_event_that_never_came_and_was_skipped_can_still_be_read() -> None:
    """C5: its row is one like any other."""
    life = torn().ask(SkipEvent("ord-1", 4, "ada", "lost at its source", "k-1"))

    assert re.search(r"4 +skipped +skipped by ada: lost at its source", view(life))
    events = list(history(life.lanes, life.lane))
    assert [each.position for each in events] == [1, 2, 3, 4, 5]
    assert {stored_event(each.event.body).order_id for each in events} == {"ord-1"}


def test_programs_read_the_same() -> None:
    document = lane_document(shown(poisoned()))

    assert (document["state"], document["last"], document["highest"]) == ("blocked", 3, 5)
    assert document["blocked"]["event"] == "4"
    assert [(each["event"], each["state"]) for each in document["events"]][2:] == [
        ("3", "applied"),
        ("4", "stops the lane"),
        ("5", "waits"),
    ]
    (changed,) = document["balance"]["transactions"]
    assert changed["details"] == {"amount": 6}
    assert changed["history"] == [{"event": "2", "details": {"amount": 5}}, {"event": "3", "details": {"amount": 6}}]
    assert listed_lane(poisoned().lane)["event"] == "4"
    assert listed_lane(unsequenced_events().lane)["event"] == "u1"


def test_an_event_that_its_application_refuses_shows_what_it_is_all_the_same() -> None:
    """C6: the command line knows no application's own fields."""
    event = event_of(entry(4, "modify", modifies=2, amount=1))
    refused = StoredEvent(4, replace(event, op=None, modifies=None, fault="item: is missing"))
    assert as_read(refused) == StoredEvent(4, event)


def test_old_events_are_left_out_and_said_to_be() -> None:
    life = LaneLife().bring(entry(1, "create"), *(entry(position, amount=position) for position in range(2, 260)))

    assert [each.position for each in history(life.lanes, life.lane)] == list(range(1, 260))
    few = shown(life, limit=5)
    assert [each.position for each in few.events] == [255, 256, 257, 258, 259]
    assert "Older events are left out" in printed(lane_view(few, T0))
    assert len(few.balance.additions) == 258


def test_a_lane_without_numbers_says_that_order_of_arrival_counts() -> None:
    life = LaneLife(LaneRules(sequenced=False)).bring(entry(None, "create"), entry(None, amount=2))

    assert "its events have no sequence numbers" in view(life)
    assert lane_document(shown(life))["sequenced"] is False


def test_texts_from_outside_cannot_steer_a_terminal() -> None:
    life = flowing().bring(entry(4, amount="\u202e[red]"))
    text = view(life)
    assert "\u202e" not in text
    assert "[red]" in text
