import json
from pathlib import Path

import pytest

from stepward.domain.messages import Cancel
from stepward.domain.rejects import Reject
from stepward.domain.wish import Wish
from tests.integration.cli.conftest import Run, Shop
from tests.unit.cli.lives import SUBMITTED, UNDOABLE, Life, failed, recovered, undone

pytestmark = pytest.mark.cloud


def test_messages_are_sent_as_they_are_written(run: Run, shop: Shop, tmp_path: Path) -> None:
    many = [f'{{"orderId": "o-{number}",  "total": 1.50}}' for number in range(23)]
    (tmp_path / "many.jsonl").write_text("\n".join(many))

    result = run("send", str(tmp_path / "many.jsonl"), "-", stdin='[{"orderId": "last"}]')

    assert result.exit_code == 0
    assert "24 of 24 sent" in result.stdout
    assert "stepward show o-0" in result.stdout
    assert sorted(shop.received(shop.connection.deployment.orders_queue_url)) == sorted([*many, '{"orderId": "last"}'])


def test_a_message_that_a_queue_refuses_is_named_and_others_go_through(run: Run, shop: Shop, tmp_path: Path) -> None:
    huge = json.dumps({"orderId": "huge", "note": "x" * 1_100_000})
    (tmp_path / "three.jsonl").write_text(f'{{"orderId": "a"}}\n{huge}\n{{"orderId": "b"}}\n')

    result = run("send", str(tmp_path / "three.jsonl"), "--json")

    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["sent"] == 2
    assert [failure["position"] for failure in found["failed"]] == [f"{tmp_path}/three.jsonl, line 2"]
    # The first try may have brought one of them; an order counts once, however often it is sent.
    orders = shop.received(shop.connection.deployment.orders_queue_url)
    assert set(orders) == {'{"orderId": "a"}', '{"orderId": "b"}'}


def test_a_check_sends_nothing_if_any_message_would_be_rejected(run: Run, shop: Shop, tmp_path: Path) -> None:
    good = {"orderId": "a", "type": "order.submitted", "version": 1, "submittedAt": "2026-01-01T00:00:00Z"}
    (tmp_path / "two.jsonl").write_text(f"{json.dumps(good)}\n{json.dumps(good | {'orderId': 'not an id'})}\n")
    (tmp_path / "one.json").write_text(json.dumps(good))

    refused = run("send", str(tmp_path / "two.jsonl"), "--check")

    assert refused.exit_code == 1
    assert "line 2: orderId" in refused.stderr
    assert shop.received(shop.connection.deployment.orders_queue_url) == []
    assert run("send", str(tmp_path / "one.json"), "--check").exit_code == 0


def test_a_recovered_order_shows_its_timeline(run: Run, shop: Shop) -> None:
    """S12: what was recovered, when and why can be read afterwards."""
    shop.store(recovered())

    result = run("show", "ord-1")

    assert result.exit_code == 0
    assert "counted a failure" in " ".join(result.stdout.split())
    assert "jane-doe-7" not in result.stdout
    assert '"customerId": "jane-doe-7"' in run("show", "ord-1", "--order").stdout


def test_what_to_type_next_is_never_broken_across_lines(run: Run, shop: Shop) -> None:
    shop.store(failed())
    shop.connection.rejects.keep(Reject("m" * 36, "orders", shop.connection.now(), "items", "is missing", "{}"))

    assert f"resubmit ord-1 charge --why ... --stack {shop.target.stack} --endpoint" in run("show", "ord-1").stdout
    for_shop = f"--stack {shop.target.stack} --endpoint {shop.target.endpoint}"
    assert f"--body {for_shop} > order.json" in run("rejects", "m").stdout


def test_an_order_as_json_has_stable_keys(run: Run, shop: Shop) -> None:
    shop.store(failed())

    document = json.loads(run("show", "ord-1", "--json", "--order").stdout)

    assert document["state"] == "Error"
    assert document["submittedAt"] == SUBMITTED
    assert document["order"]["customerId"] == "jane-doe-7"
    reserve, charge = document["steps"]
    assert (reserve["name"], reserve["state"], reserve["result"]) == ("reserve", "Processed", {"reference": "r-7"})
    assert (charge["attempt"], charge["error"], charge["lockedBy"]) == (1, "refused with card_declined", None)
    assert [entry["kind"] for entry in document["history"]] == ["Failed", "Alerted"]
    assert "order" not in json.loads(run("show", "ord-1", "--json").stdout)


def test_an_unknown_order_is_looked_up_in_the_rejects(run: Run, shop: Shop) -> None:
    now = shop.connection.now()
    shop.connection.rejects.keep(Reject("m-77", "orders", now, "items", "is missing", "{}", "ord-9"))

    rejected, unknown = run("show", "ord-9"), run("show", "ord-10")

    assert (rejected.exit_code, unknown.exit_code) == (1, 1)
    assert "stepward rejects m-77" in rejected.stderr
    assert "no order ord-10" in unknown.stderr
    assert len(unknown.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", [["show"], ["cancel", "--why", "ordered twice"]])
def test_an_order_that_was_cancelled_before_it_came_says_so(run: Run, shop: Shop, command: list[str]) -> None:
    """One of an order that nobody knows may be a typing error, and is refused."""
    shop.connection.store.remember(Wish.of(Cancel("ord-9", "the submitter", "bought elsewhere"), shop.connection.now()))

    cancelled, unknown = run(*command, "ord-9"), run(*command, "ord-10")

    assert (cancelled.exit_code, unknown.exit_code) == (1, 1)
    assert "the submitter cancelled it on" in cancelled.stderr
    assert "(bought elsewhere), before it came; when it comes, it ends Undone at once" in cancelled.stderr
    assert "Its submitter can cancel it before it comes" in unknown.stderr


@pytest.mark.parametrize("order", ["", "~plan#1", "a[red]", "x" * 129, "ord-1\n"])
def test_what_cannot_be_an_order_id_is_said_so(run: Run, order: str) -> None:
    result = run("show", order)

    assert result.exit_code == 1
    assert "an order id is 1 to 128" in result.stderr


def test_a_list_is_by_state_newest_first_and_says_when_there_are_more(run: Run, shop: Shop) -> None:
    for number in range(3):
        shop.store(Life(f"open-{number}").start(number))
    shop.store(failed())

    everything = json.loads(run("list", "--json").stdout)
    some = run("list", "--limit", "2")
    errors = json.loads(run("list", "--state", "ERROR", "--json").stdout)

    assert len(everything["orders"]) == 4
    assert everything["more"] is False
    assert "there are more" in some.stdout
    assert [(order["orderId"], order["done"], order["at"]) for order in errors["orders"]] == [("ord-1", 1, ["charge"])]
    assert "has no orders in state Pending" in run("list", "--state", "pending").stdout


def test_what_needs_attention_is_found_by_the_index_oldest_first(run: Run, shop: Shop) -> None:
    """Error, UndoFailed and paused orders, each with age and reasons, and no others."""
    shop.store(failed())
    shop.store(Life("ord-2", UNDOABLE).start(0).pause(500))
    shop.store(Life("ord-3").start(0))
    refused = Life("ord-4", UNDOABLE).start(0).answer("reserve", 1_000).undo(2_500)
    shop.store(refused.answer("charge/undo", 3_000, "account closed"))

    found = json.loads(run("list", "--needs-attention", "--json").stdout)
    text = " ".join(run("list", "--needs-attention").stdout.split())

    assert [(each["orderId"], each["state"], each["reasons"]) for each in found["orders"]] == [
        ("ord-2", "Processing", ["paused by ada: asking"]),
        ("ord-1", "Error", ["charge: refused with card_declined"]),
        ("ord-4", "UndoFailed", ["charge/undo: account closed"]),
    ]
    assert "To see what to do about one: stepward show ord-2" in text
    assert "there are more" in run("list", "--needs-attention", "--limit", "2").stdout
    assert run("list", "--needs-attention", "--state", "error").exit_code == 2


def test_nothing_that_needs_attention_is_said_so(run: Run, shop: Shop) -> None:
    shop.store(recovered())

    assert "No order in stack" in run("list", "--needs-attention").stdout


def test_an_undone_order_as_json_says_what_undid_what(run: Run, shop: Shop) -> None:
    """S17: programs see compensations beside the steps they undo, and no personal data."""
    shop.store(undone())

    document = json.loads(run("show", "ord-1", "--json").stdout)
    listed = json.loads(run("list", "--state", "undone", "--json").stdout)["orders"]

    assert (document["state"], document["undoing"], document["paused"]) == ("Undone", "withdrawn", None)
    assert document["endedAt"] == SUBMITTED + 2_200
    assert [(step["name"], step["undoes"]) for step in document["steps"]] == [
        ("reserve", None),
        ("charge", None),
        ("ship", None),
        ("charge/undo", "charge"),
        ("reserve/undo", "reserve"),
    ]
    assert "replyTo" not in document
    assert [order["orderId"] for order in listed] == ["ord-1"]


def test_a_wrong_state_is_a_usage_error(run: Run) -> None:
    assert run("list", "--state", "lost").exit_code == 2
