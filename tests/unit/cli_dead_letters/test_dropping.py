"""Compares what `dead-letters redrive` takes for stale with what the Scheduler and the Agents would do with it."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from stepward.domain.coordination.outlook import DeadlineCheck
from stepward.domain.history import HistoryKind
from stepward.domain.messages import (
    Callback,
    Cancel,
    ChildSubmit,
    Outcome,
    Pause,
    Report,
    ReportReject,
    Resubmit,
    Resume,
    Retry,
    Start,
    StepRequest,
    Undo,
)
from stepward.domain.task.change import Decision
from stepward.domain.task.decide import Event, decide
from stepward.domain.task.record import Loaded
from stepward.domain.workflow.plan import Plan
from stepward.operator.dead_letters.of_tasks import DeadLetter, Opened, opened
from stepward.operator.dead_letters.staleness import Staleness
from stepward.wire.messages import decode_for_scheduler, decode_request, encode
from tests.factories import MINUTE, ORDER_ID, SECOND, T0, UNDOES, Life, answer, diamond, sequence, undoable, waits
from tests.unit.cli.lives import Message

PLANS = [
    sequence("reserve", "ship", threshold=1),
    undoable(point_of_no_return=True),
    undoable(threshold=1, exhausted=(waits(30 * SECOND), UNDOES)),
    diamond(undo=True),
]


def messages(life: Life) -> list[Message]:
    """Messages of every kind, of now and of before."""
    moments = {0, T0, life.now, life.now - 1, *(entry.at for entry in life.task.history)}
    found: list[Message] = [Start(ORDER_ID), Report(ORDER_ID), Undo(ORDER_ID, "ada", "x"), Cancel(ORDER_ID, "eve", "y")]
    for at in sorted(moments):
        found += [Pause(ORDER_ID, "ada", "z", at), Resume(ORDER_ID, "ada", "z", at)]
    for name, record in life.task.steps.items():
        for attempt in {record.attempt, max(0, record.attempt - 1)}:
            found += [Retry(ORDER_ID, name, attempt), Resubmit(ORDER_ID, name, attempt, "ada", "mended")]
    found += life.asked
    return found + [answer(request, outcome) for request, outcome in product(life.asked, Outcome)]


def read(message: Message, life: Life, sent_at: int) -> Opened:
    queue = "agent-worker" if isinstance(message, StepRequest) else "scheduler"
    loaded = Loaded(life.task, life.plan, {})
    return opened(queue, DeadLetter("m-1", encode(message), sent_at, 6, "handle"), lambda _: loaded, life.now)


def decided(event: Event, life: Life) -> Decision:
    return decide(life.task, life.plan, event, now=life.now, by="scheduler-1", timing=life.timing)


def effective(life: Life) -> list[Event]:
    """What would change the order now."""
    arriving = (
        each for each in messages(life) if not isinstance(each, StepRequest | ReportReject | Callback | ChildSubmit)
    )
    events: list[Event] = [DeadlineCheck(), *arriving]
    return [event for event in events if decided(event, life).task is not life.task]


def is_applied(found: Opened, life: Life) -> bool:
    """Whether the policy would act on what is sent again."""
    if found.what.startswith("a request"):
        history = decided(answer(decode_request(found.body)), life).history
        return HistoryKind.COMPLETED in {entry.kind for entry in history}
    message = decode_for_scheduler(found.body)
    assert not isinstance(message, ReportReject | Callback | ChildSubmit)
    decision = decided(message, life)
    refused = HistoryKind.REFUSED in {entry.kind for entry in decision.history}
    return not refused and (decision.task is not life.task or decision.messages != ())


@settings(max_examples=50)
@given(data=st.data(), plan=st.sampled_from(PLANS), reply_to=st.sampled_from(["", "https://sqs/replies"]))
def test_nothing_is_stale_that_the_policy_would_apply_and_nothing_else_is_current(
    data: st.DataObject, plan: Plan, reply_to: str
) -> None:
    """S6, S7: `--drop-stale` deletes only what would be refused, or would change and send nothing."""
    life = Life(plan, reply_to=reply_to)
    for _ in range(data.draw(st.integers(0, 8))):
        life.now += data.draw(st.sampled_from([0, SECOND, MINUTE, 3 * MINUTE]))
        if events := effective(life):
            life.apply(data.draw(st.sampled_from(events)))
    life.now += data.draw(st.sampled_from([0, MINUTE]))

    for message in messages(life):
        found = read(message, life, sent_at=data.draw(st.sampled_from([T0, life.now])))
        assert found.judgement.staleness is (Staleness.CURRENT if is_applied(found, life) else Staleness.STALE), message
