"""Every shard that some deployment may have used is looked into, however often the Supervisor runs."""

import pytest

from stepward.domain.coordination.shards import MOST_SHARDS, OTHERS_PER_RUN, others

NOON = 29_000_000


def runs_until_all_were_swept(shards: int, every: int, first: int) -> int:
    missing, runs = set(range(shards, MOST_SHARDS)), 0
    while missing:
        missing -= set(others(first + runs * every, shards, MOST_SHARDS))
        runs += 1
        assert runs < 100, (shards, every, missing)
    return runs


@pytest.mark.parametrize("every", range(1, 61))
def test_every_other_shard_has_its_turn(every: int) -> None:
    """D2: work that was left there by a deployment with more shards is found, at any `supervise_minutes`."""
    for shards in (1, 4, 8, 40, 90, 100):
        runs = [runs_until_all_were_swept(shards, every, NOON + first) for first in range(0, 60, 7)]
        assert every > 1 or max(runs) <= 20


def test_a_run_looks_into_few_shards_and_never_into_its_own() -> None:
    """S12: an empty shard costs two reads."""
    for minute in range(NOON, NOON + 100):
        found = others(minute, 4, MOST_SHARDS)
        assert len(found) <= OTHERS_PER_RUN
        assert 4 <= min(found) <= max(found) < MOST_SHARDS
    assert list(others(NOON, MOST_SHARDS, MOST_SHARDS)) == []
