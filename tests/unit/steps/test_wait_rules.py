"""Waits in the pure policy: what is refused at import, and what a message that a queue delivers too soon does."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated

import msgspec
import pytest

from stepward import (
    UNDO,
    Default,
    OrderMessage,
    Remind,
    RetryAfter,
    Signal,
    Step,
    Timer,
    Workflow,
    WorkflowError,
    days,
    ref,
)
from stepward.domain.errors import Rejected
from stepward.domain.messages import ChildEnded, Outcome, Reply, Retry, SignalGiven
from stepward.domain.task.decide import Event
from stepward.domain.workflow.plan import Exhausted, Plan, PlannedStep, StepKind
from tests.unit.cli.lives import APPROVED, Life
from tests.unit.steps.test_waiting import approval, charged

TIMER = Plan("shop", 1, (PlannedStep("cooling", "", "", (), 300_000, 1, kind=StepKind.TIMER),))
WINDOW = "a timer ends at a zoned time"


class Booking(OrderMessage, frozen=True, kw_only=True):
    """Only `zoned` says when it is."""

    zoned: Annotated[datetime, msgspec.Meta(tz=True)]
    local: Annotated[datetime, msgspec.Meta(tz=False)]
    either: datetime
    day: date
    text: str
    maybe: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


def until(name: str) -> Timer:
    return Timer("window", until=ref.order(name))


@pytest.mark.parametrize(
    ("wait", "says"),
    [
        (until("zoned"), ""),
        *((until(name), f"order.{name} is a text; {WINDOW}") for name in ("local", "either", "day", "text")),
        (until("maybe"), "order.maybe may be missing; give it a default="),
        (Timer("window"), "give either a span or until="),
        (Timer("window", days(1), until=ref.order("zoned")), "give either a span or until="),
        (Timer("window", days(1_000)), "at most two years"),
        (approval(complete_within=None), "say how long it waits, 1 s to 366 days"),
        (approval(by="ann"), "by='ann'; it is 'operators' or 'submitters', or left out"),
        (
            approval(on_timeout=[RetryAfter(days(1)), UNDO]),
            "takes Remind, Default, UNDO or ALERT",
        ),
        (approval(on_timeout=Exhausted.WAIT), "WAIT has no attempt to repeat"),
        *(
            (charged(on_timeout=given), "takes RetryAfter, Fallback, UNDO or ALERT there, not Remind")
            for given in (Remind(days(1)), [Remind(days(1)), UNDO])
        ),
        (approval(on_timeout=[Remind(days(0)), UNDO]), "a reminder waits up to 366 days, 1 to 100 times"),
        (approval(on_timeout=Default({"by": "x" * 2_000})), "the default answer is over 2,000 bytes"),
    ],
)
def test_a_wait_that_cannot_work_is_refused_at_import(wait: Signal | Step | Timer, says: str) -> None:
    """W2, W3. Trap: a timer that ends at a time without an offset ends at another one in each process."""
    refused = ""
    try:
        Workflow("trips", version=1, order=Booking, steps=[wait])
    except WorkflowError as error:
        refused = str(error)
    assert says in refused
    assert bool(says) == bool(refused)


@pytest.mark.parametrize("wait", [TIMER, APPROVED], ids=["timer", "signal"])
def test_what_a_wait_does_not_take_is_rejected_and_its_start_again_is_no_news(wait: Plan) -> None:
    """I11: the message would come back for ever."""
    life = Life(plan=wait).start(0)
    (name, step), *_ = life.task.steps.items()
    wrong: list[Event] = [Reply("ord-1", name, 1, step.token or "", Outcome.OK), ChildEnded("ord-1", name, 1)]
    wrong += [SignalGiven("ord-1", name, "a-1")] if wait is TIMER else []
    for message in wrong:
        with pytest.raises(Rejected, match=f"'{name}' is a {wait.steps[0].kind}, which takes no"):
            life.apply(message, 10)
    assert life.apply(Retry("ord-1", name, 1), 10).task == life.task


def test_a_delayed_message_that_comes_early_ends_no_timer() -> None:
    """W3: it is sent again for the time that is left."""
    life = Life(plan=TIMER).start(0)
    before = life.task
    assert life.apply(Retry("ord-1", "cooling", 1), 299_999).task == before
    assert life.apply(Retry("ord-1", "cooling", 1), 300_000).task.process_state == "Processed"
