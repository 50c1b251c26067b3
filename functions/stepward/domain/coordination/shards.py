"""Which shards a run of the Supervisor sweeps besides its own: those that another number of shards may have left."""

from __future__ import annotations

from zlib import crc32

MOST_SHARDS = 100
OTHERS_PER_RUN = 12


def others(minute: int, shards: int, most: int) -> range:
    """The shards from `shards` up to `most` whose turn it is in this minute (since the epoch).

    A task keeps its shard until it is written again. So a deployment with fewer shards, a rollback or a restored backup
    leaves work in shards that nobody sweeps for themselves. Every one has its turn, however many minutes lie between
    two runs.
    """
    if shards >= most:
        return range(0)
    turns = -(-(most - shards) // OTHERS_PER_RUN)
    # Each round is shifted by another number, for runs that come every two, three ... minutes.
    shift = crc32(str(minute // turns).encode())
    first = shards + (minute + shift) % turns * OTHERS_PER_RUN
    return range(first, min(first + OTHERS_PER_RUN, most))
