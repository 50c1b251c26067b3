import json
from typing import Any

import pytest

from stepward.domain.messages import Outcome, Reply, StepRequest, Undo
from stepward.domain.task.record import Loaded
from stepward.wire.messages import decode_for_scheduler, encode
from tests.factories import order_text
from tests.integration.cli.conftest import Run, Shop
from tests.unit.cli.lives import UNDOABLE, Life, failed, shipping, undone

pytestmark = pytest.mark.cloud


def dead(shop: Shop, queue: str) -> str:
    return shop.connection.deployment.dead_letters[queue].dead


def source(shop: Shop, queue: str) -> str:
    return shop.connection.deployment.dead_letters[queue].source


def bury(shop: Shop, queue: str, *bodies: str) -> None:
    for body in bodies:
        shop.sqs.send_message(QueueUrl=dead(shop, queue), MessageBody=body)


def listed(run: Run) -> dict[str, int]:
    found = json.loads(run("dead-letters", "list", "--json").stdout)["queues"]
    return {each["queue"]: each["messages"] for each in found}


def actions(run: Run, queue: str, *options: str) -> list[str]:
    told: dict[str, Any] = json.loads(run("dead-letters", "redrive", queue, "--json", *options).stdout)
    return sorted(each["action"] for each in told["messages"])


def old_request(loaded: Loaded) -> str:
    """The field case: the first request of a step that was done meanwhile."""
    record = loaded.task.steps["reserve"]
    asked = StepRequest(
        "ord-1", "reserve", "inventory", "reserve", 1, record.token or "", 1, "ord-1/reserve", record.started_at or 0, 1
    )
    return encode(asked)


def test_each_queue_tells_how_much_was_not_delivered(run: Run, shop: Shop) -> None:
    bury(shop, "orders", order_text("a"), order_text("b"))

    found = listed(run)
    assert found.pop("orders") == 2
    assert found == dict.fromkeys(["scheduler", "responses", "agent-inventory", "ledgers", "order-events"], 0)
    assert "stepward dead-letters show orders" in run("dead-letters", "list").stdout


def test_a_look_tells_what_each_message_is_and_takes_none_away(run: Run, shop: Shop) -> None:
    shop.keep(failed())
    bury(shop, "scheduler", encode(Undo("ord-1", "ada", "withdrawn")), "{oops")

    for _ in range(2):
        found = json.loads(run("dead-letters", "show", "scheduler", "--json").stdout)["messages"]
        assert sorted((each["what"], each["staleness"]) for each in found) == [
            ("a corrupt message", "corrupt"),
            ("the command to undo", "current"),
        ]
    assert "ord-1: the command to undo" in run("dead-letters", "show", "scheduler").stdout
    assert listed(run)["scheduler"] == 2


def test_orders_go_back_to_the_orders(run: Run, shop: Shop) -> None:
    """tl_poison_vs_throttle: an order that was only throttled is taken again, uncounted."""
    bury(shop, "orders", order_text("ord-7"))

    assert actions(run, "orders") == ["sent"]
    assert shop.received(source(shop, "orders")) == [order_text("ord-7")]
    assert listed(run)["orders"] == 0


def test_what_is_current_is_sent_and_what_is_stale_is_not(run: Run, shop: Shop) -> None:
    """Case 77: redriving compares with the order, and replays nothing that is over."""
    shop.keep(Life("ord-1", UNDOABLE).start(0))
    shop.keep(undone_as("ord-2"))
    undo = Undo("ord-1", "ada", "withdrawn")
    bury(shop, "scheduler", encode(undo), encode(Undo("ord-2", "ada", "again")), "{oops")

    assert actions(run, "scheduler") == ["kept", "kept", "sent"]
    assert [decode_for_scheduler(body) for body in shop.received(source(shop, "scheduler"))] == [undo]
    assert actions(run, "scheduler", "--drop-stale") == ["dropped", "kept"]
    assert shop.received(source(shop, "scheduler")) == []
    assert listed(run)["scheduler"] == 1


def undone_as(order_id: str) -> Life:
    life = Life(order_id, UNDOABLE).start(0).answer("reserve", 1_000).undo(2_000)
    return life.answer("charge/undo", 2_100).answer("reserve/undo", 2_200)


def test_a_request_of_a_step_that_was_done_is_never_replayed(run: Run, shop: Shop) -> None:
    """resubmit_done_step: no second call of the remote service; the reason is told."""
    shop.keep(shipping())
    bury(shop, "agent-inventory", old_request(shipping().loaded))

    result = run("dead-letters", "redrive", "agent-inventory")

    assert "0 sent again, 0 dropped, 1 kept." in result.stdout
    assert "reserve is Processed at attempt 1" in " ".join(result.stdout.split())
    (told,) = json.loads(run("dead-letters", "show", "agent-inventory", "--json").stdout)["messages"]
    assert (told["staleness"], told["code"]) == ("stale", "moved-on")
    assert "--drop-stale" in result.stdout
    assert shop.received(source(shop, "agent-inventory")) == []


def test_the_answer_of_a_fenced_attempt_is_sent_again(run: Run, shop: Shop) -> None:
    """I6: an effect that came after its undo must be heard of."""
    shop.keep(undone())
    token = undone().task.steps["charge"].token or ""
    bury(shop, "responses", encode(Reply("ord-1", "charge", 1, token, Outcome.OK, {"reference": "r"})))

    assert actions(run, "responses") == ["sent"]


def test_one_message_is_redriven_by_its_id(run: Run, shop: Shop) -> None:
    bury(shop, "orders", order_text("a"), order_text("b"))
    found = json.loads(run("dead-letters", "show", "orders", "--json").stdout)["messages"]
    wanted = next(each["messageId"] for each in found if each["orderId"] == "b")

    assert actions(run, "orders", "--id", wanted) == ["sent"]
    assert shop.received(source(shop, "orders")) == [order_text("b")]
    assert listed(run)["orders"] == 1
    assert "has an id that begins with nothing" in run("dead-letters", "redrive", "orders", "--id", "nothing").stderr


def test_a_queue_that_is_not_there_or_empty_is_said_so(run: Run) -> None:
    assert "its queues: orders, scheduler, responses" in run("dead-letters", "show", "paint").stderr
    assert "orders has no undelivered messages" in run("dead-letters", "show", "orders").stdout
    assert "orders has no undelivered messages" in run("dead-letters", "redrive", "orders").stdout


def test_on_a_queue_without_order_an_unreadable_message_holds_up_no_other_of_its_tenant(run: Run, shop: Shop) -> None:
    """S21: fair queues name the tenant as a group, and promise no order within it."""
    shop.keep(Life("ord-1", UNDOABLE).start(0))
    for body in ("{oops", encode(Undo("ord-1", "ada", "withdrawn"))):
        shop.sqs.send_message(QueueUrl=dead(shop, "scheduler"), MessageBody=body, MessageGroupId="shop-a")

    assert actions(run, "scheduler") == ["kept", "sent"]
