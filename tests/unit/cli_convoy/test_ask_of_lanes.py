"""An operator's commands to a lane: refused at once, or sent, with their outcome."""

import json
from typing import Any

import pytest

from stepward.cli.convoy.refusals import lane_refusal, replacement
from stepward.cli.deployment.options import Target
from stepward.cli.user_error import UserError
from stepward.domain.convoy.commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.operator.outcome import lane_outcome
from tests.unit.cli_convoy.lane_lives import LaneLife, ended, entry, flowing, poisoned, torn, unsequenced_events

RETRY = RetryLane("ord-1", "ada", "mended", "k-1")


def skip(position: int) -> SkipEvent:
    return SkipEvent("ord-1", position, "ada", "twice", "k-1")


def replace(position: int, **changes: Any) -> ReplaceEvent:
    return ReplaceEvent("ord-1", position, json.dumps(entry(position, amount=4) | changes), "ada", "typo", "k-1")


def refused(life: LaneLife, command: LaneCommand) -> str:
    return lane_refusal(life.lanes, life.lane, command, Target())


def applied(life: LaneLife, command: LaneCommand) -> str:
    before = life.seen
    outcome = lane_outcome(command, before, life.ask(command).seen)
    assert outcome is not None
    assert outcome.applied
    return outcome.text


@pytest.mark.parametrize(
    ("life", "command", "words"),
    [
        (flowing(), RETRY, "nothing to try again"),
        (torn(), RETRY, "nothing to try again"),
        (poisoned(), skip(5), "event 4 does. To see the lane: stepward convoy show ord-1"),
        (poisoned(), skip(2), "event 4 does"),
        (torn(), skip(5), "waits for event 4, not for 5"),
        (torn(), skip(2), "event 2 of ord-1 is behind the lane"),
        (flowing(), skip(4), "does not wait for event 4"),
        (ended(), skip(5), "does not wait for event 5"),
        (flowing(), skip(-1), "does not wait for event u1"),
    ],
)
def test_what_cannot_work_is_refused_at_once_and_by_the_lane(life: LaneLife, command: LaneCommand, words: str) -> None:
    """C6."""
    assert words in refused(life, command)
    before = life.lane
    life.ask(command)
    assert life.lane == before
    assert [entry.applied for entry in life.audit_log.of("ord-1")] == [False]


@pytest.mark.parametrize(
    ("life", "command", "words"),
    [
        (poisoned(), RETRY, "Event 4 was tried again, and still stops the lane: modifies: 3"),
        (poisoned(), skip(4), "Event 4 was skipped; all events that arrived are applied, up to event 5."),
        (poisoned(), replace(4), "Event 4 was replaced; all events that arrived are applied, up to event 5."),
        (torn(), skip(4), "Event 4 was skipped; all events that arrived are applied, up to event 5."),
        (torn(), replace(4, op="modify", modifies=3), "Event 4 was replaced; event 4 stops the lane: modifies: 3"),
        (unsequenced_events(), skip(-1), "Event u1 was skipped; all events that arrived are applied, up to event 4."),
        (unsequenced_events().bring(entry(None, amount=1)), skip(-1), "Event u1 was skipped; event u2 stops the lane"),
    ],
)
def test_the_outcome_of_a_command_says_what_is_next(life: LaneLife, command: LaneCommand, words: str) -> None:
    """C6: what was parked is drained, in order."""
    assert refused(life, command) == ""
    assert applied(life, command).startswith(words)


def test_there_is_no_outcome_before_the_lane_has_acted() -> None:
    life = poisoned()
    assert lane_outcome(RETRY, life.seen, life.seen) is None


def test_a_refusal_by_the_lane_itself_is_reported() -> None:
    """Somebody was faster."""
    life = poisoned()
    before = life.seen
    life.ask(SkipEvent("ord-1", 4, "eve", "twice", "k-0"))
    outcome = lane_outcome(skip(4), before, life.ask(skip(4)).seen)
    assert outcome is not None
    assert not outcome.applied
    assert "is not what the lane waits for" in outcome.text


def test_a_command_is_reported_as_done_before_its_audit_entry_is_there() -> None:
    life = poisoned()
    before = life.seen
    now = life.ask(skip(4)).seen
    outcome = lane_outcome(skip(4), before, type(now)(now.lane, now.following, before.audit_log))
    assert outcome is not None
    assert outcome.applied


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{oops", "is not JSON"),
        ("[1]", "is not an object"),
        (json.dumps(entry(4, order_id="ord-2")), "is of order ord-2, not of ord-1"),
        (json.dumps(entry(5)), "has the sequence 5; it has to be 4"),
        (json.dumps(entry(None)), "has no sequence"),
        (json.dumps(entry(4, "modify")), "modifies: is missing"),
        (json.dumps(entry(4, op="burn")), "not valid: op"),
        (json.dumps(entry(4, text="x" * 400_000)), "the limit is 350,000"),
    ],
)
def test_an_event_that_cannot_replace_another_is_refused_before_it_is_sent(text: str, words: str) -> None:
    with pytest.raises(UserError) as declined:
        replacement(poisoned().lane, 4, text)
    assert words in str(declined.value)


def test_an_event_in_place_of_one_without_sequence_brings_its_own() -> None:
    event = json.dumps(entry(5, amount=9))
    assert json.loads(replacement(unsequenced_events().lane, -1, event)) == json.loads(event)
