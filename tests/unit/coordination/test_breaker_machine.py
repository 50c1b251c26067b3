"""The breaker as a state machine, walked by Hypothesis as several instances would walk it."""

from dataclasses import dataclass, replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from stepward.domain.coordination.breaker import (
    LONGEST_CALL,
    PROBE_RECHECK,
    AgentPause,
    Breaker,
    Limits,
    Mode,
    Permit,
    permission,
    probing,
)
from tests.factories import HOUR, MINUTE, SECOND, T0
from tests.unit.coordination.test_breaker import BUG, DOWN, failed, succeeded

LIMITS = Limits(failures=2, open_for=10 * SECOND, longest=60 * SECOND)
PAUSE = AgentPause("ada", "the bank works on it", T0)


@dataclass(frozen=True, slots=True)
class Going:
    """A call of the service that has not ended."""

    permit: Permit
    ends_by: int


class SharedBreaker(RuleBasedStateMachine):
    """One breaker and any number of callers, who may die, be late, or be many.

    At most one probe at a time is under way; an open breaker lets nobody else through; and whatever has happened,
    a service that is well is called again within the longest wait.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now, self.names = T0, 0
        self.breaker = Breaker()
        self.going: list[Going] = []

    @initialize(opens=st.booleans())
    def it_may_begin_with_an_outage(self, opens: bool) -> None:
        for _ in range(LIMITS.failures if opens else 0):
            self.breaker = failed(self.breaker, Permit(self.now), self.now, LIMITS)

    @rule(within=st.sampled_from([SECOND, 30 * SECOND, 2 * HOUR]))
    def somebody_asks(self, within: int) -> None:
        self.names += 1
        probe, ends_by = f"p-{self.names}", self.now + min(within, LONGEST_CALL)
        self.breaker = probing(self.breaker, self.now, probe, self.now + within)
        found = permission(self.breaker, self.now, probe)
        if isinstance(found, Permit):
            assert self.breaker.mode is Mode.CLOSED or found.probe == self.breaker.probe
            self.going.append(Going(found, ends_by))

    @precondition(lambda self: self.going)
    @rule(
        pick=st.integers(0, 9),
        how=st.sampled_from(["works", "fails", "fails", "bug", "dies"]),
        order=st.sampled_from("abc"),
    )
    def a_call_ends(self, pick: int, how: str, order: str) -> None:
        call = self.going.pop(pick % len(self.going))
        if how == "works":
            self.breaker = succeeded(self.breaker, call.permit, self.now)
        elif how != "dies":
            fault = BUG if how == "bug" else DOWN
            self.breaker = failed(self.breaker, call.permit, self.now, LIMITS, order, fault)

    @rule(by=st.sampled_from([1, SECOND, 10 * SECOND, MINUTE, HOUR]))
    def time_passes(self, by: int) -> None:
        """Nobody works past the end of the call: an agent stops, or its function is ended."""
        self.now += by
        self.going = [call for call in self.going if call.ends_by > self.now]

    @rule(paused=st.booleans())
    def an_operator_acts(self, paused: bool) -> None:
        self.breaker = replace(self.breaker, pause=PAUSE if paused else None)

    @invariant()
    def one_probe_at_once(self) -> None:
        assert sum(bool(call.permit.probe) for call in self.going) <= 1

    @invariant()
    def only_a_probe_is_under_way_that_began_while_it_was_not_closed(self) -> None:
        if self.breaker.mode is not Mode.CLOSED:
            began = [call for call in self.going if call.permit.at > self.breaker.since and not call.permit.probe]
            assert not began

    @invariant()
    def failures_stay_under_the_limit(self) -> None:
        assert 0 <= self.breaker.failures == len(set(self.breaker.orders)) < LIMITS.failures

    @invariant()
    def it_is_stored_whole(self) -> None:
        assert Breaker.of(self.breaker.body()) == self.breaker

    def teardown(self) -> None:
        """A service that is well is called again, by one who comes back after each wait."""
        breaker, now, turns = replace(self.breaker, pause=None), self.now, 0
        while breaker.mode is not Mode.CLOSED:
            turns += 1
            assert turns <= 2 + LONGEST_CALL // PROBE_RECHECK
            breaker = probing(breaker, now, "last", now + SECOND)
            found = permission(breaker, now, "last")
            if isinstance(found, Permit):
                breaker = succeeded(breaker, found, now)
            else:
                now += found.wait
        assert now - self.now <= max(LIMITS.longest, LONGEST_CALL)


SharedBreaker.TestCase.settings = settings(max_examples=200, stateful_step_count=40, derandomize=True)
TestSharedBreaker = SharedBreaker.TestCase
