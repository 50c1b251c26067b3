"""W7, I4: a service that honours no idempotency key is asked before a call is repeated, and before it is undone."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from stepward import UNDO, Agent, App, Call, Step, Workflow, minutes, seconds
from stepward.app.agent.call_rows import CallRows
from stepward.app.agent.serve import Serve
from stepward.domain.coordination.call_row import CallRow, Claim, Turn
from stepward.domain.errors import NotUnderstood, RetryLater, Transient, WorkflowError
from stepward.domain.workflow.plan import Plan
from stepward.testing import Engine, crash_points
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.testing.services import Service
from stepward.wire.messages import decode_for_scheduler, encode
from tests.contract.kept.samples import CHECKED
from tests.factories import MINUTE, SECOND, T0, sequence
from tests.unit.engine.troubled import TroubledRecords
from tests.unit.engine.world import World, operation


@dataclass
class Bank:
    """It charges as often as it is called; `charges` are those that stand, by order."""

    charges: dict[str, int] = field(default_factory=dict)
    refunds: int = 0

    def charge(self, call: Call) -> Mapping[str, Any]:
        self.charges[call.idempotency_key] = self.charges.get(call.idempotency_key, 0) + 1
        return {"charge": "c-1"}

    def find_charge(self, call: Call) -> Mapping[str, Any] | None:
        return {"charge": "c-1"} if self.charges.get(call.idempotency_key) else None

    def refund(self, call: Call) -> Mapping[str, Any]:
        self.charges[call.idempotency_key.removesuffix("/undo")] -= 1
        self.refunds += 1
        return {}


bank = Bank()
payments = Agent("payments", settle=seconds(3))
charge, refund, find_charge = map(payments.operation, (bank.charge, bank.refund, bank.find_charge))
ship = replace(Agent("shipping").operation(lambda _: {}), name="ship")
last = Step(ship, complete_within=minutes(1), on_permanent=UNDO)
pay = Step(charge, undo=refund, check=find_charge, complete_within=minutes(1), on_timeout=UNDO)
fulfilment = Workflow("fulfilment", 1, [pay, last])
app = App("shop", [fulfilment])


@pytest.fixture
def engine() -> Iterator[Engine]:
    bank.charges.clear()
    with Engine(app) as engine:
        yield engine


def ends_well(engine: Engine) -> None:
    """Run it to its end, at which all invariants hold."""
    engine.run()
    engine.verdict()


@pytest.mark.parametrize(
    ("trouble", "calls"),
    [
        (lambda _: None, ["charge", "ship"]),
        (Service.dies_after_effect, ["charge", "charge?", "ship"]),
        (Service.dies_before_effect, ["charge", "charge?", "charge", "ship"]),
        (Service.loses_answer, ["charge", "charge?", "ship"]),
        (Service.fails, ["charge", "charge?", "charge", "ship"]),
    ],
)
def test_whatever_becomes_of_the_first_call_the_effect_happens_once(
    engine: Engine, trouble: Callable[[Service], object], calls: list[str]
) -> None:
    trouble(engine.service(charge))
    order = engine.submit(fulfilment, {})
    ends_well(engine)

    assert (order.state, order.effects, engine.calls) == ("Processed", ["charge", "ship"], calls)
    assert order.result(charge) == {"charge": "c-1"}
    assert set(bank.charges.values()) == {1}


def test_a_first_attempt_that_is_delivered_twice_calls_once(engine: Engine) -> None:
    """I4. Trap: SQS delivers one request twice, so the attempt's number does not tell whether a call was made."""
    engine.service(charge).takes(20)
    engine.double("agent-payments")
    engine.submit(fulfilment, {})
    engine.run(lambda: bool(engine.calls))
    (request,) = engine.parts.queues.agents["payments"].bodies
    engine.post("agent-payments", request)
    ends_well(engine)

    assert (set(bank.charges.values()), engine.calls) == ({1}, ["charge", "ship"])


def test_nobody_asks_before_the_effect_of_an_earlier_call_would_show(engine: Engine) -> None:
    engine.service(charge).fails()
    engine.submit(fulfilment, {})
    engine.run(lambda: "charge" in engine.calls)
    began = engine.clock.now
    engine.run(lambda: "charge?" in engine.calls)

    assert engine.clock.now - began >= 3 * SECOND + engine.settings.timing.skew_margin
    ends_well(engine)


@pytest.mark.parametrize(
    ("trouble", "refunds"), [(Service.dies_after_effect, 1), (Service.dies_before_effect, 0), (Service.loses_answer, 1)]
)
def test_an_undo_asks_first_and_takes_back_what_stands(
    engine: Engine, trouble: Callable[[Service], object], refunds: int
) -> None:
    bank.refunds = 0
    trouble(engine.service(charge))
    order = engine.submit(fulfilment, {})
    engine.run(lambda: "charge" in engine.calls)
    order.undo()
    ends_well(engine)

    assert (order.state, bank.refunds) == ("Undone", refunds)
    assert not sum(bank.charges.values())


def test_an_undo_of_what_was_never_called_calls_nobody_and_lets_nobody_call(engine: Engine) -> None:
    engine.lose("agent-payments")
    order = engine.submit(fulfilment, {})
    engine.run(lambda: bool(order.order_id in engine.parts.store.tasks and order.step(charge).attempt))
    order.undo()
    ends_well(engine)

    assert (order.state, engine.calls) == ("Undone", [])


@pytest.mark.parametrize("ends", [Service.works, Service.declines])
def test_whoever_dies_and_wherever_the_effect_happens_once(ends: Callable[[Service], object]) -> None:
    """I4, I6: a refund that is called twice would be a fault as well."""

    def before(engine: Engine) -> None:
        bank.charges.clear()
        ends(engine.service(ship))

    def after(engine: Engine) -> None:
        assert set(bank.charges.values()) <= {0, 1}
        assert sum(bank.charges.values()) == sum(order.state == "Processed" for order in engine.orders.values())

    found = crash_points(app, {"orderId": "ord-1"}, before=before, after=after)

    assert found.survived == found.points > 40


UNTIL, SETTLES = T0 + MINUTE, 8 * SECOND
FORWARD, BACK = Claim("me", UNTIL, False, SETTLES), Claim("me", UNTIL, True, SETTLES)
TAKEN, CLOSED = CallRow("me", UNTIL), CallRow("me", UNTIL, closed=True)
OTHER = CallRow("other", T0)


@pytest.mark.parametrize(
    ("claim", "row", "at", "turn", "left"),
    [
        (FORWARD, None, T0, Turn.CALL, TAKEN),
        (FORWARD, OTHER, T0 + SETTLES - 1, Turn.WAIT, OTHER),
        (FORWARD, OTHER, T0 + SETTLES, Turn.ASK, TAKEN),
        (FORWARD, replace(OTHER, known=True), T0, Turn.CALL, TAKEN),
        (FORWARD, replace(OTHER, closed=True), T0 + MINUTE, Turn.NOTHING, replace(OTHER, closed=True)),
        (FORWARD, replace(OTHER, closed=True, known=True), T0, Turn.NOTHING, replace(OTHER, closed=True, known=True)),
        (BACK, None, T0, Turn.NOTHING, CLOSED),
        (BACK, OTHER, T0, Turn.WAIT, replace(OTHER, closed=True)),
        (BACK, OTHER, T0 + SETTLES, Turn.ASK, CLOSED),
        (BACK, replace(OTHER, closed=True), T0 + SETTLES, Turn.ASK, CLOSED),
        (BACK, replace(OTHER, known=True), T0, Turn.NOTHING, CLOSED),
        (BACK, replace(OTHER, closed=True, known=True), T0, Turn.CALL, CLOSED),
    ],
)
def test_a_row_says_who_may_act(claim: Claim, row: CallRow | None, at: int, turn: Turn, left: CallRow) -> None:
    assert claim.turn(row, at) == (turn, left)


def test_code_that_knows_no_checks_puts_the_request_back() -> None:
    """D1: to pass over the check would call twice. Its type is another one than that of a plain request."""
    with pytest.raises(NotUnderstood):
        decode_for_scheduler(encode(CHECKED).replace("step.checked", "step.newer"))
    assert '"type":"step.checked"' in encode(CHECKED)


def test_a_plan_keeps_its_check_and_the_agent_serves_it() -> None:
    plan = fulfilment.plan()

    assert Plan.from_json(plan.to_json()) == plan
    assert [each.get("check") for each in json.loads(plan.to_json())["steps"]] == ["find_charge", None]
    assert set(app.operations("payments")) == {"charge", "refund", "find_charge"}


def test_a_check_is_of_the_agent_of_its_step() -> None:
    other = replace(Agent("bank").operation(lambda _: {}), name="find")
    with pytest.raises(WorkflowError, match=r"step 'charge': check 'find' is of another agent \(bank, payments\)"):
        Step(charge, undo=refund, check=other)
    with pytest.raises(WorkflowError, match="agent 'bank': settle 7200000 ms is outside 0 to 3600000 ms"):
        Agent("bank", settle=minutes(120))


def test_only_the_holder_ends_its_row() -> None:
    records = MemorySharedRecords()
    rows = CallRows(records, iter(["one", "other"]).__next__, 0)
    how: dict[str, Any] = {"undoes": False, "settle": 0, "first": True}
    one = rows.take("ord-1/charge", T0, T0 - 1, **how)
    other = rows.take("ord-1/charge", UNTIL, T0, **how)

    one.ended(T0 + 1)

    assert (one.turn, other.turn) == (Turn.CALL, Turn.ASK)
    assert CallRow.of(records.kept["call/ord-1/charge"].body) == CallRow("other", UNTIL)


def asked(world: World, called: list[str]) -> tuple[str, Serve]:
    """A request of a step with a check, and the agent."""

    def run(call: Call) -> Mapping[str, Any]:
        called.append(call.idempotency_key)
        return {}

    return world.ask(), world.serve(operation(run), operation(run, "find"))


def test_who_took_the_row_too_late_calls_nobody() -> None:
    """It was held up while it wrote: others would not wait for its call."""
    world, called = World(sequence("reserve", check="find")), list[str]()
    text, serve = asked(world, called)
    serve.guard.admit(T0, T0 + MINUTE)
    world.shared_records = records = TroubledRecords()
    records.before_write = lambda: world.clock.sleep(60)

    with pytest.raises(RetryLater):
        replace(serve, rows=lambda: CallRows(records, lambda: "me", 0)).handle(text)

    assert called == []


@pytest.mark.parametrize("trouble", ["unread", "unwritten"])
def test_without_the_row_nobody_calls(trouble: str) -> None:
    world, called = World(sequence("reserve", check="find")), list[str]()
    text, serve = asked(world, called)
    records = TroubledRecords(races_lost=1)
    setattr(records, trouble, Transient("throttled"))

    with pytest.raises(RetryLater):
        replace(serve, rows=lambda: CallRows(records, lambda: "me", 0)).handle(text)

    assert called == []


def test_a_first_call_costs_one_small_write() -> None:
    """W7: one write, of a row that fits into the smallest unit."""
    world, called = World(sequence("reserve", check="find")), list[str]()
    text, serve = asked(world, called)
    records = TroubledRecords()

    replace(serve, rows=lambda: CallRows(records, lambda: "me", 0)).handle(text)

    assert (called, records.reads, records.writes) == (["ord-1001/reserve"], 0, 1)
    assert len(str(records.kept)) < 1_000


def test_a_call_that_waits_for_its_slot_does_not_ask_again() -> None:
    """The check takes a slot, and the call the next one, which may be seconds away."""
    bank.charges.clear()
    slow = Agent("payments", rate=0.5)
    operations = {each.name: replace(each, agent=slow) for each in (charge, refund, find_charge)}
    do, undo, check = (operations[each.name] for each in (charge, refund, find_charge))
    paid = replace(pay, operation=do, undo=undo, check=check)
    with Engine(App("shop", [workflow := Workflow("fulfilment", 1, [paid])])) as engine:
        engine.service(do).dies_before_effect()
        order = engine.submit(workflow, {})
        engine.clock.move(120)

    assert (order.state, engine.calls) == ("Processed", ["charge", "charge?", "charge"])
