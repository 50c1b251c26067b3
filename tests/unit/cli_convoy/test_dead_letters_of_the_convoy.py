"""What an undelivered ledger or order event is, and whether it is stale."""

import json
import re
from typing import Any

import pytest

from stepward.adapters.sqs.fifo_ids import fifo_id
from stepward.app.ledger.split import progress_of
from stepward.domain.convoy.commands import SkipEvent
from stepward.domain.convoy.lane import LaneRules
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.key import group
from stepward.operator.dead_letters.of_convoy import opened_event, opened_ledger
from stepward.operator.dead_letters.of_tasks import DeadLetter
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.wire.convoy import encode_command
from stepward.wire.ledger import Ledger, decode_ledger
from tests.factories import T0
from tests.unit.cli_convoy.lane_lives import LaneLife, entry, flowing, poisoned

LEDGER: dict[str, Any] = {"ledgerId": "l-1", "customerId": "shop", "entries": [entry(1, "create")]}


def dead_letter(content: object, group: str = "ord-1") -> DeadLetter:
    body = content if isinstance(content, str) else json.dumps(content)
    return DeadLetter("m-1", body, T0, 20, "handle", group)


def judged(life: LaneLife, content: object) -> tuple[str, str, str]:
    found = opened_event(dead_letter(content), life.lanes)
    return found.what, found.judgement.staleness, found.judgement.reason


UNKNOWN = "the lane has received no event of the order"
SKIP, COMMAND = SkipEvent("ord-1", 4, "ada", "twice", "k-1"), "an operator's command to the lane"


@pytest.mark.parametrize(
    ("life", "content", "expected"),
    [
        # FIELD_CASES 20: what the lane still lacks goes back.
        (flowing(), entry(4, amount=1), ("event 4: add", "current", "the lane has not received it")),
        (flowing(), entry(2, amount=5), ("event 2: add", "stale", "the lane has received it")),
        (flowing(), entry(1, "create", "ord-2"), ("event 1: create", "current", UNKNOWN)),
        # C5: another event of a known sequence goes back and becomes a reject.
        (flowing(), entry(2, amount=99), ("event 2: add", "current", "the lane will reject it: .*")),
        (poisoned(), entry(5, amount=7), ("event 5: add", "stale", ".*")),
        # The command line knows no shop's own formats.
        (flowing(), {"resource": {"id": "x"}}, ("an order event", "current", ".*")),
        # C6: a command that was applied is stale.
        (poisoned(), encode_command(SKIP), (COMMAND, "current", "the lane will decide")),
        (poisoned().ask(SKIP), encode_command(SKIP), (COMMAND, "stale", "the lane has applied it")),
    ],
)
def test_an_order_event_or_a_command_is_compared_with_its_lane(
    life: LaneLife, content: object, expected: tuple[str, str, str]
) -> None:
    *described, reason = judged(life, content)
    assert described == list(expected[:2])
    assert re.fullmatch(expected[2], reason)


def test_without_numbers_an_entry_that_came_is_known_by_its_ledger() -> None:
    """C5."""
    life = LaneLife(LaneRules(sequenced=False))
    brought: dict[str, Any] = {"ledgerId": "l-1", "index": 3}
    life.bring(entry(None, "create", **brought))
    assert judged(life, entry(None, **brought))[1:] == ("stale", "the lane has received entry 3 of ledger l-1")
    assert judged(life, entry(None, ledgerId="l-1", index=4))[1] == "current"


@pytest.mark.parametrize("order_id", ["ord-1", "sha256-" + "0" * 64])
def test_a_dead_letter_goes_back_under_the_very_group_that_it_had(order_id: str) -> None:
    """FIELD_CASES 21: also where the group is a hash, which must not be hashed again."""
    found = opened_event(dead_letter(entry(4, order_id=order_id), group(order_id)), flowing().lanes)
    assert fifo_id(found.group) == group(order_id)
    foreign = opened_event(dead_letter(entry(4), "another-group"), flowing().lanes)
    assert foreign.group == "another-group"


def test_a_ledger_is_compared_with_its_progress() -> None:
    shared_records = MemorySharedRecords()
    ledger = decode_ledger(json.dumps(LEDGER))
    assert isinstance(ledger, Ledger)
    progress = {"digest": ledger.digest, "version": "", "begun_at": T0, "index": 7, "offset": 0, "done": False}

    def judged_with(**changes: Any) -> tuple[str, str]:
        before = shared_records.read("ledger/shop|l-1")
        following = SharedRecord("ledger/shop|l-1", before.revision + 1 if before else 1, progress | changes)
        assert shared_records.write(following, replaces=before)
        found = opened_ledger(dead_letter(LEDGER, "shop"), shared_records)
        assert (found.what, found.group) == ("ledger l-1 of shop", "shop")
        return found.judgement.staleness, found.judgement.reason

    assert opened_ledger(dead_letter(LEDGER, "shop"), shared_records).judgement.staleness == "current"
    assert judged_with() == ("current", "the ledger function will go on at entry 7")
    assert judged_with(digest="other")[0] == "current"
    assert judged_with(done=True) == ("stale", "its 7 entries were sent to their lanes")
    assert judged_with(surplus=1)[0] == "current"  # newer code added it
    progress.pop("digest")
    assert judged_with()[0] == "corrupt"
    assert progress_of(MemorySharedRecords(), "shop", "l-1") is None


def test_a_malformed_ledger_goes_back_to_be_rejected() -> None:
    found = opened_ledger(dead_letter("{oops", "shop"), MemorySharedRecords())
    assert found.judgement.staleness == "current"
    assert "will reject it" in found.judgement.reason
    assert found.group == "shop"
