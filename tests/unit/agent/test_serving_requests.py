from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

import pytest

from stepward.app.agent.serve import Serve
from stepward.domain.errors import Permanent, Rejected, RetryLater, Transient
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Outcome, Reply
from stepward.domain.workflow.agents import Call
from stepward.wire.messages import MAX_RESULT_BYTES, decode_request, encode
from tests.factories import MINUTE, ORDER_ID, SECOND, T0, sequence
from tests.unit.engine.world import World, operation


def serve_to_the_end(world: World, serve: Serve, text: str) -> list[int]:
    """Deliver a request again whenever it returns to its queue; how many seconds it was away each time."""
    away: list[int] = []
    while True:
        try:
            serve.handle(text)
        except RetryLater as retry_later:
            away.append(retry_later.seconds)
            world.clock.now += retry_later.seconds * 1000
        else:
            return away


def succeed(call: Call) -> Mapping[str, Any]:
    return {"key": call.idempotency_key}


def decline(_: Call) -> Mapping[str, Any]:
    raise Permanent("card declined")


class Flaky:
    """Fails `failures` times. Each call takes `call_ms`; `began`, `calls` and `remaining` describe each call."""

    def __init__(self, world: World, failures: int, call_ms: int = 200) -> None:
        self.world, self.failures, self.call_ms = world, failures, call_ms
        self.began: list[int] = []
        self.calls: list[Call] = []
        self.remaining: list[float] = []

    def __call__(self, call: Call) -> Mapping[str, Any]:
        self.began.append(self.world.clock())
        self.calls.append(call)
        self.remaining.append(call.remaining())
        self.world.clock.now += self.call_ms
        if len(self.began) <= self.failures:
            raise OSError("connection reset")
        return {"ref": "r-1"}


def test_an_operation_gets_the_order_the_results_and_its_deadline(world: World) -> None:
    """S4, S5."""
    text = encode(replace(decode_request(world.ask()), results={"check": {"score": 7}}, attempt=2, fence=9))
    flaky = Flaky(world, failures=0)

    world.serve(operation(flaky)).handle(text)

    (call,) = flaky.calls
    assert call.order["orderId"] == ORDER_ID
    assert call.results == {"check": {"score": 7}}
    assert (call.idempotency_key, call.attempt, call.fence) == (f"{ORDER_ID}/reserve", 2, 9)
    assert flaky.remaining == [60.0]


def test_a_success_is_answered_under_the_attempt_and_token_that_asked(world: World) -> None:
    """S4."""
    request = decode_request(world.ask())

    world.serve(operation(succeed)).handle(encode(request))

    result = {"key": request.idempotency_key}
    assert world.replies() == [Reply(ORDER_ID, "reserve", 1, request.token, Outcome.OK, result)]


def test_a_request_that_waited_past_complete_by_calls_nobody(world: World) -> None:
    """S6, tl_request_expired_in_queue: no call, no reply."""
    text, flaky = world.ask(), Flaky(world, failures=0)
    world.clock.now += MINUTE

    world.serve(operation(flaky)).handle(text)

    assert (flaky.calls, world.replies(), world.kinds()[-1]) == ([], [], HistoryKind.EXPIRED)


def test_a_request_is_served_up_to_the_last_millisecond(world: World) -> None:
    """S6."""
    text = world.ask()
    world.clock.now += MINUTE - 1

    world.serve(operation(succeed)).handle(text)

    assert len(world.replies()) == 1


def test_a_service_that_fails_twice_and_then_works_costs_one_attempt(world: World) -> None:
    """S5: retries happen before complete-by, under one key and one fence."""
    flaky = Flaky(world, failures=2)

    world.serve(operation(flaky)).handle(world.ask())

    assert [reply.outcome for reply in world.replies()] == [Outcome.OK]
    assert {(call.idempotency_key, call.fence) for call in flaky.calls} == {(f"{ORDER_ID}/reserve", 1)}
    assert world.clock.slept == [0.2, 0.4]
    assert world.telemetry.count(HistoryKind.CALL_FAILED) == 2


@pytest.mark.parametrize("jitter", [0.0, 1.0])
def test_after_two_seconds_of_waiting_the_queue_waits(jitter: float) -> None:
    """S5: nobody pays for sleep. The same attempt goes on when the request comes back, and waits longer each time."""
    world = World(sequence("reserve", complete_within=10 * MINUTE))
    flaky = Flaky(world, failures=20, call_ms=0)
    text = world.ask()

    away = serve_to_the_end(world, world.serve(operation(flaky), jitter=jitter), text)

    assert [reply.attempt for reply in world.replies()] == [1]
    assert {(call.attempt, call.fence) for call in flaky.calls} == {(1, 1)}
    assert sum(world.clock.slept) <= 2.0 * (len(away) + 1)
    assert away == sorted(away)
    assert 1 < len(away) < 6
    assert min(away) >= 2
    assert world.telemetry.count(HistoryKind.RETRY_LATER) == len(away)


@pytest.mark.parametrize("jitter", [0.0, 0.37, 1.0])
@pytest.mark.parametrize("call_ms", [0, 200, 4_999])
def test_no_call_and_no_wait_crosses_the_deadline(jitter: float, call_ms: int) -> None:
    """tl_agent_deadline, S6: nothing begins after a deadline of 5 s, and the agent sends no reply."""
    world = World(sequence("reserve", complete_within=5 * SECOND))
    text = world.ask()
    flaky = Flaky(world, failures=1_000, call_ms=call_ms)

    serve_to_the_end(world, world.serve(operation(flaky), jitter=jitter), text)

    assert max(flaky.began) < T0 + 5 * SECOND
    assert min(flaky.remaining) > 0
    assert sum(world.clock.slept) <= 2 * (world.telemetry.count(HistoryKind.RETRY_LATER) + 1)
    assert world.clock() <= T0 + 5 * SECOND
    assert world.replies() == []
    assert world.kinds()[-1] in {HistoryKind.SILENT, HistoryKind.EXPIRED}


@pytest.mark.parametrize("act", [succeed, decline])
def test_a_call_that_ends_past_complete_by_is_not_answered(world: World, act: Callable[[Call], Any]) -> None:
    """S6, S11: its effect may have happened. Another instance may own the step, and finds it by the same key."""
    text = world.ask()

    def slow(call: Call) -> Mapping[str, Any]:
        world.clock.now += MINUTE
        return cast("Mapping[str, Any]", act(call))

    world.serve(operation(slow)).handle(text)

    assert (world.replies(), world.kinds()[-1]) == ([], HistoryKind.SILENT)


def test_a_refusal_is_answered_at_once(world: World) -> None:
    """S7: a permanent error is not tried again."""
    world.serve(operation(decline)).handle(world.ask())

    (reply,) = world.replies()
    assert (reply.outcome, reply.error) == (Outcome.PERMANENT, "card declined")
    assert world.clock.slept == []


def test_an_operation_that_the_agent_does_not_know_goes_back_and_the_scheduler_is_told(world: World) -> None:
    """D1: newer code asks for it. The same request is served as soon as the agent is updated."""
    text = world.ask()
    with pytest.raises(RetryLater, match="agent worker does not know operation reserve; deploy it; back in 5 s"):
        world.serve(operation(succeed, name="charge")).handle(text)
    world.clock.now += 5 * SECOND
    world.serve(operation(succeed)).handle(text)

    first, second = world.replies()
    lacks = "agent worker does not know operation reserve; deploy it"
    assert (first.outcome, first.error, first.attempt) == (Outcome.NOT_UNDERSTOOD, lacks, 1)
    assert (second.outcome, second.attempt) == (Outcome.OK, 1)
    assert world.telemetry.count(HistoryKind.NOT_UNDERSTOOD) == 1


def test_an_operation_that_the_agent_never_learns_ends_with_complete_by(world: World) -> None:
    """S6, D1: the request comes back a few times, and not past complete-by."""
    away = serve_to_the_end(world, world.serve(operation(succeed, name="charge")), world.ask())

    assert [reply.outcome for reply in world.replies()] == [Outcome.NOT_UNDERSTOOD] * len(away)
    assert 5 < len(away) < 20
    assert sum(away) == 60


@pytest.mark.parametrize(
    ("result", "fault"),
    [
        ({"blob": "x" * MAX_RESULT_BYTES}, "the limit is 262,144"),
        ({"price": 1.5}, "price: is of type float"),
        ({"when": object()}, "when: is of type object"),
        (None, "the operation returned None; return a dict, {} if there is nothing to say"),
        (["r-1"], "the operation returned a list"),
    ],
)
def test_a_result_that_cannot_be_stored_is_a_permanent_error(world: World, result: Any, fault: str) -> None:
    """S7: the agent refuses it, so that no task grows too large to be written."""
    world.serve(operation(lambda _: result)).handle(world.ask())

    (reply,) = world.replies()
    assert reply.outcome is Outcome.PERMANENT
    assert fault in reply.error


@pytest.mark.parametrize("error", [ValueError("bad"), KeyError("items"), Transient("busy"), Rejected("sku", "odd")])
def test_whatever_else_an_operation_raises_may_pass(world: World, error: Exception) -> None:
    """S5: the engine does not rely on users to sort their errors; only Permanent is final."""
    errors = [error]

    def run(_: Call) -> Mapping[str, Any]:
        if errors:
            raise errors.pop()
        return {}

    world.serve(operation(run)).handle(world.ask())

    assert [reply.outcome for reply in world.replies()] == [Outcome.OK]


@pytest.mark.parametrize("behind", [0, 30 * SECOND, 90 * SECOND])
def test_an_agent_whose_clock_is_behind_stops_by_what_remains(world: World, behind: int) -> None:
    """tl_clock_skew: the agent measures the time left by its own clock, so a delivery does not overrun."""
    text, flaky = world.ask(), Flaky(world, failures=1_000, call_ms=MINUTE - 1)

    world.serve(operation(flaky), now=lambda: world.clock() - behind).handle(text)

    assert flaky.remaining == [60.0]
    assert world.kinds()[-1] is HistoryKind.SILENT
    assert world.clock() < T0 + MINUTE


def test_an_agent_whose_clock_is_ahead_stops_early(world: World) -> None:
    """tl_clock_skew: stopping early is a delay; stopping late would be a second holder."""
    text, flaky = world.ask(), Flaky(world, failures=1_000)

    serve_to_the_end(world, world.serve(operation(flaky), now=lambda: world.clock() + 40 * SECOND), text)

    assert flaky.remaining[0] == 20.0
    assert max(flaky.began) < T0 + 20 * SECOND


def test_an_answer_that_cannot_be_sent_brings_the_request_back(world: World) -> None:
    """S18, I4: the second call carries the same key."""
    text, flaky = world.ask(), Flaky(world, failures=0)
    world.queues.responses.faults = lambda _: "InternalError"
    with pytest.raises(Transient):
        world.serve(operation(flaky)).handle(text)

    world.queues.responses.faults = lambda _: ""
    world.serve(operation(flaky)).handle(text)

    assert len({call.idempotency_key for call in flaky.calls}) == 1
    assert len(world.replies()) == 1


def test_a_message_that_is_no_request_is_rejected(world: World) -> None:
    """Design rule 11."""
    with pytest.raises(Rejected, match="does not belong on this queue"):
        world.serve().handle('{"type": "task.start", "orderId": "ord-1"}')
