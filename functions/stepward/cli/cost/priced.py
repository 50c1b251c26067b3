"""An order that is priced: the plan of its workflow, with stand-ins for all that is outside of the engine."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from stepward.cli.cost.functions import Functions
from stepward.domain.errors import Misconfigured
from stepward.domain.key import ANY, Keys, TaskKey, in_idempotency_key
from stepward.domain.messages import OPERATORS, SignalGiven
from stepward.domain.task.record import Loaded, ProcessState, Task
from stepward.domain.timing import Timing, hours, milliseconds, minutes
from stepward.domain.workflow.agents import Agent, Call, Later, Operation, Result
from stepward.domain.workflow.plan import Plan, PlannedStep, StepKind
from stepward.domain.workflow.refs import as_data, ref
from stepward.testing.application import Staged
from stepward.wire.messages import encode

REFERENCE = "3f2a9b1c-8d7e-4c5b"
UNTIL = milliseconds(hours(1))
"""How long a timer runs that ends at an instant: longer than a queue delays a message."""
MOST_ROUNDS = 10_000
AGENTS = ("warehouse", "accounts", "carriers")
_NEVER, _ITEMS = as_data(ref.order("orderId") == ""), as_data(ref.order("items"))


def order_id(number: int) -> str:
    """The id of one of the orders that are priced."""
    return f"7f3c9a52-6d1e-4b8a-9c47-{number:012d}"


def order_text(number: int, items: int = 3, type_: str = "order.submitted") -> str:
    """An order message with `items` lines; three make about 450 bytes."""
    lines = [{"sku": f"SKU-{line}", "qty": 2, "unitPrice": "12.30"} for line in range(1, items + 1)]
    order = {
        "type": type_,
        "orderId": order_id(number),
        "version": 1,
        "submittedAt": "2026-01-01T00:00:00Z",
        "customerId": f"customer-{number % 1000}",
        "correlationId": "checkout-5501",
        "currency": "EUR",
        "items": lines,
    }
    return json.dumps(order, separators=(",", ":"))


def calls_in_a_row(steps: int) -> Plan:
    """The plan of `steps` steps, one after another, which three agents share."""
    names = [*("reserve", "charge", "ship")[:steps], *(f"step-{number}" for number in range(4, steps + 1))]
    before = [(), *((name,) for name in names)]
    planned = [
        PlannedStep(name, AGENTS[at % len(AGENTS)], name, before[at], milliseconds(minutes(10)), threshold=3)
        for at, name in enumerate(names)
    ]
    return Plan("benchmark", 1, tuple(planned))


@dataclass(frozen=True)
class Priced:
    """The orders that messages of `type` submit. All their conditions hold, except those of the steps in `skipped`.

    A service that may answer later does. A result is a reference of some 30 bytes, or as large as `result_bytes`, or
    `large` by step, says. `items` is how many lines an order has, and every list. `callbacks` are the tokens of the
    services that have not answered yet.
    """

    plan: Plan
    type: str = "order.submitted"
    keys: Keys = ANY
    skipped: Collection[str] = ()
    large: Mapping[str, int] = field(default_factory=dict)
    result_bytes: int = 0
    items: int = 3
    callbacks: list[str] = field(default_factory=list)

    @property
    def steps(self) -> Sequence[PlannedStep]:
        """Every step, with those of children."""
        return list(_steps(self.plan))

    @property
    def conditions(self) -> Sequence[str]:
        """The steps that have one."""
        return [step.name for step in self.steps if step.when]

    @property
    def kinds(self) -> Mapping[str, int]:
        """How many steps of each kind are run, and how many are skipped."""
        told = ["skipped" if step.name in self.skipped else kind_of(step) for step in self.steps]
        return Counter(told)

    @property
    def staged(self) -> Staged:
        """The application that accepts and serves them."""
        made, plan = self._operation, self._told(self.plan)
        asked = sorted({*plan.operations()})

        def known(agent: str) -> Mapping[str, Operation]:
            return {name: made(agent, name) for of, name in asked if of == agent}

        return Staged({}, None, (), self.keys, {self.type: plan}, known, lambda _: {})

    def _told(self, plan: Plan) -> Plan:
        """The plan, with all decided that an order or a result would decide."""
        return replace(plan, steps=tuple(map(self._decided, plan.steps)))

    def _decided(self, step: PlannedStep) -> PlannedStep:
        return replace(
            step,
            when=_NEVER if step.name in self.skipped else (),
            until=(),
            complete_within=UNTIL if step.until else step.complete_within,
            child=self._told(step.child) if step.child else None,
            template=(("items", _ITEMS),) if step.child else (),
            items=_ITEMS if step.items else (),
            parts=tuple(map(self._decided, step.parts)),
        )

    def _operation(self, agent: str, name: str) -> Operation:
        def run(call: Call) -> Result:
            if call.callback:
                self.callbacks.append(call.callback)
                return Later()
            return self._result(in_idempotency_key(call.idempotency_key)[1])

        return Operation(Agent(agent), name, run)

    def _result(self, effect: str) -> Mapping[str, str]:
        result = {"reference": f"{effect}-{REFERENCE}"}
        padded = result | {"text": ""}
        size = self.large.get(effect, self.result_bytes) - len(json.dumps(padded, separators=(",", ":")))
        return padded | {"text": "x" * size} if size > 0 else result

    def text(self, number: int) -> str:
        """The message that submits one."""
        return order_text(number, self.items, self.type)

    def complete(self, functions: Functions) -> None:
        """Let all orders go to their end: answer, give signals, and let time pass.

        Raises Misconfigured if they do not end, or do not succeed.
        """
        for _ in range(MOST_ROUNDS):
            functions.run()
            waiting = [found for found in _loaded(functions) if found.task.due is not None]
            if not waiting:
                _check_done(functions)
                return
            said = [*self._answers(), *(given for found in waiting for given in _signals(found))]
            for queue in ("orders", "scheduler"):
                if bodies := [body for to, body in said if to == queue]:
                    functions.send(bodies, queue)
            if not said:
                _let_pass(functions, [found.task.due or 0 for found in waiting])
        raise Misconfigured(f"an order of {self.plan.workflow!r} has not ended after {MOST_ROUNDS:,} rounds")

    def _answers(self) -> Iterator[tuple[str, str]]:
        while self.callbacks:
            answer = {"callback": self.callbacks.pop(), "result": self._result("later")}
            yield "orders", json.dumps({"type": "step.completed", **answer})


def _steps(plan: Plan) -> Iterator[PlannedStep]:
    for step in plan.steps:
        yield from (step, *step.parts)
        yield from _steps(step.child) if step.child else ()


def kind_of(step: PlannedStep) -> str:
    """The kind of a step, as prices distinguish it."""
    if step.answer_within:
        return "call answered later"
    return "checked call" if step.check else step.kind.value


def _signals(found: Loaded) -> Iterator[tuple[str, str]]:
    """A signal for each step that waits for one, and the queue of whoever may give it."""
    for step in found.plan.steps:
        if step.kind is StepKind.SIGNAL and found.task.steps[step.name].runs:
            yield _signal(found.task, step)


def _signal(task: Task, step: PlannedStep) -> tuple[str, str]:
    name, data = f"signal-{REFERENCE}", {"by": "ann"}
    if step.by == OPERATORS or task.parent:
        return "scheduler", encode(SignalGiven(task.order_id, step.name, name, data, who="ann", door=OPERATORS))
    named = {**TaskKey.read(task.order_id).fields, "name": step.name, "signalId": name}
    return "orders", json.dumps({"type": "order.signal", **named, "data": data})


def _loaded(functions: Functions) -> Iterator[Loaded]:
    keys = [key for (_, key), item in functions.meter.bill.items.items() if "Steps" in item]
    yield from filter(None, (functions.store.load(key, with_order=False) for key in keys))


def _check_done(functions: Functions) -> None:
    tasks = [found.task for found in _loaded(functions)]
    if not tasks:
        raise Misconfigured("an order was not accepted; it may be too large")
    for task in tasks:
        if task.process_state is not ProcessState.PROCESSED:
            last = task.history[-1]
            raise Misconfigured(f"an order ends in {task.process_state}, at {last.step or task.order_id}: {last.note}")


def _let_pass(functions: Functions, dues: Collection[int]) -> None:
    """Let time pass until something happens: a message comes, or the Supervisor finds what is due."""
    functions.wait(max(0, min(dues) - functions.clock()) / 1000 + 1)  # a queue delays by whole seconds
    before = functions.meter.bill.totals["invocations"]
    functions.run()
    if functions.meter.bill.totals["invocations"] == before:
        functions.wait(Timing().skew_margin / 1000)
        functions.supervise()
