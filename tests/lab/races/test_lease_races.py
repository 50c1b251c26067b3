"""S15: eight Supervisors on four shards, with leases in one real table."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock

import pytest

from stepward.app.supervisor.supervise import Supervise
from stepward.domain.health import Swept
from stepward.domain.history import HistoryKind
from stepward.testing.memory.task_store import MemoryTaskStore
from stepward.testing.memory.telemetry import MemoryTelemetry
from stepward.testing.settings import Settings
from tests.contract.worlds.store_worlds import NOW, TIMING
from tests.factories import MINUTE, SECOND
from tests.lab.races.conftest import RACERS, ROUNDS, Race, Shared

pytestmark = pytest.mark.cloud

SHARDS = 4
LEASE = 90 * SECOND


@dataclass(slots=True)
class Watched(MemoryTaskStore):
    """Has nothing due, and notes who reads a shard while somebody else does; `works` takes a while."""

    works: Callable[[], object] = field(default=lambda: None)
    busy: Counter[int] = field(default_factory=Counter)
    swept: Counter[int] = field(default_factory=Counter)
    overlaps: int = 0
    guard: Lock = field(default_factory=Lock)

    def due(self, shard: int, until: int) -> Iterator[str]:
        with self.guard:
            self.overlaps += self.busy[shard]
            self.busy[shard] += 1
            self.swept[shard] += 1
        self.works()
        with self.guard:
            self.busy[shard] -= 1
        yield from MemoryTaskStore.due(self, shard, until)


@pytest.fixture
def watched(shared: Shared) -> Watched:
    """One store for all, in which to read a shard takes as long as to read a row does."""
    return Watched(shard_of=lambda _: 0, works=partial(shared[0].read, "nothing"))


def supervisors(race: Race, shared: Shared, store: Watched, now: int) -> list[Supervise]:
    settings = Settings(timing=TIMING, shards=SHARDS, lease_length=LEASE)
    ports = {"settings": settings, "store": store, "telemetry": MemoryTelemetry()}
    racing = enumerate(race.assemblies(shared, now=now, **ports))
    return [one.supervisor(f"supervisor-{racer}", ()) for racer, one in racing]


def swept(race: Race, racing: Sequence[Supervise]) -> list[Swept]:
    return race.run([partial(one.sweep, lambda: MINUTE) for one in racing])


def unleased(racing: Sequence[Supervise]) -> int:
    telemetry = racing[0].leases.telemetry
    assert isinstance(telemetry, MemoryTelemetry)
    return telemetry.count(HistoryKind.UNLEASED)


def test_each_shard_is_swept_by_one_at_a_time(race: Race, shared: Shared, watched: Watched) -> None:
    """S15: and by somebody in every round."""
    racing = supervisors(race, shared, watched, NOW)
    skipped = 0
    for number in range(1, ROUNDS + 1):
        figures = swept(race, racing)

        assert all(each.swept + each.skipped == SHARDS for each in figures)
        assert all(watched.swept[shard] >= number for shard in range(SHARDS))
        skipped += sum(each.skipped for each in figures)
    assert (watched.overlaps, unleased(racing)) == (0, 0)
    assert skipped + watched.swept.total() == ROUNDS * RACERS * SHARDS
    race.outcomes["shards swept"], race.outcomes["shards left to others"] = watched.swept.total(), skipped


def test_a_dead_ones_shards_are_taken_over_once_it_must_be_dead(race: Race, shared: Shared, watched: Watched) -> None:
    """S15: within two periods of a minute."""
    for number in range(ROUNDS):
        died = NOW + number * 10 * MINUTE
        dead = supervisors(race, shared, watched, died)[0].leases
        assert all(replace(dead, holder="dead").take(shard) for shard in range(SHARDS))
        watched.swept.clear()

        early = supervisors(race, shared, watched, died + MINUTE)
        assert [figures.skipped for figures in swept(race, early)] == [SHARDS] * RACERS
        assert not watched.swept

        swept(race, supervisors(race, shared, watched, died + 2 * MINUTE))
        assert set(watched.swept) == set(range(SHARDS))
    assert watched.overlaps == 0
    race.outcomes["taken over"] = ROUNDS
