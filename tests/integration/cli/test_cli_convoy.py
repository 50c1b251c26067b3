import json
from pathlib import Path
from typing import Any

import pytest

from stepward.domain.convoy.commands import SkipEvent
from tests.integration.cli.conftest import Run, Shop
from tests.unit.cli_convoy.lane_lives import LaneLife, entry

pytestmark = pytest.mark.cloud
POISON = entry(4, "modify", modifies=3, amount=1)


def poisoned(shop: Shop) -> LaneLife:
    first = (entry(1, "create"), entry(2, amount=5), entry(3, "modify", modifies=2, amount=6))
    return shop.lane().bring(*first, POISON, entry(5, amount=7))


def document(run: Run, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("convoy", *words, "--json").stdout)
    return found


def states(run: Run) -> list[tuple[str, str]]:
    return [(each["event"], each["state"]) for each in document(run, "show", "ord-1")["events"]]


def test_the_lanes_that_wait_are_listed_with_their_reasons(run: Run, shop: Shop) -> None:
    """C6: visibly."""
    assert "No lane in stack" in run("convoy", "list").stdout
    poisoned(shop)
    shop.lane().bring(entry(1, "create", "ord-2"))

    (lane,) = document(run, "list")["lanes"]
    assert (lane["orderId"], lane["state"], lane["event"], lane["last"]) == ("ord-1", "blocked", "4", 3)
    text = run("convoy", "list").stdout
    assert "event 4: modifies: 3 is no earlier create" in " ".join(text.split())
    assert "stepward convoy show ord-1" in text


def test_a_lane_is_shown_with_its_balance_and_what_to_type(run: Run, shop: Shop) -> None:
    poisoned(shop)

    assert states(run)[2:] == [("3", "applied"), ("4", "stops the lane"), ("5", "waits")]
    (added,) = document(run, "show", "ord-1")["balance"]["transactions"]
    assert added["details"] == {"amount": 6}
    typed_next = f"stepward convoy skip ord-1 4 --why ... --stack {shop.target.stack}"
    assert typed_next in run("convoy", "show", "ord-1").stdout


def test_skip_goes_on_and_says_how_far(run: Run, shop: Shop) -> None:
    """C6: what waited is applied in sequence, and the audit log says who and why."""
    life = poisoned(shop)
    with shop.convoy_at_work(life):
        result = run("convoy", "skip", "ord-1", "4", "--why", "typed twice", "--who", "ada")

    assert result.exit_code == 0, result.stderr
    assert "Event 4 was skipped; all events that arrived are applied, up to event 5." in result.stdout
    assert states(run)[3:] == [("4", "skipped"), ("5", "applied")]
    (entered,) = json.loads(run("audit-log", "ord-1", "--json").stdout)["entries"]
    assert (entered["command"], entered["step"], entered["who"]) == ("convoy skip", "event 4", "ada")
    assert document(run, "list")["lanes"] == []


def test_an_event_that_never_came_is_skipped_and_comes_too_late_afterwards(run: Run, shop: Shop) -> None:
    """C5: its late arrival is rejected, and the lane can still be read."""
    life = shop.lane().bring(entry(1, "create"), entry(3, amount=7))
    with shop.convoy_at_work(life):
        found = document(run, "skip", "ord-1", "2", "--why", "lost at its source")
    assert (found["outcome"], found["last"]) == ("applied", 3)

    life.bring(entry(2, amount=5))
    assert states(run) == [("1", "applied"), ("2", "skipped"), ("3", "applied")]
    assert ["lost at its source" in each.reason for each in life.world.rejects.newest(5)] == [True]


def test_replace_takes_the_event_of_the_file(run: Run, shop: Shop, tmp_path: Path) -> None:
    """C6."""
    life = poisoned(shop)
    file = tmp_path / "corrected.json"
    file.write_text(json.dumps(entry(4, "modify", modifies=2, amount=8)))
    with shop.convoy_at_work(life):
        found = document(run, "replace", "ord-1", "4", str(file), "--why", "named the wrong one", "--who", "ada")

    assert (found["outcome"], found["event"], found["state"], found["last"]) == ("applied", "4", "open", 5)
    transactions = document(run, "show", "ord-1")["balance"]["transactions"]
    assert [each["details"] for each in transactions] == [{"amount": 8}, {"amount": 7}]


def test_retry_says_that_the_event_still_stops_the_lane(run: Run, shop: Shop) -> None:
    life = poisoned(shop)
    with shop.convoy_at_work(life):
        result = run("convoy", "retry", "ord-1", "--why", "hoping")
    assert "Event 4 was tried again, and still stops the lane: modifies: 3" in result.stdout


def test_what_cannot_work_is_refused_and_nothing_is_sent(run: Run, shop: Shop, tmp_path: Path) -> None:
    poisoned(shop)
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(entry(5)))

    assert "event 4 does" in run("convoy", "skip", "ord-1", "5", "--why", "x").stderr
    assert "it has to be 4" in run("convoy", "replace", "ord-1", "4", str(wrong), "--why", "x").stderr
    assert "received no event of order ord-9" in run("convoy", "retry", "ord-9", "--why", "x").stderr
    assert run("convoy", "skip", "ord-1", "four", "--why", "x").exit_code == 2
    assert run("convoy", "skip", "ord-1", "5", "--why", "x").exit_code == 1
    assert shop.received(shop.connection.deployment.order_events_queue_url) == []


def test_a_command_that_comes_too_late_is_refused_by_the_lane(run: Run, shop: Shop) -> None:
    """Two operators at once: the second one learns that the event was skipped."""
    life = poisoned(shop)
    with shop.convoy_at_work(life, before=lambda: life.ask(SkipEvent("ord-1", 4, "eve", "twice", "k-eve"))):
        result = run("convoy", "skip", "ord-1", "4", "--why", "typed twice", "--who", "ada")

    assert result.exit_code == 1
    assert "refused to skip: event 4 is not what the lane waits for" in result.stderr


def test_a_command_that_nobody_takes_is_reported_as_asked(run: Run, shop: Shop) -> None:
    poisoned(shop)
    found = document(run, "skip", "ord-1", "4", "--why", "typed twice", "--no-wait")
    assert found["outcome"] == "asked"
    assert len(shop.received(shop.connection.deployment.order_events_queue_url)) == 1


def test_the_same_command_typed_twice_is_two_messages(run: Run, shop: Shop) -> None:
    """FIELD_CASES 16: a deliberate repetition is not swallowed by the queue."""
    poisoned(shop)
    for _ in range(2):
        run("convoy", "skip", "ord-1", "4", "--why", "typed twice", "--no-wait")
    assert len(shop.received(shop.connection.deployment.order_events_queue_url)) == 2


def test_an_order_that_is_only_a_lane_yet_says_where_to_look(run: Run, shop: Shop) -> None:
    """A create that stops its lane has made no order."""
    shop.lane().bring(entry(1, "create", submittedAt="yesterday"))
    assert "stepward convoy show ord-1" in run("show", "ord-1").stderr
    assert "Nobody has given a command for order ord-1" in run("audit-log", "ord-1").stdout
