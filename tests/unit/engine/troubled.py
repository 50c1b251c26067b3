"""Ports of a world that are in trouble, and orders that are."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.errors import StepwardError, Transient
from stepward.domain.task.record import Loaded, Task
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.testing.memory.task_store import MemoryTaskStore
from tests.factories import MINUTE
from tests.unit.engine.world import World


@dataclass(slots=True)
class TroubledRecords(MemorySharedRecords):
    """Fails to read or to write, loses races, or has something happen before its next write or in its next read.

    Counts its reads.
    """

    unread: StepwardError | None = None
    unwritten: StepwardError | None = None
    races_lost: int = 0
    before_write: Callable[[], object] = tuple
    reads: int = 0
    while_read: Callable[[], object] = tuple

    def read(self, name: str) -> SharedRecord | None:
        self.reads += 1
        if self.unread:
            raise self.unread
        found, act, self.while_read = MemorySharedRecords.read(self, name), self.while_read, tuple
        act()
        return found

    def write(self, shared_record: SharedRecord, *, replaces: SharedRecord | None) -> bool:
        if self.unwritten:
            raise self.unwritten
        act, self.before_write = self.before_write, tuple
        act()
        if self.races_lost:
            self.races_lost -= 1
            return False
        return MemorySharedRecords.write(self, shared_record, replaces=replaces)


def throttled() -> NoReturn:
    raise Transient("throttled")


@dataclass(slots=True)
class TroubledStore(MemoryTaskStore):
    """Fails to read or to write some tasks, and lists each due task `doubled` times, after the `stale` ones.

    `dark` are the shards of the index that cannot be read; `meanwhile` happens while a shard is read, and `rival`
    before each of the first `races` writes.
    """

    corrupt: Mapping[str, StepwardError] = field(default_factory=dict)
    contested: frozenset[str] = frozenset()
    dark: frozenset[int] = frozenset()
    doubled: int = 1
    stale: tuple[str, ...] = ()
    meanwhile: Callable[[int], object] = id
    rival: Callable[[], object] = tuple
    races: int = 0

    def load(self, order_id: str, *, with_order: bool = True) -> Loaded | None:
        if order_id in self.corrupt:
            raise self.corrupt[order_id]
        return MemoryTaskStore.load(self, order_id, with_order=with_order)

    def save(self, task: Task, *, replaces: Task) -> bool:
        if self.races:
            self.races -= 1
            self.rival()
        return task.order_id not in self.contested and MemoryTaskStore.save(self, task, replaces=replaces)

    def due(self, shard: int, until: int) -> Iterator[str]:
        if shard in self.dark:
            throttled()
        self.meanwhile(shard)
        listed = list(MemoryTaskStore.due(self, shard, until))
        yield from (order_id for order_id in (*self.stale, *listed) for _ in range(self.doubled))


def troubled(world: World, **troubles: Any) -> TroubledStore:
    """The world's state store with these troubles."""
    store = world.store
    return TroubledStore(store.shard_of, store.orders, store.tasks, store.plans, store.lock, **troubles)


def abandoned(count: int) -> World:
    """Orders whose first step is claimed, and whose agent died; complete-by is long past."""
    world = World()
    for number in range(count):
        world.ask(f"ord-{number}")
    world.clock.now += 2 * MINUTE
    return world
