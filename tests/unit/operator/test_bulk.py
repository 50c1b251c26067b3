"""O2: one command for all that match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from stepward.domain.coordination.breaker import AgentPause
from stepward.domain.errors import Transient
from stepward.operator.bulk import Bulk, End, Ended, Pace, Progress, dry_run, run
from stepward.operator.bulk_lanes import WaitingLanes
from stepward.operator.bulk_orders import Orders
from stepward.operator.filters import Filter
from stepward.testing.engine import Engine
from tests.depth import depth
from tests.unit.operator.deployed import of_engine
from tests.unit.testing.shop import ORDER, app, fulfilment, ship

DECLINED = Filter.parse("step=ship reason~street")
WHY = "the street is open again"


@dataclass
class Desk:
    """An operator with a shop whose courier has declined some orders; `seen` is the progress, in order."""

    engine: Engine
    stop_after: int = 10**9
    fail_at: int = 10**9
    seen: list[Progress] = field(default_factory=list)
    times: list[int] = field(default_factory=list)

    def fail(self, count: int, why: str = "no such street 17", first: int = 0) -> None:
        courier = self.engine.service(ship).declines(why)
        for number in range(first, first + count):
            self.engine.submit(fulfilment, ORDER | {"orderId": f"ord-{number}"})
            if number % 500 == 499:
                self.engine.run()
                self.engine.loop.steps = 0  # the engine takes 60,000 events for a circle
        self.engine.run()
        courier.works()
        self.engine.clock.move(1)

    def subjects(self, command: str = "resubmit", **changes: Any) -> Orders:
        return Orders(of_engine(self.engine), replace(Bulk(command, "street-7", "ada", WHY), **changes))

    def give(self, rate: float = 20, command: str = "resubmit", wish: Filter = DECLINED, **changes: Any) -> list[Ended]:
        pace = Pace(rate, self.progress, lambda: self.sent >= self.stop_after, lambda: self.engine.loop.now, self.wait)
        return list(run(self.subjects(command, **changes), wish, pace))

    @property
    def sent(self) -> int:
        return self.seen[-1].sent if self.seen else 0

    def progress(self, now: Progress) -> None:
        self.seen.append(now)
        self.engine.loop.steps = 0
        self.times.append(self.engine.loop.now)

    def wait(self, seconds: float) -> None:
        self.engine.clock.move(seconds)

    def ends(self, ended: list[Ended]) -> Counter[End]:
        return Counter(each.end for each in ended)


@pytest.fixture
def desk() -> Iterator[Desk]:
    with Engine(app) as engine:
        yield Desk(engine)


def test_a_dry_run_says_how_many_of_which_kinds_the_oldest_and_why(desk: Desk) -> None:
    """O2: nothing is sent, and numbers in a reason do not make it another one."""
    desk.fail(3)
    desk.fail(2, "no such street 18", first=3)
    desk.fail(1, "too heavy", first=5)

    found = dry_run(desk.subjects(), Filter.parse("step=ship"))

    assert found.count == 6
    assert found.oldest
    assert found.oldest.order_id in {"ord-0", "ord-1", "ord-2"}
    assert found.kinds == {"fulfilment Error ship": 6}
    assert list(found.reasons.values()) == [5, 1]
    assert "no such street N" in next(iter(found.reasons))
    assert dry_run(desk.subjects(), DECLINED).count == 5
    assert not desk.engine.pump.lines["scheduler"].queue.waiting


@pytest.mark.parametrize("count", [depth(10_000, 60)])
def test_all_that_match_run_again_and_each_effect_stands_once(desk: Desk, count: int) -> None:
    """O2: though the run is stopped in its middle; each audit log names the bulk, which has nothing to do at last."""
    desk.fail(count)
    desk.fail(2, "too heavy", first=count)

    desk.stop_after = count // 2
    first = desk.give(rate=1000)
    desk.stop_after = count
    second = desk.give(rate=1000)

    assert desk.ends(first) == {End.APPLIED: count // 2, End.LEFT: count // 2}
    assert desk.ends(second) == {End.APPLIED: count // 2}
    assert all(each.is_good for each in (*first, *second) if each.end is End.APPLIED)
    desk.engine.run()
    desk.engine.verdict()
    assert Counter(desk.engine.effects) == {"reserve": count + 2, "charge": count + 2, "ship": count}
    (entry,) = of_engine(desk.engine).audit_log.of("ord-1")
    assert (entry.command, entry.who, entry.why) == ("resubmit", "ada", f"{WHY} (bulk street-7)")
    assert desk.give() == []


def test_a_run_keeps_its_rate_and_says_how_far_it_is(desk: Desk) -> None:
    """O2: no second has more than the rate."""
    desk.fail(12)
    desk.give(rate=4)
    assert [each.sent for each in desk.seen] == [4, 8, 12]
    assert [time - desk.times[0] for time in desk.times] == [0, 1000, 2000]


def test_a_run_that_is_stopped_says_what_it_left_and_another_goes_on(desk: Desk) -> None:
    """O2: Ctrl-C ends it cleanly; what was asked is not asked again."""
    desk.fail(12)
    desk.stop_after = 4
    assert desk.ends(desk.give(rate=4)) == {End.APPLIED: 4, End.LEFT: 8}

    desk.stop_after = 100
    assert desk.ends(desk.give(rate=4)) == {End.APPLIED: 8}
    desk.engine.run()
    assert Counter(desk.engine.effects)["ship"] == 12


def test_orders_whose_agent_leaves_its_service_alone_are_held_back(desk: Desk) -> None:
    """O2: another run of the same bulk takes them once the agent works."""
    desk.fail(3)
    breakers = of_engine(desk.engine).breakers
    breakers.pause("courier", AgentPause("eve", "strike", 1))

    assert dry_run(desk.subjects(), DECLINED).held == {"agent courier is paused": 3}
    assert desk.ends(desk.give()) == {End.HELD: 3}
    breakers.resume("courier", desk.engine.loop.now)
    assert desk.ends(desk.give()) == {End.APPLIED: 3}


def test_an_order_that_fails_again_is_not_a_success(desk: Desk) -> None:
    """Issue: `is Error now` is no exit code 0."""
    desk.fail(2)
    desk.engine.service(ship).declines("no such street", times=1)
    ended = desk.give()
    assert Counter(each.is_good for each in ended) == {True: 1, False: 1}
    assert {each.end for each in ended} == {End.APPLIED}


@pytest.mark.parametrize(
    ("command", "state", "again"),
    [("undo", "Undone", End.REFUSED), ("cancel", "Undone", End.REFUSED), ("pause", "Error", End.REFUSED)],
)
def test_each_command_is_given_once(desk: Desk, command: str, state: str, again: End) -> None:
    """O2: a repetition of the same bulk changes nothing."""
    desk.fail(3)
    ended = desk.give(command=command, wish=Filter.parse("id^ord-"))
    assert {(each.end, each.state) for each in ended} == {(End.APPLIED, state)}
    assert {each.end for each in desk.give(command=command, wish=Filter.parse("id^ord-"))} <= {again}


def test_what_could_not_be_sent_is_left(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """O2: before anything is sent, a failure is the command's; after that, the rest is left."""
    desk.fail(12)
    send: Callable[..., None] = Orders.send

    def broken(orders: Orders, ready: object) -> None:
        if desk.sent >= desk.fail_at:
            raise Transient("throttled")
        send(orders, ready)

    monkeypatch.setattr(Orders, "send", broken)
    desk.fail_at = 0
    with pytest.raises(Transient):
        desk.give(rate=4)
    desk.fail_at = 4
    assert desk.ends(desk.give(rate=4)) == {End.APPLIED: 4, End.LEFT: 8}


def test_the_lanes_that_are_blocked_are_tried_again_each_once(desk: Desk) -> None:
    """O2: `convoy retry` for all that match; one that blocks again is no success, and a second run tries it anew."""
    events = [{"orderId": f"ord-{number}", "op": "add", "amount": "1.00", "sequence": 1} for number in range(3)]
    for event in events:
        desk.engine.send(event)
    desk.engine.run()
    connection = of_engine(desk.engine)
    bulk = Bulk("retry", "repaired", "ada", "the price list is repaired")
    lanes, wish = WaitingLanes(connection, bulk), Filter.parse("state=blocked id^ord-")
    pace = Pace(10, desk.progress, bool, lambda: desk.engine.loop.now, desk.wait)

    assert dry_run(lanes, wish).count == 3
    ended = run(lanes, wish, pace)
    assert {(each.end, each.state, each.is_good) for each in ended} == {(End.APPLIED, "blocked", False)}
    logs = [connection.audit_log.of(str(event["orderId"])) for event in events]
    assert [[entry.why for entry in log] for log in logs] == [["the price list is repaired (bulk repaired)"]] * 3
    assert {each.end for each in run(lanes, wish, pace)} == {End.APPLIED}
