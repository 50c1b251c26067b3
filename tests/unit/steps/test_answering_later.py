"""Steps that their service answers later: W6, I4, I11."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from stepward import UNDO, Agent, App, Call, Later, Step, Workflow, days, minutes
from stepward.app.scheduler.tokens import KEYS_LAST, REREAD_AFTER, Tokens
from stepward.domain.coordination.outlook import DeadlineCheck
from stepward.domain.errors import Forged
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Answered, Notice, Outcome, Reply, StepRequest
from stepward.domain.task.decide import decide
from stepward.domain.timing import Timing
from stepward.testing import Engine
from stepward.testing.harness import Order
from stepward.wire.messages import encode
from stepward.wire.order import masked

carrier = Agent("carrier")
DAY = 86_400
DONE, LOST = {"result": {"parcel": "p-7"}}, {"error": "lost"}


@carrier.operation
def ship(call: Call) -> Later:
    assert call.callback, "the service gets it"
    return Later()


@carrier.operation
def recall(_: Call) -> Mapping[str, Any]:
    return {}


@carrier.operation
def bill(call: Call) -> Mapping[str, Any]:
    return {"billed": call.results["ship"]["parcel"]}


def app(**shipping: Any) -> App:
    steps = [
        Step(ship, undo=recall, complete_within=minutes(1), threshold=2, answer_within=days(3), **shipping),
        Step(bill, complete_within=minutes(1)),
    ]
    return App("shop", workflows=[Workflow("parcels", version=1, steps=steps)])


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(app(on_permanent=UNDO)) as made:
        yield made


@pytest.fixture
def order(engine: Engine) -> Order:
    """One that the carrier has taken over."""
    found = engine.submit(engine.app.workflows[0], {"orderId": "1"})  # type: ignore[attr-defined]
    engine.clock.move(30)
    assert found.step(ship).locked_by == "service"
    return found


def test_the_service_ends_the_step(engine: Engine, order: Order) -> None:
    """W6, I11: meanwhile nothing runs; the same answer twice is once."""
    revision = order.task.revision
    engine.clock.move(2 * DAY)
    assert order.task.revision == revision
    for _ in range(2):
        order.answer(ship, {"parcel": "p-7"})
    engine.run()
    assert order.state == "Processed"
    assert order.result(bill) == {"billed": "p-7"}
    assert order.effects == ["ship", "bill"]
    engine.verdict()


def test_a_service_that_refuses_later_has_the_order_undone(engine: Engine, order: Order) -> None:
    """W6: a failure takes the policy of the step."""
    order.answer(ship, error="address unknown")
    engine.run()
    assert order.state == "Undone"


def test_silence_is_a_failure_and_the_next_attempt_follows(engine: Engine, order: Order) -> None:
    """I1. Trap: an order hangs for ever whose callback is lost."""
    engine.clock.move(3 * DAY + 600)
    assert order.step(ship).attempt == 2
    engine.clock.move(3 * DAY + 600)
    assert order.state == "Error"
    assert order.step(ship).error == "its service took it over and never answered, 2 of 2 times"


def test_success_counts_from_any_attempt_and_failure_from_the_current_one(engine: Engine, order: Order) -> None:
    """I4, I11: a service that honours its key answers to the first token it got. Trap: nobody takes that any more."""
    engine.clock.move(3 * DAY + 600)
    order.answer(ship, error="too late", attempt=1)
    engine.clock.move(60)
    assert order.state == "Processing"
    order.answer(ship, {"parcel": "p-7"}, attempt=1)
    engine.run()
    assert order.state == "Processed"


def test_an_answer_in_error_withdraws_the_alert(engine: Engine, order: Order) -> None:
    """I11: what ends a wait counts until the step has ended."""
    engine.clock.move(7 * DAY)
    assert order.state == "Error"
    order.answer(ship, {"parcel": "p-7"})
    engine.run()
    assert order.state == "Processed"


@pytest.mark.parametrize(("error", "more"), [("", 1), ("address unknown", 0)])
def test_an_answer_after_the_undo_began_is_undone_once_more(
    engine: Engine, order: Order, error: str, more: int
) -> None:
    """I6: a late effect leaves nothing behind; where it failed there is none."""
    order.undo()
    engine.clock.move(60)
    assert order.state == "Undone"
    undone = len([call for call in engine.calls if call == "ship/undo"])
    order.answer(ship, {"parcel": "p-7"}, error=error)
    engine.run()
    assert order.state == "Undone"
    assert len([call for call in engine.calls if call == "ship/undo"]) == undone + more


@pytest.mark.parametrize(("error", "follows"), [("", "bill"), ("address unknown", "ship/undo")])
def test_an_answer_that_comes_again_asks_again_for_what_follows(
    engine: Engine, order: Order, error: str, follows: str
) -> None:
    """I1: whoever took it the first time may have died before anything was sent."""
    order.answer(ship, {"parcel": "p-7"}, error=error)
    engine.run(lambda: follows in order.task.steps and order.step(follows).runs)
    plan = engine.parts.store.plans[order.task.plan_id]
    given = Answered("ship", "ship", 1, order.task.created_at, {"parcel": "p-7"}, error)
    again = decide(order.task, plan, given, now=engine.clock.now, by="scheduler-1", timing=Timing())
    asked = [message for message in again.messages if isinstance(message, StepRequest)]
    assert [(each.step, each.token) for each in asked] == [(follows, order.step(follows).token)]
    assert any(isinstance(message, Notice) for message in again.messages) == (not error)


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ([DONE, DONE], []),
        ([DONE, {"result": {"parcel": "p-8"}}], ["completed for attempt 1; the step is Processed"]),
        ([DONE, LOST], ["failed for attempt 1; the step is Processed"]),
        ([LOST, LOST], ["failed for attempt 1; the step is Stopped"]),
    ],
    ids=["the same", "another result", "failed after all", "failed twice"],
)
def test_the_history_says_who_took_a_step_over_and_what_was_answered_in_vain(
    engine: Engine, order: Order, answers: list[dict[str, Any]], says: list[str]
) -> None:
    """W6."""
    for answer in answers:
        order.answer(ship, **answer)
        engine.clock.move(60)
    history = [entry for _, entry in engine.parts.telemetry.history]
    assert [entry.by for entry in history if entry.kind is HistoryKind.HANDED_OVER] == ["scheduler-0"]
    late = [entry.note for entry in history if entry.kind is HistoryKind.LATE_REPLY]
    assert late == [f"its service answered {said}" for said in says]


def test_a_forged_token_costs_nothing_but_a_count(engine: Engine, order: Order) -> None:
    """W6: it is no reject and no alert, and changes nothing."""
    token = engine.services.callbacks["1", "ship"][0]
    content, _, mac = token.rpartition(".")
    flipped = ("A" if mac[0] != "A" else "B") + mac[1:]
    for forged in (f"{content}.{flipped}", "1.x.y", "nonsense", token.replace("1.", "2.", 1), f"{content}."):
        engine.post("orders", json.dumps({"type": "step.completed", "callback": forged}))
    engine.clock.move(60)
    assert order.step(ship).locked_by == "service"
    assert engine.rejects == []
    assert engine.alerts == []


def test_later_without_answer_within_is_an_error_that_says_so() -> None:
    """W6."""
    with Engine(
        App("shop", workflows=[Workflow("parcels", version=1, steps=[Step(ship, complete_within=minutes(1))])])
    ) as e:
        e.service(ship).returns(Later())
        order = e.submit(e.app.workflows[0], {"orderId": "1"})  # type: ignore[attr-defined]
        e.clock.move(60)
        assert order.step(ship).error == "the operation returned Later; give its step an answer_within"


REQUEST = StepRequest("1", "ship", "carrier", "ship", 2, "t", 1, "1/ship", 0, 0)


@pytest.mark.parametrize("other", [{"attempt": 2}, {"idempotency_key": "1/ship/by-elsewhere"}, {"created_at": 7}])
def test_a_genuine_token_of_another_life_effect_or_attempt_changes_nothing(
    engine: Engine, order: Order, other: dict[str, Any]
) -> None:
    """I4, I11: an order id that comes again, or a fallback that has taken over, is not what the service has done."""
    genuine = {"attempt": 1, "created_at": order.task.created_at, **other}
    created_at = genuine.pop("created_at")
    tokens = Tokens(lambda: [b"a key of the twins"], lambda: 0)
    callback = tokens.issue(replace(REQUEST, **genuine), created_at)
    engine.post("orders", json.dumps({"type": "step.completed", "callback": callback}))
    engine.clock.move(60)
    assert order.step(ship).locked_by == "service"


def test_a_second_report_gives_the_service_no_more_time(engine: Engine, order: Order) -> None:
    """I1: else a reply that comes again and again would have the step wait for ever."""
    before = order.step(ship)
    engine.clock.move(DAY)
    engine.post("responses", encode(Reply("1", "ship", before.attempt, before.token or "", Outcome.LATER)))
    engine.clock.move(60)
    assert order.step(ship) == before


def test_a_token_outlives_one_rotation_and_no_more() -> None:
    """W6: two versions of the key are in force; one that was just rotated is found by a second look."""
    keys, now = [b"first"], [0]
    tokens = Tokens(lambda: list(keys), lambda: now[0])
    token = tokens.issue(REQUEST, 7)
    assert len(token) <= 90
    named = tokens.check(token)
    assert (named.order_id, named.effect, named.attempt, named.created_at) == ("1", "ship", 2, 7)
    keys[:] = [b"second", b"first"]
    elsewhere = Tokens(lambda: list(keys), lambda: now[0]).issue(REQUEST, 7)
    now[0] += REREAD_AFTER
    assert tokens.check(elsewhere) == named
    assert tokens.check(token) == named
    keys[:] = [b"third", b"second"]
    now[0] += KEYS_LAST
    with pytest.raises(Forged):
        tokens.check(token)


def test_a_flood_of_forgeries_reads_the_keys_seldom() -> None:
    """W6: a forgery costs at most one read of the keys in ten seconds."""
    reads = []
    tokens = Tokens(lambda: reads.append(1) or [b"key"], lambda: 1_000_000)  # type: ignore[func-returns-value]
    for _ in range(100):
        with pytest.raises(Forged):
            tokens.check("1.WyJ4Il0.aaaa")
    assert len(reads) == 1


@pytest.mark.parametrize("garbage", ["", "1", "1..", "1.é.é", "1.x." + "é" * 22, "1.x." + "y" * 600])
def test_garbage_is_a_forgery(garbage: str) -> None:
    """W6: it is no fault of the code, which would have it come back for ever."""
    with pytest.raises(Forged):
        Tokens(lambda: [b"key"], lambda: 0).check(garbage)


def test_a_token_is_masked_wherever_a_message_is_kept() -> None:
    assert masked('{"callback": "1.abc.def", "x": 1}') == '{"callback": "(a token)", "x": 1}'
    assert masked(r'{"Message": "{\"callback\":\"1.abc.def\"}"}') == r'{"Message": "{\"callback\":\"(a token)\"}"}'


@pytest.mark.parametrize(("untried", "failures"), [(0, 1), (1, 0)])
def test_a_service_whose_answer_meets_a_plan_of_newer_code_is_not_silent(
    engine: Engine, order: Order, untried: int, failures: int
) -> None:
    """D1: the Scheduler has noted that it cannot read the order, and the answer waits for newer code."""
    task, record = order.task, order.step(ship)
    noted = replace(task, steps={**task.steps, "ship": replace(record, untried=untried)})
    late, plan = (record.complete_by or 0) + 60_000, engine.parts.store.plans[task.plan_id]
    freed = decide(noted, plan, DeadlineCheck(), now=late, by="supervisor-1", timing=Timing()).task.steps["ship"]
    assert (freed.process_state, freed.failure_count) == ("Pending", failures)
