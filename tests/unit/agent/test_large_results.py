"""A result that is too large for its step's record: in a row of its own, and read for the steps that come after."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from stepward import Agent, App, Call, Step, Workflow, minutes
from stepward.app.scheduler.large_results import with_large_results
from stepward.domain.messages import StepRequest
from stepward.domain.task.record import ProcessState, StepRecord, Task
from stepward.testing import Engine
from stepward.testing.memory.task_store import MemoryTaskStore
from stepward.wire.messages import MAX_INLINE_BYTES, MAX_RESULT_BYTES, encode_result

warehouse = Agent("warehouse")
LINES = [{"sku": f"SKU-{number}", "qty": 1, "unitPrice": "1.00"} for number in range(1_000)]
ORDER = {"orderId": "ord-1", "items": LINES}
SIZE = 7_908
"""Bytes of the result that ended an order in Error after its effect (case 23)."""
seen: dict[str, Mapping[str, Any]] = {}


def of_size(size: int) -> dict[str, Any]:
    return {"lines": "x" * (size - len('{"lines":""}'))}


@warehouse.operation
def pick(call: Call) -> Mapping[str, Any]:
    return of_size(int(call.order.get("size", SIZE)))


@warehouse.operation
def unpick(call: Call) -> Mapping[str, Any]:
    seen["unpick"] = call.results
    return {}


@warehouse.operation
def count(call: Call) -> Mapping[str, Any]:
    seen["count"] = call.results
    return of_size(MAX_RESULT_BYTES if call.order.get("size") else 100)


@warehouse.operation
def uncount(_: Call) -> Mapping[str, Any]:
    return {}


@warehouse.operation
def weigh(call: Call) -> Mapping[str, Any]:
    seen["weigh"] = call.results
    return {}


@warehouse.operation
def ship(call: Call) -> Mapping[str, Any]:
    seen["ship"] = call.results
    return {}


FULFILMENT = Workflow(
    "fulfilment",
    version=1,
    steps=[
        Step(pick, undo=unpick, complete_within=minutes(1)),
        Step(count, undo=uncount, complete_within=minutes(1)),
        Step(weigh, after=[], complete_within=minutes(1)),
        Step(ship, after=[count, weigh], complete_within=minutes(1)),
    ],
)
APP = App("shop", [FULFILMENT])


@pytest.fixture
def engine() -> Iterator[Engine]:
    seen.clear()
    with Engine(APP) as engine:
        yield engine


def size_of(name: str, step: str) -> int:
    """The bytes of the result of `step` that the operation `name` got; 0 if it got none."""
    return len(encode_result(seen[name][step])) if step in seen[name] else 0


def test_an_order_with_a_large_result_is_processed(engine: Engine) -> None:
    """Case 23: a thousand lines, and a step that returns 7,908 bytes."""
    order = engine.submit(APP.workflows[0], ORDER)
    engine.run()

    assert order.state == "Processed"
    assert (order.step(pick).size, order.step(count).size) == (SIZE, 0)
    assert len(encode_result(order.result(pick))) == SIZE
    assert [size_of(name, "pick") for name in ("count", "weigh", "ship")] == [SIZE, 0, SIZE]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("call", range(1, 14))
def test_a_death_loses_no_large_result(engine: Engine, call: int, *, after: bool) -> None:
    """Rule 1: the row is there before the task that refers to it."""
    engine.kill("scheduler", call, after=after)
    order = engine.submit(APP.workflows[0], ORDER)
    engine.run()

    assert (order.state, engine.pulse.deaths) == ("Processed", 1)
    assert [size_of(name, "pick") for name in ("count", "ship")] == [SIZE, SIZE]


def test_an_undo_gets_the_result_that_it_undoes(engine: Engine) -> None:
    engine.service(ship).declines("no")
    order = engine.submit(APP.workflows[0], ORDER)
    engine.run()

    order.undo()
    engine.run()

    assert (order.state, size_of("unpick", "pick")) == ("Undone", SIZE)


@pytest.mark.parametrize(("size", "kept"), [(MAX_INLINE_BYTES, 0), (MAX_INLINE_BYTES + 1, MAX_INLINE_BYTES + 1)])
def test_a_small_result_stays_with_its_step(engine: Engine, size: int, kept: int) -> None:
    order = engine.submit(APP.workflows[0], ORDER | {"size": size})
    engine.run()

    assert (order.state, order.step(pick).size, size_of("ship", "pick")) == ("Processed", kept, size)
    assert len(engine.parts.store.results) == 1 + bool(kept)


def test_the_largest_results_fit_into_a_request(engine: Engine) -> None:
    order = engine.submit(APP.workflows[0], ORDER | {"size": MAX_RESULT_BYTES, "note": "x" * 280_000})
    engine.run()

    assert order.state == "Processed"
    assert [size_of("ship", name) for name in ("pick", "count")] == [MAX_RESULT_BYTES] * 2


def record(name: str, size: int, state: ProcessState = ProcessState.PROCESSED) -> StepRecord:
    return StepRecord("ord-1", name, state, attempt=1, size=size, result=of_size(size))


def filled(step: str, *records: StepRecord) -> list[str]:
    """The names of the large results that the request for `step` gets."""
    store, plan = MemoryTaskStore(lambda _: 0), FULFILMENT.plan()
    store.results = {(it.order_id, it.name, it.attempt): it.result or {} for it in records}
    task = Task("ord-1", plan.plan_id, 0, {it.name: it for it in records}, due=None)
    request = StepRequest("ord-1", step, "warehouse", step, 1, "token", 1, "ord-1/ship", 1, 1)
    (found,) = with_large_results([request], task, plan, store)
    assert isinstance(found, StepRequest)
    return list(found.results)


def test_large_results_beyond_a_request_are_left_out() -> None:
    """SQS takes 1 MiB; the operation meets a KeyError that names the step."""
    three = [record(name, MAX_RESULT_BYTES) for name in ("pick", "count", "weigh")]

    assert filled("ship", *three) == ["pick", "count"]


def test_a_step_that_runs_once_more_has_no_large_result_yet() -> None:
    again = record("ship/undo", 3_000, ProcessState.PROCESSING)

    assert filled("ship", again, record("pick", 3_000)) == ["pick"]


def test_a_result_beyond_the_limit_is_an_error_whose_effect_is_known(engine: Engine) -> None:
    """It cannot be known before the effect: an operator undoes it, or has the operation return less."""
    order = engine.submit(APP.workflows[0], ORDER | {"size": MAX_RESULT_BYTES + 1})
    engine.run()
    assert (order.state, order.effects) == ("Error", ["pick", "weigh"])
    assert "the limit is 262,144; its effect took place: undo the order, or" in str(order.step(pick).error)

    order.undo()
    engine.run()

    assert (order.state, engine.effects[-1]) == ("Undone", "pick/undo")
