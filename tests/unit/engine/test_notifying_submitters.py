"""I8: every notice names a state that was really reached, under a revision that only rises."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepward.domain.errors import Transient
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Cancel, Instruction, Pause, Report, Resume, Start, Undo
from stepward.domain.task.record import ProcessState
from stepward.testing.memory.notices import MemoryReplyQueues
from stepward.wire.messages import encode
from tests.factories import MINUTE, ORDER_ID
from tests.unit.engine.shop import Died, Shop, check, plan

FIELD_CASES = Path(__file__).parents[2] / "field_cases"


def test_a_submitter_hears_how_its_order_goes_from_receipt_to_completion() -> None:
    """S19, I8."""
    shop = Shop(plan())
    shop.order()
    shop.run()
    assert shop.statuses() == [
        ("received", None),
        ("step-completed", "reserve"),
        ("step-completed", "charge"),
        ("completed", None),
    ]
    check(shop.hear(), shop.reached.written)


def test_a_submitter_hears_that_its_order_is_undone() -> None:
    """S17, S19."""
    shop = Shop(plan())
    shop.fails = {"charge"}
    shop.order()
    shop.run()
    assert shop.statuses() == [
        ("received", None),
        ("step-completed", "reserve"),
        ("undoing", None),
        ("undone", None),
    ]
    check(shop.hear(), shop.reached.written)


def test_a_submitter_hears_that_its_order_cannot_be_undone_for_now() -> None:
    """S17, S19."""
    shop = Shop(plan())
    shop.fails = {"charge", "release"}
    shop.order()
    shop.run()
    assert shop.statuses()[-2:] == [("undoing", None), ("undo-failed", "reserve/undo")]
    check(shop.hear(), shop.reached.written)


def test_a_submitter_hears_that_its_order_waits_for_an_operator() -> None:
    """S7, S19."""
    shop = Shop(plan())
    shop.fails = {"reserve"}
    shop.order()
    shop.run()
    assert shop.statuses() == [("received", None), ("failed", "reserve")]
    check(shop.hear(), shop.reached.written)


def test_notices_that_arrive_reversed_and_twice_can_be_put_back_into_place() -> None:
    """S19: status_notifications_order.json, with notices as they are really posted."""
    case = json.loads((FIELD_CASES / "status_notifications_order.json").read_text())
    shop = Shop(plan())
    shop.order()
    shop.run()
    *_, earlier, _, last = shop.hear()
    posted = {3: last, 2: earlier}
    arrived = [posted[notice["revision"]] for notice in case["notices"]]

    assert len({(told["orderId"], told["revision"], told["status"], told["step"]) for told in arrived}) == 2
    assert max(arrived, key=lambda told: told["revision"])["status"] == "completed"


def test_an_order_without_a_queue_is_told_of_to_nobody() -> None:
    """S19."""
    shop = Shop(plan())
    shop.order(replyTo=None)
    shop.run()
    assert shop.reached.tasks[ORDER_ID].process_state is ProcessState.PROCESSED
    assert shop.hear() == []
    assert HistoryKind.NOTICE_LOST not in shop.kinds()


def test_the_supervisor_posts_nothing_and_has_the_scheduler_report_once() -> None:
    """S14, S19: it has no right to queues of others."""
    shop = Shop(plan())
    shop.order()
    while shop.statuses()[-1:] != [("step-completed", "reserve")]:
        shop.step()
    shop.take(shop.queues.agents["worker"])
    told = shop.statuses()

    shop.sweep()

    assert shop.reached.tasks[ORDER_ID].process_state is ProcessState.UNDOING
    assert shop.statuses() == told
    assert shop.queues.scheduler.bodies.count(encode(Report(ORDER_ID))) == 1
    shop.run()
    assert ("undoing", None) in shop.statuses()
    assert shop.statuses()[-1] == ("undone", None)
    check(shop.hear(), shop.reached.written)


def test_a_queue_that_is_gone_changes_nothing_about_the_order() -> None:
    """S19, field case 76: a metric for each notice, and no message comes back."""
    shop = Shop(plan())
    shop.notices = replace(shop.notices, post_to=MemoryReplyQueues({}))
    shop.order()
    shop.run()
    assert shop.reached.tasks[ORDER_ID].process_state is ProcessState.PROCESSED
    assert shop.kinds().count(HistoryKind.NOTICE_LOST) == 4


def test_what_the_order_needs_is_sent_before_its_submitter_is_told() -> None:
    """S19: a busy queue holds back the notice and nothing else."""
    shop = Shop(plan())
    shop.order()
    shop.replies.faults = lambda _: "InternalError"
    with pytest.raises(Transient):
        shop.step()
    assert len(shop.queues.agents["worker"].bodies) == 1


@pytest.mark.parametrize("fault", ["the process dies after the write", "the queue is busy"])
def test_a_notice_that_could_not_be_posted_is_told_when_the_message_comes_again(fault: str) -> None:
    """S16, S19: at least once, by the state in which the order then is."""
    shop = Shop(plan())
    shop.order()
    while ("step-completed", "reserve") not in shop.statuses():
        shop.step()
    shop.serve(*shop.operations()).handle(shop.take(shop.queues.agents["worker"]))
    reply = shop.take(shop.queues.responses)
    shop.reached.dies = fault.startswith("the process")
    shop.replies.faults = lambda _: "" if shop.reached.dies else "InternalError"
    with pytest.raises((Died, Transient)):
        shop.tell(reply)
    assert ("completed", None) not in shop.statuses()

    shop.replies.faults = lambda _: ""
    shop.tell(reply)

    assert shop.statuses()[-1] == ("completed", None)
    check(shop.hear(), shop.reached.written)


def test_a_supervisor_that_dies_before_it_asked_for_a_report_leaves_the_asking_to_the_next() -> None:
    """S11, S19: the step's Error stays due until it was told."""
    shop = lived(["step", "lose", "sweep", "wait", "step", "lose", "die", "sweep"])
    assert shop.reached.tasks[ORDER_ID].process_state is ProcessState.ERROR
    assert shop.statuses()[-1] == ("failed", None)
    check(shop.hear(), shop.reached.written)


def test_a_scheduler_that_dies_before_it_told_of_an_undo_tells_of_it_when_the_cancel_comes_again() -> None:
    """S16, S19: nothing had begun, so the undo ended in the write that began it, and nothing else will come."""
    shop = Shop(plan())
    shop.order()
    shop.reached.dies = True
    with pytest.raises(Died):
        shop.tell(encode(COMMANDS["cancel"]))
    assert shop.hear() == []

    shop.tell(encode(COMMANDS["cancel"]))

    assert shop.statuses() == [("undone", None)]
    check(shop.hear(), shop.reached.written)


ENDS = {
    ProcessState.PROCESSED: "completed",
    ProcessState.ERROR: "failed",
    ProcessState.UNDONE: "undone",
    ProcessState.UNDO_FAILED: "undo-failed",
}
COMMANDS: Mapping[str, Instruction] = {
    "again": Start(ORDER_ID),
    "undo": Undo(ORDER_ID, "ada", "she wants it"),
    "cancel": Cancel(ORDER_ID, "shop", "not wanted"),
    "pause": Pause(ORDER_ID, "ada", "wait"),
    "resume": Resume(ORDER_ID, "ada", "go on"),
    "report": Report(ORDER_ID),
}
ACTIONS = st.lists(
    st.sampled_from(["step"] * 12 + ["wait", "sweep", "lose", "fail", "mend", "die", "busy", *COMMANDS]), max_size=60
)


def act(shop: Shop, action: str) -> None:
    """One thing that may happen in the life of an order."""
    match action:
        case "step":
            shop.step()
        case "sweep":
            shop.sweep()
        case "wait":
            shop.clock.now += MINUTE // 2
        case "lose":
            list(shop.drain(shop.queues.agents["worker"]))
        case command if command in COMMANDS:
            shop.queues.scheduler.send(encode(COMMANDS[command]))
        case _:
            fault(shop, action)


def fault(shop: Shop, action: str) -> None:
    """One thing that may go wrong, or be put right."""
    match action:
        case "fail":
            shop.fails = {"charge", "release"}
        case "mend":
            shop.fails, shop.replies.faults = set(), lambda _: ""
        case "die":
            shop.reached.dies = True
        case "busy":
            shop.replies.faults = lambda _: "InternalError"


def lived(actions: Sequence[str]) -> Shop:
    """An order led through `actions`, and then left alone until nothing moves any more."""
    shop = Shop(plan())
    shop.order()
    for action in [*actions, "mend", "resume"]:
        try:
            act(shop, action)
        except (Died, Transient):
            shop.clock.now += MINUTE
    shop.reached.dies = False
    for _ in range(6):
        shop.run()
        shop.sweep()
    return shop


@settings(deadline=None)
@given(ACTIONS, st.randoms(use_true_random=False))
def test_whatever_happens_a_notice_is_true_and_the_newest_tells_the_end(actions: list[str], chance: Random) -> None:
    """S19, I8: the submitter gets its notices doubled and out of order."""
    shop = lived(actions)
    check(shop.hear(), shop.reached.written)
    heard = shop.hear() * 2
    chance.shuffle(heard)
    newest = max(told["revision"] for told in heard)
    last = {told["status"] for told in heard if told["revision"] == newest}
    assert ENDS[shop.reached.tasks[ORDER_ID].process_state] in last
