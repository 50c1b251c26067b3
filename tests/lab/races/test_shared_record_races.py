"""S15: eight instances and one small record; each revision has one winner."""

from collections import Counter
from functools import partial
from typing import Any

import pytest

from stepward.app.agent.breakers import Breakers
from stepward.app.agent.guard import Guard
from stepward.domain.coordination.breaker import Limits, Mode, Permit
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.history import HistoryKind
from stepward.testing.memory.telemetry import MemoryTelemetry
from stepward.testing.settings import Settings
from tests.contract.worlds.store_worlds import NOW
from tests.lab.races.conftest import RACERS, Race, Shared
from tests.unit.coordination.test_guard import down

pytestmark = pytest.mark.cloud


def guards(race: Race, shared: Shared, agent: str, **ports: Any) -> list[Guard]:
    return [one.guard(agent) for one in race.assemblies(shared, **ports)]


def test_each_revision_has_one_winner(race: Race, shared: Shared) -> None:
    for name in race.rounds:
        before: SharedRecord | None = None
        for revision in (1, 2):
            bids = [SharedRecord(f"lease/{name}", revision, {"holder": racer}) for racer in range(RACERS)]

            won = race.run([partial(mine.write, bid, replaces=before) for mine, bid in zip(shared, bids, strict=True)])

            assert Counter(won) == {True: 1, False: RACERS - 1}
            before = shared[0].read(f"lease/{name}")
            assert before == bids[won.index(True)]
            race.outcomes["written"] += 1


def test_no_failure_is_lost_and_the_breaker_opens_once(race: Race, shared: Shared) -> None:
    for name in race.rounds:
        telemetry = MemoryTelemetry()
        racing = guards(race, shared, name, telemetry=telemetry, settings=Settings(breaker=Limits(failures=RACERS)))

        race.run([partial(guard.failed, Permit(NOW), NOW, down()) for guard in racing])

        assert Breakers(shared[0]).of(name).mode is Mode.OPEN
        assert telemetry.count(HistoryKind.BREAKER_OPENED) == 1
        race.outcomes["opened"] += 1


def test_one_of_many_probes(race: Race, shared: Shared) -> None:
    for name in race.rounds:
        telemetry, agent = MemoryTelemetry(), f"probed-{name}"
        settings = Settings(breaker=Limits(failures=1, open_for=1))
        racing = guards(race, shared, agent, telemetry=telemetry, settings=settings)
        racing[0].failed(Permit(NOW), NOW, down())

        found = race.run([partial(guard.admit, NOW + 1_000, NOW + 60_000) for guard in racing])

        assert sum(isinstance(each, Permit) for each in found) == 1
        assert telemetry.count(HistoryKind.BREAKER_PROBING) == 1
        race.outcomes["let through"] += 1
