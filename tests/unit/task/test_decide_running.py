"""How a task runs when nothing goes wrong: claims, completions, graphs, and the bound of claims."""

from dataclasses import replace

from stepward.domain.history import HistoryKind
from stepward.domain.task.claim import CLAIMS_PER_THRESHOLD
from stepward.domain.task.record import ProcessState
from stepward.domain.timing import Timing
from tests.factories import MINUTE, ORDER_ID, T0, Life, alerts, asked, diamond, requests, sequence, started

PENDING, PROCESSING, PROCESSED, ERROR, *_ = ProcessState


def test_a_new_task_is_pending_unlocked_and_never_tried(fresh: Life) -> None:
    """S9: LockedBy and CompleteBy are absent, ProcessState is Pending, FailureCount is 0."""
    for name, record in fresh.task.steps.items():
        assert (record.order_id, record.name) == (ORDER_ID, name)
        assert (record.locked_by, record.complete_by, record.process_state) == (None, None, PENDING)
        assert (record.failure_count, record.attempt, record.token) == (0, 0, None)
    assert fresh.task.process_state is PENDING


def test_a_claim_locks_the_step_for_one_instance_until_complete_by(fresh: Life) -> None:
    """S10: LockedBy, CompleteBy and Processing are set in one write, on the next revision."""
    fresh.start(by="scheduler-7", at=T0 + 5)

    record = fresh.step("reserve")
    assert (record.locked_by, record.complete_by, record.process_state) == ("scheduler-7", T0 + 5 + MINUTE, PROCESSING)
    assert (record.attempt, record.fence, record.started_at) == (1, 1, T0 + 5)
    assert (fresh.task.revision, fresh.task.process_state) == (2, PROCESSING)


def test_a_claim_asks_the_agent_with_all_that_it_needs(life: Life) -> None:
    """S4, S5: the request carries the deadline, the time left and one identifier for all attempts."""
    (request,) = life.asked

    assert (request.order_id, request.step, request.agent) == (ORDER_ID, "reserve", "worker")
    assert (request.operation, request.results) == ("reserve", {})
    assert (request.attempt, request.fence, request.idempotency_key) == (1, 1, f"{ORDER_ID}/reserve")
    assert (request.complete_by, request.budget) == (T0 + MINUTE, MINUTE)
    assert request.token == life.step("reserve").token


def test_only_the_first_step_of_a_sequence_is_claimed_at_first() -> None:
    """S2, I3."""
    life = started(sequence("reserve", "charge", "ship"))
    assert [life.state(name) for name in ("reserve", "charge", "ship")] == [PROCESSING, PENDING, PENDING]


def test_completing_a_step_and_claiming_the_next_are_one_write(life: Life) -> None:
    """S2, S16: no state in between from which a dying Scheduler would have to be resumed."""
    (request,) = requests(life.done("reserve", at=T0 + 10))

    done = life.step("reserve")
    assert (done.process_state, done.locked_by, done.complete_by, done.ended_at) == (PROCESSED, None, None, T0 + 10)
    assert done.result == {"ref": "reserve"}
    assert (request.step, request.results) == ("ship", {"reserve": {"ref": "reserve"}})
    assert (life.state("ship"), life.task.revision) == (PROCESSING, 3)


def test_a_task_ends_when_its_last_step_is_done(life: Life) -> None:
    """S1, I1: it leaves the index, nothing more is asked, and the history has the time it took."""
    life.done("reserve", at=T0 + 10)

    decision = life.done("ship", at=T0 + 25)

    assert (life.task.process_state, life.task.due, decision.messages) == (PROCESSED, None, ())
    history = [(entry.kind, entry.value) for entry in decision.history]
    assert history == [(HistoryKind.COMPLETED, 15), (HistoryKind.PROCESSED, 25)]


def test_independent_steps_are_claimed_side_by_side() -> None:
    """S1: a graph runs in parallel what does not wait for each other."""
    life = started(diamond())

    assert asked(life.done("check")) == ["pick", "pay"]
    assert len({life.step(name).fence for name in ("check", "pick", "pay")}) == 3
    assert life.step("pick").token != life.step("pay").token


def test_a_retry_of_a_step_that_must_wait_claims_nothing(life: Life) -> None:
    """I3: whoever asks, a step waits for its predecessors."""
    assert life.ignored(life.retry("ship", 0))


def test_a_running_step_is_claimed_by_nobody_else(life: Life) -> None:
    """S10, I2: neither start nor retry takes a step that is Processing."""
    token = life.step("reserve").token

    life.start(by="scheduler-2", at=T0 + 10)
    life.retry("reserve", 1, by="scheduler-2", at=T0 + 20)

    record = life.step("reserve")
    assert (record.locked_by, record.attempt, record.token) == ("scheduler-1", 1, token)


def test_every_claim_has_a_token_and_a_fence_of_its_own() -> None:
    """Design rule 4: the fence only rises, whatever happens to the steps."""
    life = started(diamond(threshold=5), "check")
    for round_ in range(1, 4):
        life.check(at=life.now + 2 * MINUTE)
        life.retry("pick", round_)
        life.retry("pay", round_)

    fences = [request.fence for request in life.asked]
    assert fences == sorted(set(fences))
    assert len({request.token for request in life.asked}) == len(life.asked)


def test_all_attempts_of_a_step_carry_one_idempotency_key(life: Life) -> None:
    """S5, design rule 5, I4."""
    life.check(at=T0 + 2 * MINUTE)
    life.retry("reserve", 1)
    life.done("reserve")

    assert [(request.step, request.attempt, request.idempotency_key) for request in life.asked] == [
        ("reserve", 1, f"{ORDER_ID}/reserve"),
        ("reserve", 2, f"{ORDER_ID}/reserve"),
        ("ship", 1, f"{ORDER_ID}/ship"),
    ]


def test_a_long_order_ends() -> None:
    """tl_recursion_chain: 20 steps need 21 runs of the Scheduler; the bound of the engine's own leaves them be."""
    names = [f"step-{number:02}" for number in range(20)]
    life = started(sequence(*names, threshold=1), *names)

    assert life.task.process_state is PROCESSED
    assert [request.step for request in life.asked] == names


def claimed_too_often(threshold: int) -> Life:
    """`reserve` was claimed as often as the bound allows, and once more was tried."""
    life = started(sequence("reserve", threshold=threshold), timing=Timing(outage_after=0))
    for attempt in range(1, CLAIMS_PER_THRESHOLD * threshold):
        life.check(at=life.now + 2 * MINUTE)
        life.retry("reserve", attempt)
    life.check(at=life.now + 2 * MINUTE)
    return life


def test_a_task_that_is_claimed_too_often_ends_in_error() -> None:
    """Design rule 14, tl_recursion_chain: something drives it in a circle, and an operator is alerted."""
    life = claimed_too_often(threshold=2)
    claims = CLAIMS_PER_THRESHOLD * 2

    (alert,) = alerts(life.retry("reserve", claims))

    assert (life.state("reserve"), len(life.asked)) == (ERROR, claims)
    assert alert.reason == "the task was claimed too often; something drives it in a circle"


def test_an_operator_opens_the_bound_of_claims_again() -> None:
    """S7: a resubmitted step has the whole bound before it, and a fence that still rises."""
    life = claimed_too_often(threshold=1)
    life.retry("reserve", CLAIMS_PER_THRESHOLD)

    life.resubmit("reserve", CLAIMS_PER_THRESHOLD)

    assert life.state("reserve") is PROCESSING
    assert life.request("reserve").fence == CLAIMS_PER_THRESHOLD + 1


def test_a_decision_leaves_the_task_it_was_given_as_it_was() -> None:
    """A lost race decides again from what was read, so nothing read may have changed."""
    life = started(diamond())
    before, copy = life.task, replace(life.task, steps=dict(life.task.steps))

    life.done("check")

    assert before == copy
