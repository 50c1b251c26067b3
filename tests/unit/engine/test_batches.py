"""The messages of one task in a batch: one read and one write, and each fails and sends for itself."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from stepward.adapters.sqs.delivery import NotTaken
from stepward.app.intake import Received
from stepward.app.optimistic import LEAST_TIME
from stepward.app.scheduler.audit_log import AuditLog
from stepward.app.scheduler.together import decide_together
from stepward.domain.errors import Conflict, Rejected, RetryLater, StepwardError, Transient
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Cancel, Outcome, Reply, Report, Start, Undo
from stepward.domain.task.change import Decision
from stepward.domain.task.decide import Event, decide
from stepward.domain.task.record import Loaded, ProcessState, Task
from stepward.domain.workflow.plan import Plan
from stepward.testing.memory.task_store import MemoryTaskStore
from stepward.wire.messages import decode_request, encode
from tests.factories import MINUTE, ORDER_ID, T0, Life, answer, notices, order_text, planned
from tests.lab.benchmarks.contention import answered_at_once
from tests.unit.engine.world import World

SIDES = ("pick", "pay", "print")
FAN = Plan("fan", 1, (*(planned(name, undo=f"un{name}") for name in SIDES), planned("ship", *SIDES)))
UNKNOWN = encode(Report(ORDER_ID)).replace("task.report", "task.newer")


@dataclass(slots=True)
class CountedStore(MemoryTaskStore):
    """Counts reads and writes; refuses to write a task in which these steps are done, and loses the first few races."""

    calls: list[str] = field(default_factory=list)
    refuses: dict[str, StepwardError] = field(default_factory=dict)
    lost: int = 0

    def load(self, order_id: str, *, with_order: bool = True) -> Loaded | None:
        self.calls.append("read")
        return MemoryTaskStore.load(self, order_id, with_order=with_order)

    def save(self, task: Task, *, replaces: Task) -> bool:
        self.calls.append("write")
        for name, error in self.refuses.items():
            if task.steps[name].process_state is ProcessState.PROCESSED:
                raise error
        self.lost -= 1
        return self.lost < 0 and MemoryTaskStore.save(self, task, replaces=replaces)


@dataclass
class Fan(World):
    """An order whose three steps run side by side; `batch` gives a Scheduler some messages at once."""

    plan: Plan = FAN

    def __post_init__(self) -> None:
        super().__post_init__()
        self.store: CountedStore = CountedStore(lambda _: 0)
        self.submit.handle(order_text(customerId="acme"))
        self.schedule().handle(self.take(self.queues.scheduler))
        self.requests = {it.step: it for it in map(decode_request, self.drain(self.queues.agents["worker"]))}
        self.store.calls.clear()

    def reply(self, step: str, outcome: Outcome = Outcome.OK) -> str:
        return encode(answer(self.requests[step], outcome, error="" if outcome is Outcome.OK else "no"))

    def batch(self, *texts: str) -> list[Exception | None]:
        """What each of the messages met."""
        schedule = self.schedule()
        intake = self.assembly().intake(schedule.handle, schedule.take)
        messages = [Received(f"m-{number}", "responses", T0, text) for number, text in enumerate(texts)]
        met: list[Exception | None] = []
        for act in intake.accepting(messages, lambda: MINUTE):
            try:
                act()
            except StepwardError as error:
                met.append(error)
            else:
                met.append(None)
        return met

    @property
    def states(self) -> list[str]:
        return [record.process_state for record in self.store.tasks[ORDER_ID].steps.values()]

    def asked(self) -> list[str]:
        return [decode_request(text).step for text in self.drain(self.queues.agents["worker"])]


@pytest.fixture
def fan() -> Fan:
    return Fan()


def test_answers_of_one_task_are_one_read_and_one_write(fan: Fan) -> None:
    """W5: each is logged as ever, and what follows from all of them is asked for once."""
    before = fan.store.tasks[ORDER_ID].revision

    assert fan.batch(*map(fan.reply, SIDES)) == [None] * 3

    assert fan.store.calls == ["read", "write"]
    assert fan.store.tasks[ORDER_ID].revision == before + 1
    assert fan.states == ["Processed", "Processed", "Processed", "Processing"]
    assert fan.kinds()[-4:] == [*[HistoryKind.COMPLETED] * 3, HistoryKind.CLAIMED]
    assert fan.asked() == ["ship"]


def test_messages_of_several_tasks_are_written_one_by_one(fan: Fan) -> None:
    fan.submit.handle(order_text("ord-2"))

    assert fan.batch(fan.reply("pick"), encode(Start("ord-2"))) == [None] * 2

    assert fan.store.calls == ["read", "write"] * 2


@pytest.mark.parametrize(
    ("bad", "met"),
    [
        ("{", type(None)),
        (encode(Reply(ORDER_ID, "fly", 1, "t", Outcome.OK)), type(None)),
        (encode(Cancel(ORDER_ID, "shop", "", "other")), type(None)),
        (UNKNOWN, RetryLater),
    ],
    ids=["no JSON", "no such step", "another customer", "newer code"],
)
def test_a_message_that_fails_takes_no_neighbour_along(fan: Fan, bad: str, met: type) -> None:
    """Design rules 10 and 11."""
    found = fan.batch(fan.reply("pick"), bad, fan.reply("pay"))

    assert [type(each) for each in found] == [type(None), met, type(None)]
    assert fan.states[:3] == ["Processed", "Processed", "Processing"]
    assert [reject.message_id for reject in fan.rejects.newest(10)] == ([] if met is RetryLater else ["m-1"])


def test_a_message_that_meets_a_fault_of_the_code_fails_alone(fan: Fan, monkeypatch: pytest.MonkeyPatch) -> None:
    def buggy(task: Task, plan: Plan, event: object, **known: object) -> object:
        if isinstance(event, Report):
            raise KeyError("a bug")
        return decide(task, plan, event, **known)  # type: ignore[arg-type]

    monkeypatch.setattr("stepward.app.scheduler.transition.decide", buggy)
    schedule = fan.schedule()
    first, bug, last = schedule.take([fan.reply("pick"), encode(Report(ORDER_ID)), fan.reply("pay")], lambda: MINUTE)

    first()
    with pytest.raises(KeyError, match="a bug"):
        bug()
    last()

    assert fan.states[:3] == ["Processed", "Processed", "Processing"]


def test_a_message_that_spoils_the_write_for_good_fails_alone(fan: Fan) -> None:
    """Rule 11: DynamoDB refuses an item that is too large, whatever else was to be written with it."""
    fan.store.refuses = {"pay": Rejected("(record)", "too large")}

    assert fan.batch(*map(fan.reply, SIDES)) == [None] * 3

    assert fan.states[:3] == ["Processed", "Processing", "Processed"]
    assert [reject.message_id for reject in fan.rejects.newest(10)] == ["m-1"]


def test_what_fails_for_now_fails_for_all_and_is_not_tried_again_for_each(fan: Fan) -> None:
    fan.store.refuses = {"pay": Transient("throttled")}

    assert [str(error) for error in fan.batch(*map(fan.reply, SIDES))] == ["throttled"] * 3

    assert fan.store.calls == ["read", "write"]
    assert fan.kinds()[-1] is HistoryKind.CLAIMED


def test_each_message_fails_with_its_own_sends_and_a_second_delivery_sends_them(fan: Fan) -> None:
    """Rule 1: write first, send second; the claim's token derives from the message that made it."""
    last = fan.reply("print")
    fan.queues.agents["worker"].faults = lambda _: "InternalError"
    met = fan.batch(fan.reply("pick"), fan.reply("pay"), last)
    assert [type(error) for error in met] == [type(None), type(None), NotTaken]
    written = fan.store.tasks[ORDER_ID]

    fan.queues.agents["worker"].faults = lambda _: ""
    assert fan.batch(last) == [None]

    assert fan.store.tasks[ORDER_ID] is written
    assert decode_request(fan.take(fan.queues.agents["worker"])).token == written.steps["ship"].token


def test_a_batch_that_dies_after_its_write_sends_all_of_it_the_next_time(fan: Fan) -> None:
    """Rule 1: nothing is claimed twice, and each message finds its own claims."""
    texts = [*map(fan.reply, SIDES)]
    first, *_ = fan.schedule("scheduler-2").take(texts, lambda: MINUTE)
    first()
    written = fan.store.tasks[ORDER_ID]

    assert fan.batch(*texts) == [None] * 3

    assert fan.store.tasks[ORDER_ID] is written
    assert fan.asked() == ["ship"]


def test_no_agent_is_asked_for_what_a_later_message_of_the_batch_has_stopped(fan: Fan) -> None:
    """I6: the undo counts the attempt as one that may have had its effect."""
    stop = encode(Undo(ORDER_ID, "ada", "sold twice"))

    assert fan.batch(*map(fan.reply, SIDES), stop) == [None] * 4

    assert "Stopped" in fan.states
    assert "ship" not in fan.asked()
    assert [entry.command for entry in AuditLog(fan.shared_records).of(ORDER_ID)] == ["undo"]


def test_messages_about_an_order_that_is_not_there_mean_what_they_mean_alone(fan: Fan) -> None:
    cancel = encode(Cancel("ord-9", "shop", "no longer wanted"))

    assert fan.batch(encode(Start("ord-9")), cancel, cancel) == [None] * 3

    assert [reject.message_id for reject in fan.rejects.newest(10)] == ["m-0"]
    assert list(fan.store.wishes) == ["ord-9"]


PICK, PAY, PRINT, REFUSED, UNDO = "pick", "pay", "print", "refused", "undo"


@pytest.mark.parametrize(
    ("batch", "told"),
    [
        ([PICK, PAY], ["received", "step-completed pick", "step-completed pay"]),
        ([PICK, REFUSED], ["received", "step-completed pick", "failed pay"]),
        ([PICK, REFUSED, UNDO], ["received", "step-completed pick", "undoing"]),
        ([PICK, UNDO, PICK], ["received", "step-completed pick", "undoing", "undoing"]),
        ([PICK, "again", PICK], ["received", "step-completed pick", "received", "received"]),
    ],
)
def test_notices_name_what_was_written(batch: Sequence[str], told: Sequence[str]) -> None:
    """I8: what the same write superseded was never reached."""
    life = Life(FAN, reply_to="https://sqs/replies")
    new = life.task
    life.start()
    events: dict[str, Event] = {name: answer(life.request(name)) for name in SIDES}
    events |= {
        REFUSED: answer(life.request("pay"), Outcome.PERMANENT, error="no"),
        UNDO: Undo(ORDER_ID, "ada", "sold twice"),
        "again": Report(ORDER_ID),
    }

    def of(task: Task, event: Event) -> Decision:
        return decide(task, FAN, event, now=life.now, by="scheduler-1", timing=life.timing)

    task, decided = decide_together(new, [Start(ORDER_ID), *map(events.__getitem__, batch)], of)

    sent = [notice for each in decided for notice in notices(each)]
    assert [f"{notice.status} {notice.step}".strip() for notice in sent] == told
    assert {notice.revision for notice in sent} == {task.revision} == {2}


@pytest.mark.parametrize(("instances", "most", "seed"), [(1, 2, 1), (5, 40, 1), (5, 40, 2), (20, 80, 1), (20, 80, 2)])
def test_twenty_answers_at_once_take_few_writes(instances: int, most: int, seed: int) -> None:
    """W5: who loses a write waits a random moment, longer with each loss, and no answer goes back to its queue."""
    found = answered_at_once(20, instances, seed)

    assert found.writes <= most
    assert (found.writes - found.lost > 0, found.returned) == (True, 0)


def test_who_has_no_time_left_lets_its_message_come_again(fan: Fan) -> None:
    """A run that is cut off would bring back its whole batch."""
    fan.store.lost = 1
    (act,) = fan.schedule().take([fan.reply("pick")], lambda: LEAST_TIME - 1)

    with pytest.raises(Conflict, match="1 writes lost the race"):
        act()

    assert fan.clock.slept == []
