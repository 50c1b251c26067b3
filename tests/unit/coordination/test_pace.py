"""W8, I14: the slots of an agent's rate, as many instances take them."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepward.app.agent.pacer import Pacer
from stepward.domain.coordination.pace import PATIENCE, SKEW, Pace, Slot, grant
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.testing.faults.rates import Rates
from stepward.testing.memory.shared_records import MemorySharedRecords
from tests.factories import SECOND, T0
from tests.unit.engine.troubled import TroubledRecords


def pacers(rate: float, count: int, records: MemorySharedRecords | None = None) -> list[Pacer]:
    """One pacer for each process of an agent, each with a thread more that wants a slot."""
    shared = MemorySharedRecords() if records is None else records
    return [Pacer("bank", shared, rate, lambda: 0, _wanting=[None] * number) for number in range(count)]


def calls(found: list[Pacer], times: list[int], dice: Random) -> list[int]:
    """When calls begin that are asked for at these times, each of somebody, and begin anywhere in their slot."""
    began = []
    for now in times:
        slot = dice.choice(found).slot(now)
        if isinstance(slot, Slot):
            earliest = max(now, slot.at)
            began += [dice.choice([earliest, slot.until - 1, dice.randrange(earliest, slot.until)])]
    return began


@given(st.sampled_from([0.05, 0.5, 1, 3, 7, 19, 25, 50, 333, 1_000, 10_000]), st.integers(1, 9), st.integers(0, 1_000))
def test_no_second_sees_more_than_the_rate_and_one_grant(rate: float, count: int, seed: int) -> None:
    dice, rates = Random(seed), Rates()  # noqa: S311 - a test wants dice that can be thrown again
    times = sorted(T0 + dice.randrange(5 * SECOND) for _ in range(500))

    began = calls(pacers(rate, count), times, dice)

    assert began
    assert not [said for at in sorted(began) for said in rates.exceeded("bank", rate, at)]


@pytest.mark.parametrize("rate", [1, 7, 50, 1_000])
def test_who_asks_often_enough_gets_the_whole_rate(rate: int) -> None:
    (pacer,) = pacers(rate, 1)

    slots = [slot for now in range(T0, T0 + 10 * SECOND) for _ in range(3) if isinstance(slot := pacer.slot(now), Slot)]

    assert 10 * rate <= len(slots) <= 10 * rate + grant(rate) + rate * PATIENCE // SECOND + 1
    assert all(one.at <= other.at for one, other in pairwise(slots))


@pytest.mark.parametrize(("others", "writes"), [(0, 5), (1, 3), (4, 1), (9, 1)])
def test_one_write_takes_what_the_threads_want_and_a_tenth_of_a_second_at_most(others: int, writes: int) -> None:
    records = TroubledRecords()
    pacer = Pacer("bank", records, 50, lambda: 0, _wanting=[None] * others)

    slots = [pacer.slot(T0) for _ in range(5)]

    assert slots == [Slot(T0 + at, T0 + at + 100) for at in range(0, 100, 20)]
    assert (records.reads, records.writes, grant(50)) == (writes, writes, 5)
    last = T0 + (120 if others == 1 else 100)
    assert pacers(50, 1, records)[0].slot(T0) == Slot(last, last + 100)


def test_a_slot_lapses_after_the_time_of_a_grant() -> None:
    records = MemorySharedRecords()
    pacer = Pacer("bank", records, 50, lambda: 0, _wanting=[None] * 4)
    pacer.slot(T0)

    assert pacer.slot(T0 + 119) == Slot(T0 + 20, T0 + 120)
    assert pacer.slot(T0 + 179) == Slot(T0 + 80, T0 + 180)
    assert pacer.slot(T0 + 180) == Slot(T0 + 180, T0 + 280), "it is a new one"


def test_no_slot_is_taken_that_nobody_waits_for_and_nobody_reads_meanwhile() -> None:
    """An instance waits at most PATIENCE; a request that waits longer goes back, and costs a read at most."""
    records = TroubledRecords()
    (pacer,) = pacers(1, 1, records)
    pacer.slot(T0)

    assert [pacer.slot(T0 + after) for after in (0, 500, 799)] == [801, 301, 2]
    assert (records.reads, records.writes) == (2, 1)
    assert pacer.slot(T0 + 801) == Slot(T0 + SECOND, T0 + 2 * SECOND)


@pytest.mark.parametrize("body", [{"free": (T0 + 3_600 * SECOND) * 1_000}, {"free": "soon"}, {}])
def test_neither_a_wrong_clock_nor_a_corrupt_record_holds_anybody_up(body: dict[str, object]) -> None:
    records = MemorySharedRecords({"pace/bank": SharedRecord("pace/bank", 7, body)})
    assert pacers(50, 1, records)[0].slot(T0) == Slot(T0, T0 + 100)


def test_a_clock_that_is_a_little_ahead_is_waited_for() -> None:
    ahead = Pace().taken(50, T0 + SKEW)[0]
    assert ahead.taken(50, T0)[0] is ahead


def test_who_was_held_up_before_the_record_was_read_takes_no_slot_of_others() -> None:
    """I14: its clock is from before a slow read, and the record is ahead of it."""
    records, late = MemorySharedRecords(), T0 + 40 * SECOND
    punctual = Pacer("bank", records, 0.05, lambda: late)
    held_up = Pacer("bank", records, 0.05, lambda: late + 50)
    assert punctual.slot(late) == Slot(late, late + 20 * SECOND)
    assert not isinstance(held_up.slot(T0), Slot)
