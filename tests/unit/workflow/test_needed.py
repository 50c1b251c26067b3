"""D1: what an order in flight may still ask for; a deployment that takes that away would strand it."""

from collections.abc import Callable, Iterator

import pytest

from stepward.domain.messages import Outcome
from stepward.domain.task.lacking import needed
from stepward.domain.workflow.plan import Plan
from tests.factories import ALERTS, OTHER, Life, answer, paying, planned, shipping, started, undoable, waits


def of(life: Life, *, cancellable: bool = False) -> set[str]:
    return {f"{agent}.{name}" for agent, name in needed(life.task, life.plan, cancellable=cancellable)}


ALL = {f"worker.{name}" for name in ("reserve", "release", "charge", "refund", "ship", "recall")}
FORWARD = {"worker.release", "worker.refund", "worker.ship", "worker.recall"}
UNDOS = FORWARD - {"worker.ship"}
PAYING = {"worker.release", "worker.ship", "worker.refund"}
BY_OTHER = {"other.by_other", "other.unpay"}


@pytest.mark.parametrize(
    ("life", "needs"),
    [
        (Life(undoable()), ALL),
        (shipping(), FORWARD),
        (paying(OTHER, ALERTS), PAYING | BY_OTHER | {"worker.pay"}),
    ],
    ids=["nothing done", "two of three done", "with a fallback"],
)
def test_an_order_needs_the_steps_to_come_and_the_undo_of_those_done(life: Life, needs: set[str]) -> None:
    assert of(life) == needs


def test_a_check_is_needed_by_the_call_and_by_its_undo() -> None:
    """W7."""
    life, found = Life(undoable(check="find")), {"worker.find"}
    assert of(life) == ALL | found

    begun = shipping(check="find")
    begun.undo()
    assert of(begun) == UNDOS | found
    once = started(Plan("line", 1, (planned("ship", check="find"), planned("close", "ship"))))
    once.done("ship")
    assert of(once) == {"worker.close"}, "what is done and cannot be undone is not asked for"


def test_after_its_fallback_an_order_needs_the_first_agent_for_its_undo_only() -> None:
    life = paying(OTHER, ALERTS)
    life.used_up("pay")
    assert of(life) == PAYING | BY_OTHER


def test_an_undo_needs_the_undo_operations_alone() -> None:
    life = shipping()
    life.undo()
    assert of(life) == UNDOS


def test_an_ended_order_needs_nothing_unless_its_events_may_still_cancel_it() -> None:
    life = shipping()
    life.done("ship")
    assert (of(life), of(life, cancellable=True)) == (set(), UNDOS)
    life.undone()
    assert of(life, cancellable=True) == set()


def in_error(life: Life) -> None:
    life.apply(answer(life.request("ship"), Outcome.PERMANENT, error="no such address", result={}))
    life.undo()
    life.done("ship/undo")


def fallen_back(life: Life) -> None:
    life.used_up("pay")
    life.retry("pay/undo", 0)
    life.done("pay/undo")
    life.cancel()
    life.done("pay/by-other/undo")
    life.done("reserve/undo")


@pytest.mark.parametrize(
    ("life", "goes_on"),
    [
        (started(undoable()), lambda life: [life.done(name) for name in ("reserve", "charge", "ship")]),
        (shipping(exhausted=(waits(60_000), ALERTS)), lambda life: (life.used_up("ship"), life.undone())),
        (shipping(), in_error),
        (paying(OTHER, ALERTS), fallen_back),
    ],
    ids=["straight on", "waits, then undone", "refused", "fallback, then cancelled"],
)
def test_whatever_an_order_asks_for_later_it_needed_before(
    life: Life, goes_on: Callable[[Life], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = [(of(life), len(life.asked))]
    apply = Life.apply

    def noting(self: Life, *event: object, **how: object) -> object:
        decision = apply(self, *event, **how)  # type: ignore[arg-type]
        moments.append((of(self), len(self.asked)))
        return decision

    monkeypatch.setattr(Life, "apply", noting)
    goes_on(life)

    def missing() -> Iterator[set[str]]:
        for needs, before in moments:
            yield {f"{request.agent}.{request.operation}" for request in life.asked[before:]} - needs

    assert len(moments) > 3
    assert set().union(*missing()) == set()
