"""Ledgers under faults: anything dies anywhere, comes twice or late; two of every part; operators who click twice.

`make test` and `make lab` are deterministic; HYPOTHESIS_PROFILE=deep goes further, with another seed each time.
"""

from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from stepward.app.ledger import split as ledgers
from stepward.domain.convoy import change, needs
from stepward.domain.convoy.lane import LaneRules
from stepward.domain.errors import Transient
from stepward.testing.faults.record import Died
from stepward.testing.sqs.messages import Received as Message
from tests.depth import machine
from tests.factories import HOUR, MINUTE, SECOND
from tests.lab.convoy import audit
from tests.lab.convoy.gate import Fault
from tests.lab.convoy.record import RecordedLanes
from tests.lab.convoy.scripts import Book, books
from tests.lab.convoy.world import ConvoyWorld

RULES = {
    True: LaneRules(gap_within=15 * MINUTE, idle_after=24 * HOUR, attempts=4),
    False: LaneRules(sequenced=False, gap_within=15 * MINUTE, attempts=4),
}
copies = st.integers(0, 1)
passing = st.sampled_from([SECOND, 29 * SECOND, 31 * SECOND, MINUTE, 6 * MINUTE, 20 * MINUTE, 25 * HOUR])
faults = st.none() | st.sampled_from(list(Fault))
calls = st.integers(0, 12)


class LedgersUnderFaults(RuleBasedStateMachine):
    """The real use cases over the memory twins.

    I7 events of one order are applied in sequence, once; one order never delays another.
    I9 the index lists lanes early or on time, never late.
    C3 a crash half-way through a ledger loses nothing and doubles nothing.
    C4 two consumers of one order never apply its events out of order.
    C5 duplicates, gaps and what comes after the end are found.
    C6 a poison event stops its own order only, until an operator acts.
    """

    def __init__(self) -> None:
        super().__init__()
        self.small = pytest.MonkeyPatch()
        self.small.setattr(ledgers, "CHUNK", 3)
        for module in (needs, change):
            self.small.setattr(module, "PAGE", 2)
        self.small.setattr(change, "MOST_HISTORY", 3)
        self.in_hand: dict[tuple[str, int], list[Message]] = {}
        self.sent: list[Book] = []

    @initialize(chance=st.randoms(use_true_random=False), numbered=st.booleans())
    def deploy(self, chance: Random, *, numbered: bool) -> None:
        """Deploys the engine, and decides what is going to be sent."""
        world = self.world = ConvoyWorld(rules=RULES[numbered])
        world.lanes = self.lanes = RecordedLanes(rules=world.rules)
        self.left = audit.Left(world.rules, self.lanes, world.store, world.shared_records, world.rejects, world.alerts)
        self.to_send = books(chance, numbered=numbered)
        self.somebody_sends(often=1)

    @rule(often=st.integers(1, 2))
    def somebody_sends(self, often: int) -> None:
        if self.to_send:
            self.sent.append(self.to_send.pop(0))
            for copy in range(often):
                self._send(self.sent[-1], again=copy > 0)

    @rule(customer=st.integers(0, 5))
    def a_ledger_comes_again(self, customer: int) -> None:
        if self.sent:
            self._send(self.sent[customer % len(self.sent)], again=True)

    @rule(copy=copies, left=st.sampled_from([1, 1, 10 * MINUTE]), fault=faults, after=calls)
    def a_ledger_processor_works(self, copy: int, left: int, fault: Fault | None, after: int) -> None:
        """It takes a ledger, or goes on with the one that it still holds, however late that is."""
        self._arm(fault, after)
        self._walk(copy, left)

    @rule(copy=copies, fault=faults, after=calls)
    def a_consumer_works(self, copy: int, fault: Fault | None, after: int) -> None:
        self._arm(fault, after)
        self._work(copy)

    @rule(part=st.sampled_from(["ledgers", "events"]), copy=copies)
    def somebody_stalls(self, part: str, copy: int) -> None:
        """A part takes messages and does nothing yet; others may get them after their visibility timeout."""
        queue = self.world.ledgers if part == "ledgers" else self.world.events
        self.in_hand.setdefault((part, copy), queue.receive(1 if part == "ledgers" else 10))

    @rule(order_id=st.sampled_from("ABCD"), what=st.sampled_from(["retry", "skip", "replace"]), often=st.integers(1, 2))
    def an_operator_acts(self, order_id: str, what: str, often: int) -> None:
        """On the event that blocks the lane, on one that never came, or for no reason; perhaps with two clicks."""
        lane = self.lanes.lanes.get(order_id)
        position = lane.blocked.position if lane and lane.blocked else (lane.last + 1 if lane else 1)
        for _ in range(often):
            self._command(what, order_id, position)

    @rule(fault=faults, after=calls)
    def the_supervisor_sweeps(self, fault: Fault | None, after: int) -> None:
        self._arm(fault, after)
        self._unless_it_dies(self.world.lane_sweep)

    @rule(by=passing)
    def time_passes(self, by: int) -> None:
        """Perhaps more than the five minutes for which a queue knows a message again."""
        self.world.clock.now += by

    @invariant()
    def no_write_was_wrong(self) -> None:
        """I7 and I9 in every single write."""
        assert not hasattr(self, "world") or not self.lanes.faults

    def teardown(self) -> None:
        """No more faults: all that was sent is worked on, and an operator resolves what then still waits."""
        try:
            if hasattr(self, "world"):
                self._settle()
        finally:
            self.small.undo()

    def _settle(self) -> None:
        self.world.gate.calm()
        while self.to_send:
            self.somebody_sends(often=1)
        self._drain()
        for lane in list(self.lanes.lanes.values()):
            audit.at_rest(self.left, lane)
        self._resolve()
        assert not self.lanes.faults
        assert all((lane.blocked, lane.waiting) == (None, 0) for lane in self.lanes.lanes.values())
        for _, _, check in audit.checks(self.left, self.sent):
            check()
        if not self.world.gate.hits:
            audit.alerted_once(self.left)

    def _resolve(self) -> None:
        for _ in range(60):
            if not (troubled := list(self.lanes.needing_attention())):
                return
            for lane in map(self.world.lane, troubled):
                if lane.blocked or lane.last < lane.highest:
                    self._command("skip", lane.order_id, lane.blocked.position if lane.blocked else lane.last + 1)
            self._drain()

    def _drain(self) -> None:
        """Works until the queues are empty and every alert is sent."""
        for _ in range(40):
            self.world.clock.now += 2 * MINUTE
            self.in_hand.clear()
            self.world.run()
            self.world.lane_sweep()
        assert not self.world.ledgers.bodies
        assert not self.world.events.bodies

    def _send(self, book: Book, *, again: bool) -> None:
        self.world.ledger(book.ledger_id, *book.entries, customer=book.customer, again=again)

    def _command(self, what: str, order_id: str, position: int) -> None:
        match what:
            case "retry":
                self.world.retry(order_id)
            case "skip":
                self.world.skip(order_id, position)
            case "replace" if position > 0:
                self.world.replace(order_id, position, audit.replacement(self.world.rules, order_id, position))

    def _arm(self, fault: Fault | None, after: int) -> None:
        self.world.gate.calm()
        if fault is not None:
            self.world.gate.arm(fault, after, self._somebody_else)

    def _somebody_else(self) -> None:
        """The other copy takes what is in its hand, or what its queue has, in the middle of somebody's call."""
        self._walk(1, MINUTE)
        self._work(1)

    def _walk(self, copy: int, left: int) -> None:
        messages = self.in_hand.pop(("ledgers", copy), None) or self.world.ledgers.receive(1)
        self._unless_it_dies(lambda: self.world.walk(messages, lambda: left))

    def _work(self, copy: int) -> None:
        messages = self.in_hand.pop(("events", copy), None) or self.world.events.receive()
        self._unless_it_dies(lambda: self.world.work(messages))

    @staticmethod
    def _unless_it_dies(act: Callable[[], object]) -> None:
        with suppress(Died, Transient):
            act()


LedgersUnderFaults.TestCase.settings = machine(200, 40, steps=40, deep=4_000)
TestLedgersUnderFaults = LedgersUnderFaults.TestCase
