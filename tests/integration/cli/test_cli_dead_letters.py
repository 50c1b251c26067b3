import json
from typing import Any

import pytest

from stepward.domain.coordination.breaker import AgentPause
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.messages import Outcome, Reply, StepRequest, Undo
from stepward.testing.sqs.source import SqsSource
from stepward.wire.messages import decode_for_scheduler, encode
from tests.emptied import emptied
from tests.factories import order_text
from tests.integration.cli.conftest import Run, Shop
from tests.unit.cli.lives import UNDOABLE, Life, failed, shipping, undone
from tests.unit.cli_convoy.lane_lives import entry

pytestmark = pytest.mark.cloud


def source(shop: Shop, queue: str) -> str:
    return shop.connection.deployment.dead_letters[queue].source


def listed(run: Run) -> dict[str, int]:
    found = json.loads(run("dead-letters", "list", "--json").stdout)["queues"]
    return {each["queue"]: each["messages"] for each in found}


def shown(run: Run, queue: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("dead-letters", "show", queue, "--json").stdout)
    return found


def actions(run: Run, queue: str, *options: str) -> list[str]:
    found = json.loads(run("dead-letters", "redrive", queue, "--json", *options).stdout)["messages"]
    return [each["action"] for each in found]


def test_each_queue_says_how_many_messages_were_not_delivered(run: Run, shop: Shop) -> None:
    shop.bury("orders", order_text("a"), order_text("b"))

    found = listed(run)
    assert found.pop("orders") == 2
    assert found == dict.fromkeys(["scheduler", "responses", "agent-inventory", "ledgers", "order-events"], 0)
    assert "stepward dead-letters show orders" in run("dead-letters", "list").stdout


def test_showing_a_queue_says_what_each_message_is_and_removes_none(run: Run, shop: Shop) -> None:
    shop.store(failed())
    shop.bury("scheduler", encode(Undo("ord-1", "ada", "withdrawn")), "{oops")

    for _ in range(2):
        found = shown(run, "scheduler")["messages"]
        assert sorted((each["what"], each["staleness"]) for each in found) == [
            ("a corrupt message", "corrupt"),
            ("the command to undo", "current"),
        ]
    assert "ord-1: the command to undo" in run("dead-letters", "show", "scheduler").stdout
    assert listed(run)["scheduler"] == 2


def test_orders_go_back_to_the_orders(run: Run, shop: Shop) -> None:
    """tl_poison_vs_throttle: an order that was only throttled is taken again, uncounted."""
    shop.bury("orders", order_text("ord-7"))

    assert actions(run, "orders") == ["sent"]
    assert shop.received(source(shop, "orders")) == [order_text("ord-7")]
    assert listed(run)["orders"] == 0


def test_a_tenant_keeps_its_fair_share_of_a_queue(run: Run, shop: Shop) -> None:
    """D4, S21: its messages stay together when they are sent again."""
    shop.bury("orders", order_text("ord-7"), group="acme")

    assert actions(run, "orders") == ["sent"]
    (received,) = emptied(SqsSource.at(shop.sqs, source(shop, "orders")))
    assert received.attributes["MessageGroupId"] == "acme"


def test_what_is_current_is_sent_and_what_is_stale_is_not(run: Run, shop: Shop) -> None:
    """Case 77: redriving compares with the order, and replays nothing that is over."""
    shop.store(Life("ord-1", UNDOABLE).start(0))
    second = Life("ord-2", UNDOABLE).start(0).answer("reserve", 1_000).undo(2_000)
    shop.store(second.answer("charge/undo", 2_100).answer("reserve/undo", 2_200))
    undo = Undo("ord-1", "ada", "withdrawn")
    shop.bury("scheduler", encode(undo), encode(Undo("ord-2", "ada", "again")), "{oops")

    assert sorted(actions(run, "scheduler")) == ["kept", "kept", "sent"]
    assert [decode_for_scheduler(body) for body in shop.received(source(shop, "scheduler"))] == [undo]
    assert sorted(actions(run, "scheduler", "--drop-stale")) == ["dropped", "kept"]
    assert shop.received(source(shop, "scheduler")) == []
    assert listed(run)["scheduler"] == 1


def test_a_request_of_a_step_that_was_done_is_never_replayed(run: Run, shop: Shop) -> None:
    """resubmit_done_step: no second call of the remote service; the reason is shown."""
    shop.store(shipping())
    record = shipping().task.steps["reserve"]
    named = ("ord-1", "reserve", "inventory", "reserve", 1, record.token or "", 1, "ord-1/reserve")
    shop.bury("agent-inventory", encode(StepRequest(*named, record.started_at or 0, 1)))

    result = run("dead-letters", "redrive", "agent-inventory")

    assert "0 sent again, 0 dropped, 1 kept." in result.stdout
    assert "reserve is Processed at attempt 1" in " ".join(result.stdout.split())
    (found,) = shown(run, "agent-inventory")["messages"]
    assert (found["staleness"], found["code"]) == ("stale", "moved-on")
    assert "--drop-stale" in result.stdout
    assert shop.received(source(shop, "agent-inventory")) == []


def test_a_request_is_held_back_while_its_agent_leaves_its_service_alone(run: Run, shop: Shop) -> None:
    """O2: one of newer code, which goes back whatever it is."""
    request = StepRequest("ord-1", "reserve", "inventory", "reserve", 1, "token", 1, "ord-1/reserve", 0, 1)
    shop.bury("agent-inventory", json.dumps(json.loads(encode(request)) | {"type": "step.preview"}))
    shop.connection.breakers.pause("inventory", AgentPause("eve", "strike", 1))

    said = " ".join(run("dead-letters", "redrive", "agent-inventory").stdout.split())
    assert "0 sent again, 0 dropped, 0 kept. 1 held back: their agent leaves its service alone for now." in said
    shop.connection.breakers.resume("inventory", 2)
    assert actions(run, "agent-inventory") == ["sent"]


def test_the_answer_of_a_fenced_attempt_is_sent_again(run: Run, shop: Shop) -> None:
    """I6: an effect that came after its undo must be heard of."""
    shop.store(undone())
    token = undone().task.steps["charge"].token or ""
    shop.bury("responses", encode(Reply("ord-1", "charge", 1, token, Outcome.OK, {"reference": "r"})))

    assert actions(run, "responses") == ["sent"]


def test_one_message_is_redriven_by_its_id(run: Run, shop: Shop) -> None:
    shop.bury("orders", order_text("a"), order_text("b"))
    found = shown(run, "orders")["messages"]
    wanted = next(each["messageId"] for each in found if each["orderId"] == "b")

    assert actions(run, "orders", "--id", wanted) == ["sent"]
    assert shop.received(source(shop, "orders")) == [order_text("b")]
    assert listed(run)["orders"] == 1
    assert "has an id that begins with nothing" in run("dead-letters", "redrive", "orders", "--id", "nothing").stderr


def test_those_that_match_are_redriven_and_a_dry_run_touches_none(run: Run, shop: Shop) -> None:
    """O2: by their order, by what they are, and by when they were sent."""
    shop.bury("orders", order_text("a"), order_text("b"))

    where = ("--where", "id=b reason~'an order' since=1h")
    assert actions(run, "orders", *where, "--dry-run") == ["sent"]
    assert "Nothing was done" in run("dead-letters", "redrive", "orders", *where, "--dry-run").stdout
    assert listed(run)["orders"] == 2
    assert actions(run, "orders", *where) == ["sent"]
    assert shop.received(source(shop, "orders")) == [order_text("b")]
    assert "is no condition" in run("dead-letters", "redrive", "orders", "--where", "b").stderr


def test_a_queue_that_is_not_there_or_empty_is_said_so(run: Run) -> None:
    assert "its queues: orders, scheduler, responses" in run("dead-letters", "show", "paint").stderr
    assert "orders has no undelivered messages" in run("dead-letters", "show", "orders").stdout
    assert "orders has no undelivered messages" in run("dead-letters", "redrive", "orders").stdout


def test_on_a_queue_without_order_a_corrupt_message_delays_no_other_of_its_tenant(run: Run, shop: Shop) -> None:
    """S21: fair queues name the tenant as a group, and promise no order within it."""
    shop.store(Life("ord-1", UNDOABLE).start(0))
    shop.bury("scheduler", "{oops", encode(Undo("ord-1", "ada", "withdrawn")), group="shop-a")

    assert sorted(actions(run, "scheduler")) == ["kept", "sent"]


def waiting(shop: Shop, queue: str) -> list[dict[str, Any]]:
    found = emptied(SqsSource.at(shop.sqs, source(shop, queue)))
    return [{"body": json.loads(message.body)} | dict(message.attributes) for message in found]


def test_the_events_of_an_order_go_back_in_sequence_however_many(run: Run, shop: Shop) -> None:
    """FIELD_CASES 20, 21: more than a queue gives at once, each under its group and a new id."""
    events = [entry(position, amount=position) for position in range(2, 27)]
    shop.bury("order-events", *map(json.dumps, events), group="ord-1")

    assert actions(run, "order-events") == ["sent"] * 25
    found = waiting(shop, "order-events")
    assert [each["body"]["sequence"] for each in found] == list(range(2, 27))
    assert {each["MessageGroupId"] for each in found} == {"ord-1"}
    assert all(not each["MessageDeduplicationId"].startswith("first-") for each in found)
    assert actions(run, "order-events") == []


def test_what_the_lane_has_received_stays_or_is_dropped(run: Run, shop: Shop) -> None:
    """FIELD_CASES 77."""
    shop.lane().bring(entry(1, "create"), entry(2, amount=2))
    had = (json.dumps(entry(position, amount=position)) for position in (2, 3))
    shop.bury("order-events", *had, group="ord-1")

    assert actions(run, "order-events", "--drop-stale") == ["dropped", "sent"]
    assert [each["body"]["sequence"] for each in waiting(shop, "order-events")] == [3]


def test_showing_a_queue_of_events_removes_none_and_says_that_it_may_not_show_all(run: Run, shop: Shop) -> None:
    shop.bury("order-events", *(json.dumps(entry(position)) for position in range(1, 15)), group="ord-1")
    for _ in range(2):
        found = shown(run, "order-events")
        assert [each["what"] for each in found["messages"]] == [f"event {position}: add" for position in range(1, 11)]
        assert found["more"] is True


def test_ledgers_go_back_to_their_customers_group(run: Run, shop: Shop) -> None:
    """C2: the ledgers of one customer stay in their order."""
    bodies = [{"ledgerId": f"l-{n}", "customerId": "shop", "entries": [entry(1, "create")]} for n in range(3)]
    shop.bury("ledgers", *map(json.dumps, bodies), group="shop")

    assert actions(run, "ledgers") == ["sent"] * 3
    found = waiting(shop, "ledgers")
    assert [each["body"]["ledgerId"] for each in found] == ["l-0", "l-1", "l-2"]
    assert {each["MessageGroupId"] for each in found} == {"shop"}


def test_no_ledger_of_a_customer_passes_a_corrupt_one(run: Run, shop: Shop) -> None:
    """C2: other customers' ledgers go on."""
    damaged = SharedRecord("ledger/shop|l-0", 1, {"surplus": 1})
    assert shop.connection.shared_records.write(damaged, replaces=None)
    for customer in ("shop", "other"):
        bodies = [{"ledgerId": f"l-{n}", "customerId": customer, "entries": [entry(1, "create")]} for n in range(2)]
        shop.bury("ledgers", *map(json.dumps, bodies), group=customer)

    assert sorted(actions(run, "ledgers")) == ["kept", "kept", "sent", "sent"]
    assert {each["MessageGroupId"] for each in waiting(shop, "ledgers")} == {"other"}


def test_who_wanted_a_redrive_and_why_is_in_the_audit_logs(run: Run, shop: Shop) -> None:
    """O2: once for each order in a run, with the name of the bulk, and once for the queue; what is dropped, too."""
    shop.store(failed())
    lost = Reply("ord-1", "charge", 1, "an older token", Outcome.OK)
    shop.bury("responses", encode(lost), encode(lost))
    shop.bury("orders", order_text("a"), order_text("a"))
    told = ("--why", "the bank is back", "--who", "ada", "--name", "bank")

    assert actions(run, "responses", "--drop-stale", *told) == ["dropped"] * 2
    assert actions(run, "orders", *told) == ["sent"] * 2

    for order, command in (("ord-1", "drop responses"), ("a", "redrive orders")):
        (entry,) = json.loads(run("audit-log", order, "--json").stdout)["entries"]
        assert (entry["command"], entry["who"], entry["why"]) == (command, "ada", "the bank is back (bulk bank)")
    shop.bury("orders", order_text("b"))
    assert "by ada: the bank is back (bulk bank)." in run("dead-letters", "show", "orders").stdout
