"""Kills, lost and doubled messages, what people do, and what the engine shows."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from stepward import Agent, App, Call, Step, Workflow, minutes
from stepward.domain.convoy.commands import SkipEvent
from stepward.domain.convoy.lane import Alerted
from stepward.domain.messages import LaneWaits
from stepward.testing import Engine
from stepward.testing.harness import Harness
from stepward.testing.parts import PARTS
from tests.unit.testing.shop import ALL, ORDER, charge, fulfilment, reserve, run, ship


@pytest.mark.parametrize("part", ["submission", "scheduler", "agent", "bank", "supervisor", ""])
@pytest.mark.parametrize("after", [False, True])
def test_a_process_that_is_killed_is_replaced(engine: Engine, part: str, *, after: bool) -> None:
    engine.kill(part, after=after)
    engine.service(charge).dies_after_effect()
    order = run(engine)

    assert (order.state, engine.effects) == ("Processed", ALL)
    assert engine.pulse.deaths == 1


def test_a_kill_waits_for_its_call(engine: Engine) -> None:
    engine.kill("scheduler", call=4)
    order = run(engine)

    assert order.state == "Processed"
    assert "scheduler-0 dies" in order.timeline
    assert order.timeline.index("Claimed: reserve") < order.timeline.index("scheduler-0 dies")


def test_only_parts_are_killed(engine: Engine) -> None:
    assert len(PARTS) == 6
    with pytest.raises(ValueError, match=", ".join(PARTS)):
        engine.kill("payments")


@pytest.mark.parametrize("queue", ["scheduler", "responses", "agent-bank"])
def test_a_lost_message_is_only_a_delay(engine: Engine, queue: str) -> None:
    engine.lose(queue)
    order = run(engine)

    assert (order.state, engine.effects) == ("Processed", ALL)
    assert engine.clock.seconds > 60


@pytest.mark.parametrize("queue", ["orders", "scheduler", "responses", "agent-bank"])
def test_a_message_that_comes_twice_changes_nothing(engine: Engine, queue: str) -> None:
    engine.double(queue)
    order = run(engine)

    assert (order.state, engine.effects, engine.clock.seconds) == ("Processed", ALL, 0)
    assert "comes again" in order.timeline


def test_a_run_goes_on_until_an_order_is_at_its_step_though_it_is_not_accepted_when_it_begins(engine: Engine) -> None:
    order = engine.submit(fulfilment, ORDER)

    engine.run(until=lambda: order.is_at(charge))
    assert (order.is_at(reserve), order.step(charge).process_state) == (False, "Processing")
    engine.run(until=lambda: order.state == "Processed")
    assert engine.effects == ALL


def test_the_clock_moves_and_all_that_is_due_happens(engine: Engine) -> None:
    engine.service(reserve).takes(30)
    order = engine.submit(fulfilment, ORDER)

    engine.clock.move(29)
    assert order.state == "Processing"
    engine.clock.move(2)

    assert (order.state, engine.clock.seconds) == ("Processed", 31)


def test_a_paused_order_goes_on_when_it_is_resumed(engine: Engine) -> None:
    engine.service(reserve).takes(30)
    order = engine.submit(fulfilment, ORDER)
    engine.clock.move(10)
    order.pause("stock is being counted")
    engine.run()
    assert (order.state, engine.effects) == ("Processing", ["reserve"])

    order.resume("counted")
    engine.run()

    assert (order.state, engine.effects) == ("Processed", ALL)


def test_an_order_that_its_submitter_cancels_is_undone(engine: Engine) -> None:
    engine.service(charge).takes(30)
    order = engine.submit(fulfilment, ORDER)
    engine.clock.move(10)

    order.cancel("bought elsewhere")
    engine.run()

    assert order.state == "Undone"
    assert engine.effects == ["reserve", "reserve/undo"]  # the charge comes after its undo, and its service refuses it


def test_an_order_that_is_not_valid_is_rejected_and_says_why(either: Harness) -> None:
    order = either.submit(fulfilment, {"orderId": "ord-1", "priority": "urgent"})

    either.run()

    assert [reject.field for reject in either.rejects] == ["priority"]
    with pytest.raises(AssertionError, match="was not accepted: priority"):
        _ = order.state


def test_an_order_shows_nothing_before_the_engine_runs(engine: Engine) -> None:
    order = engine.submit(fulfilment, ORDER)

    with pytest.raises(AssertionError, match=r"call engine.run\(\) first"):
        _ = order.state


def test_orders_get_ids_of_their_own(engine: Engine) -> None:
    first, second = engine.submit(fulfilment, {}), engine.submit(fulfilment, {})

    engine.run()

    assert first.order_id != second.order_id
    assert (first.effects, second.effects) == (ALL, ALL)


def test_an_engine_runs_the_workflow_of_its_application_only(engine: Engine) -> None:
    other = Workflow("other", 1, fulfilment.steps)

    with pytest.raises(ValueError, match="no workflow of this application"):
        engine.submit(other, ORDER)


def test_a_ledger_is_split_and_its_events_are_applied(engine: Engine) -> None:
    create = {"orderId": "A", "sequence": 1, "op": "create", "submittedAt": "2026-01-01T00:00:00Z"}
    added = {"orderId": "A", "sequence": 2, "op": "add", "amount": "2.00"}
    engine.send({"ledgerId": "L1", "customerId": "c1", "entries": [create, added]})

    engine.run()

    assert engine.order("A").state == "Processed"
    assert engine.parts.lanes.lanes["A"].last == 2


def test_an_event_and_an_operators_command_reach_their_lane(engine: Engine) -> None:
    engine.send({"orderId": "A", "sequence": 1, "op": "create"})
    engine.run()
    assert [alert.trouble for alert in engine.alerts if isinstance(alert, LaneWaits)] == [Alerted.BLOCKED]

    engine.send(SkipEvent("A", 1, "ada", "not needed", "asked-1"))
    engine.run()

    assert engine.parts.lanes.lanes["A"].last == 1


def test_a_message_that_always_fails_ends_in_the_dead_letter_queue(engine: Engine) -> None:
    for _ in range(5):
        engine.kill("submission")
    engine.submit(fulfilment, ORDER)

    engine.run()

    assert [json.loads(body)["orderId"] for body in engine.dead_letters] == ["ord-1"]


def test_a_message_that_is_no_request_is_rejected(engine: Engine) -> None:
    engine.post("agent-bank", "{")

    engine.run()

    assert [reject.source for reject in engine.rejects] == ["agent-bank"]


def test_an_urgent_order_overtakes_at_an_agent_with_a_priority_queue() -> None:
    express = Agent("express", priority_queue=True)
    send = express.operation(sends)
    workflow = Workflow("express", 1, [Step(send, complete_within=minutes(1))])

    with Engine(App("express", workflows=[workflow])) as engine:
        engine.submit(workflow, {"orderId": "slow"})
        engine.submit(workflow, {"orderId": "fast", "priority": "high"})
        engine.run()

        assert [call.order["orderId"] for call in engine.service(send).calls] == ["fast", "slow"]
        queues = engine.parts.queues
        assert queues.priority_queues["express"].max_receive_count == queues.agents["express"].max_receive_count


def sends(_: Call) -> Mapping[str, Any]:
    return {}


def test_an_engine_needs_no_pytest() -> None:
    with Engine(App("shop", workflows=[fulfilment])) as engine:
        order = engine.submit(fulfilment, ORDER)
        engine.run()
        assert order.state == "Processed"


def test_calls_that_still_wait_end_with_the_engine(engine: Engine) -> None:
    engine.service(ship).takes(100)
    order = engine.submit(fulfilment, ORDER)
    engine.clock.move(10)
    assert engine.pump.sleeping

    engine.close()

    assert not engine.pump.sleeping
    assert order.effects == ["reserve", "charge"]
