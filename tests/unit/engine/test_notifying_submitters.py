"""I8: every notice names a state that was really reached, under a revision that only rises.

The kit's judge compares each notice with the record at that revision.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepward.adapters.sqs.notices import CheckedNotices
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Cancel, Instruction, Pause, Report, Resume, Start, Undo
from stepward.domain.workflow.plan import Exhausted, Plan, PlannedStep, Policy, StepKind
from stepward.testing import Engine, Order
from stepward.testing.faults.pulse import Kill, Kind
from stepward.testing.memory.notices import MemoryReplyQueues
from stepward.testing.settings import REPLY_QUEUES
from stepward.wire.messages import encode
from tests.factories import ORDER_ID, planned
from tests.planned_app import PlannedApp

FIELD_CASES = Path(__file__).parents[2] / "field_cases"
CHARGE = replace(planned("charge", "reserve", threshold=1, undo="refund"), exhausted=(Policy(Exhausted.UNDO),))
APP = PlannedApp(
    Plan("shop", 1, (planned("reserve", threshold=2, undo="release"), replace(CHARGE, on_permanent=Exhausted.UNDO)))
)
RESERVED = ("step-completed", "reserve")


@pytest.fixture
def engine() -> Iterator[Engine]:
    """Two steps that can be undone; an order whose second step is refused or not answered is undone."""
    with Engine(APP) as engine:
        yield engine


def submit(engine: Engine, **more: object) -> Order:
    return engine.submit(None, {"orderId": ORDER_ID, "correlationId": "checkout-1"} | more)


def decline(engine: Engine, *names: str) -> None:
    for name in names:
        engine.service(APP.known["worker", name]).declines("no")


def statuses(engine: Engine) -> list[tuple[str, str]]:
    """What the notices say, after a check that each names its order, and that revisions never fall."""
    assert {(notice.order_id, notice.correlation_id) for notice in engine.notices} <= {(ORDER_ID, "checkout-1")}
    revisions = [notice.revision for notice in engine.notices]
    assert revisions == sorted(revisions)
    return [(notice.status, notice.step) for notice in engine.notices]


def until_reserved(engine: Engine) -> None:
    engine.run(until=lambda: statuses(engine)[-1:] == [RESERVED])


@pytest.mark.parametrize(
    ("declined", "expected"),
    [
        pytest.param((), [RESERVED, ("step-completed", "charge"), ("completed", "")], id="completed: S19"),
        pytest.param(("charge",), [RESERVED, ("undoing", ""), ("undone", "")], id="undone: S17, S19"),
        pytest.param(
            ("charge", "release"),
            [RESERVED, ("undoing", ""), ("undo-failed", "reserve/undo")],
            id="cannot be undone for now: S17, S19",
        ),
        pytest.param(("reserve",), [("failed", "reserve")], id="waits for an operator: S7, S19"),
    ],
)
def test_a_submitter_hears_how_its_order_goes_from_receipt_to_its_end(
    engine: Engine, declined: Sequence[str], expected: list[tuple[str, str]]
) -> None:
    decline(engine, *declined)
    submit(engine)
    engine.run()
    assert statuses(engine) == [("received", ""), *expected]


def test_notices_that_arrive_reversed_and_twice_can_be_put_in_order(engine: Engine) -> None:
    """S19: status_notifications_order.json, with notices as they are really posted."""
    case = json.loads((FIELD_CASES / "status_notifications_order.json").read_text())
    submit(engine)
    engine.run()
    *_, earlier, _, last = engine.notices
    posted = {3: last, 2: earlier}
    arrived = [posted[notice["revision"]] for notice in case["notices"]]

    assert len({(notice.order_id, notice.revision, notice.status, notice.step) for notice in arrived}) == 2
    assert max(arrived, key=lambda notice: notice.revision).status == "completed"


def test_nobody_is_notified_of_an_order_without_a_reply_queue(engine: Engine) -> None:
    """S19."""
    order = submit(engine, replyTo=None)
    engine.run()
    assert (order.state, engine.notices) == ("Processed", [])
    assert engine.parts.telemetry.count(HistoryKind.NOTICE_LOST) == 0


def test_the_supervisor_posts_nothing_and_has_the_scheduler_report_once(engine: Engine) -> None:
    """S14, S19: it has no right to queues of others."""
    order = submit(engine)
    until_reserved(engine)
    engine.lose("agent-worker")
    before = statuses(engine)

    engine.run(until=lambda: order.state == "Undoing")

    assert statuses(engine) == before
    assert engine.parts.queues.scheduler.bodies.count(encode(Report(ORDER_ID))) == 1
    engine.run()
    assert statuses(engine)[len(before) :] == [("undoing", ""), ("undone", "")]


def test_a_failure_that_the_supervisor_could_not_have_reported_is_reported_with_its_alert(engine: Engine) -> None:
    """S19: once the alert is confirmed nobody looks at the order again, so it waits for the report."""
    order, scheduler = submit(engine), engine.parts.queues.scheduler
    for _ in range(2):
        engine.lose("agent-worker")
    scheduler.faults = lambda each: "InternalError" if "task.report" in each.body else ""
    engine.run(limit=engine.clock.now + 10 * 60_000)
    assert (order.state, engine.alerts, statuses(engine)) == ("Error", [], [("received", "")])

    scheduler.faults = lambda _: ""
    engine.run()

    assert (len(engine.alerts), statuses(engine)[-1]) == (1, ("failed", ""))


def test_a_reply_queue_that_is_gone_changes_nothing_about_the_order(engine: Engine) -> None:
    """S19, field case 76: a metric for each notice, and no message comes back."""
    gone = CheckedNotices(MemoryReplyQueues({}), REPLY_QUEUES, engine.parts.telemetry)
    engine.parts.tapped = replace(engine.parts.tapped, notices=gone)
    order = submit(engine)
    engine.run()
    assert (order.state, engine.clock.seconds) == ("Processed", 0)
    assert engine.parts.telemetry.count(HistoryKind.NOTICE_LOST) == 4


def test_what_the_order_needs_is_sent_before_its_submitter_is_notified(engine: Engine) -> None:
    """S19: a busy reply queue holds back the notice and nothing else."""
    submit(engine)
    engine.pulse.kills.append(Kill("scheduler", 4, Kind.FAILS))
    engine.run(until=lambda: not engine.pulse.kills)
    assert "notices.post" in engine.pulse.timeline[-2]
    assert (len(engine.parts.queues.agents["worker"].bodies), engine.notices) == (1, [])


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        pytest.param(2, Kind.DIES_AFTER, id="the process dies after the write"),
        pytest.param(3, Kind.FAILS, id="the reply queue is busy"),
    ],
)
def test_a_notice_not_yet_posted_is_posted_when_the_message_comes_again(engine: Engine, call: int, kind: Kind) -> None:
    """S16, S19: at least once, by the state in which the order then is."""
    order = submit(engine)
    until_reserved(engine)
    engine.pulse.kills.append(Kill("scheduler", call, kind))
    engine.clock.move(0)
    assert (order.state, statuses(engine)[-1]) == ("Processed", RESERVED)

    engine.run()

    assert statuses(engine)[-1] == ("completed", "")


def test_a_supervisor_that_dies_before_it_asked_for_a_report_leaves_that_to_the_next() -> None:
    """S11, S19: the step's Error stays due until the submitter was notified. It dies at every call of its sweeps."""
    for call in range(1, 20):
        with Engine(APP) as engine:
            engine.lose("agent-worker", times=2)
            engine.kill("supervisor", call, after=True)
            order = submit(engine)
            engine.run()
            assert (order.state, engine.pulse.deaths) == ("Error", 1)
            assert statuses(engine)[-1] == ("failed", "")


@pytest.mark.parametrize("kind", [Kind.DIES_BEFORE, Kind.FAILS])
def test_a_notice_that_is_lost_behind_its_alert_is_posted_all_the_same(kind: Kind) -> None:
    """S16, S19: of a resume that comes again in vain; a death leaves the alert unconfirmed, for a Supervisor."""
    unread = PlannedStep("cooling", "", "", (), 0, 1, kind=StepKind.TIMER, until=("order", "nowhere"))
    with Engine(PlannedApp(Plan("shop", 1, (unread,)))) as engine:
        engine.lose("scheduler")
        order = submit(engine)
        for command in (COMMANDS["pause"], COMMANDS["resume"]):
            engine.clock.move(1)
            engine.post("scheduler", encode(command))
        engine.pulse.kills.append(Kill("scheduler", 1, kind, "notices.post"))

        engine.run()

        assert (order.state, engine.pulse.kills) == ("Error", [])
        assert statuses(engine)[-1] == ("failed", "")
        engine.verdict()


def test_a_scheduler_that_dies_before_it_reports_an_undo_does_so_when_the_cancel_comes_again(engine: Engine) -> None:
    """S16, S19: nothing had begun, so the undo ended in the write that began it, and nothing else will come."""
    engine.lose("scheduler")
    order = submit(engine)
    engine.run(until=lambda: bool(engine.parts.queues.scheduler.bodies))
    engine.post("scheduler", encode(COMMANDS["cancel"]))
    engine.kill("scheduler", call=2, after=True)
    engine.clock.move(0)
    assert (order.state, engine.notices, engine.pulse.deaths) == ("Undone", [], 1)

    engine.run()

    assert statuses(engine) == [("received", ""), ("undone", "")]


ENDS = {"Processed": "completed", "Error": "failed", "Undone": "undone", "UndoFailed": "undo-failed"}
COMMANDS: Mapping[str, Instruction] = {
    "again": Start(ORDER_ID),
    "undo": Undo(ORDER_ID, "ada", "she wants it"),
    "cancel": Cancel(ORDER_ID, "shop", "not wanted"),
    "pause": Pause(ORDER_ID, "ada", "wait"),
    "resume": Resume(ORDER_ID, "ada", "go on"),
    "report": Report(ORDER_ID),
}


def mend(engine: Engine) -> None:
    engine.pulse.kills.clear()
    for operation in APP.known.values():
        engine.service(operation).works()


ACTIONS: Mapping[str, Callable[[Engine], object]] = {
    "step": lambda engine: engine.run(until=partial(next, iter((False, True)))),
    "wait": lambda engine: engine.clock.move(30),
    "lose": lambda engine: engine.lose("agent-worker"),
    "decline": lambda engine: decline(engine, "charge", "release"),
    "mend": mend,
    "die": lambda engine: engine.kill("scheduler", call=2, after=True),
    "supervisor dies": lambda engine: engine.kill("supervisor", call=6, after=True),
    "busy": lambda engine: engine.pulse.kills.append(Kill("scheduler", 3, Kind.FAILS)),
    **{name: partial(Engine.post, queue="scheduler", text=encode(command)) for name, command in COMMANDS.items()},
}


@given(st.lists(st.sampled_from(["step"] * 12 + sorted(ACTIONS)), max_size=60), st.randoms(use_true_random=False))
def test_whatever_happens_a_notice_is_true_and_the_newest_tells_the_end(actions: list[str], chance: Random) -> None:
    """S19, I8: the submitter gets its notices doubled and out of order."""
    with Engine(APP) as engine:
        order = submit(engine)
        for action in [*actions, "mend", "resume"]:
            ACTIONS[action](engine)
        engine.run()
        ACTIONS["resume"](engine)  # a pause may have waited in its queue until now
        engine.run()
        engine.verdict()
        statuses(engine)
        received = engine.notices * 2
        chance.shuffle(received)
        newest = max(notice.revision for notice in received)
        assert ENDS[order.state] in {notice.status for notice in received if notice.revision == newest}
