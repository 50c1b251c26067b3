"""Eight racers on the local cloud, each with clients of its own, started at one moment in every round."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from threading import Barrier
from typing import Any, TypeVar

import boto3
import pytest

from stepward.adapters.dynamodb.shared_records import DynamoSharedRecords
from stepward.adapters.dynamodb.task_store import DynamoTaskStore
from stepward.app.assembly import Assembly
from stepward.app.scheduler.transition import Transition
from stepward.domain.errors import Conflict
from stepward.domain.history import HistoryEntry
from stepward.domain.task.decide import Event
from stepward.domain.task.record import Task
from stepward.local.access import Access
from stepward.testing.memory.assembly import memory_assembly
from stepward.testing.settings import Settings
from tests.contract.worlds.shared_record_tables import created, on
from tests.contract.worlds.store_worlds import NOW, PLAN, TIMING, DynamoWorld
from tests.depth import depth
from tests.planned_app import PlannedApp

RACERS = 8
WAITS: dict[str, Any] = {"sleep": lambda _: None, "jitter": lambda: 0.0}
"""Who loses a write tries again at once: that is when racers meet."""
ROUNDS = int(os.environ.get("RACE_ROUNDS", depth(3, 1)))

OUTCOMES = "race"
Shared = Sequence[DynamoSharedRecords]
T = TypeVar("T")


@dataclass(frozen=True)
class Race:
    """Runs the same round again and again; `stores` are the racers' own views of one state store.

    `outcomes` counts the rounds of a test, and how they ended.
    """

    world: DynamoWorld
    stores: Sequence[DynamoTaskStore]
    threads: ThreadPoolExecutor
    rounds: Sequence[str] = field(default_factory=lambda: [f"ord-{number}" for number in range(ROUNDS)])
    outcomes: Counter[str] = field(default_factory=Counter)

    def orders(self, kind: str) -> Iterator[str]:
        """An order of its own for each round of a test."""
        return (f"{kind}-{order_id}" for order_id in self.rounds)

    def task(self, order_id: str) -> Task:
        loaded = self.world.store.load(order_id)
        assert loaded is not None
        return loaded.task

    def run(self, racers: Sequence[Callable[[], T]]) -> list[T]:
        """Start all racers at once; what each came back with."""
        self.outcomes["rounds"] += 1
        together = Barrier(len(racers), timeout=60)

        def started(racer: Callable[[], T]) -> T:
            together.wait()
            return racer()

        return list(self.threads.map(started, racers))

    def transition(self, racer: int, now: int, role: str = "scheduler") -> Transition:
        """The write path of one racer, whose clock stands at `now`."""
        return self.assembly(racer, now).transition(f"{role}-{racer}")

    def applying(
        self, order_id: str, event: Event, now: int, racers: Sequence[int] = range(RACERS), role: str = "scheduler"
    ) -> list[Callable[[], tuple[HistoryEntry, ...]]]:
        """What these racers do who all have the same event."""
        return [partial(self.transition(racer, now, role).apply, order_id, event) for racer in racers]

    def assemblies(self, shared: Shared, **ports: Any) -> list[Assembly]:
        """One for each racer, on its own view of the shared records."""
        return [self.assembly(racer, shared_records=records, **ports) for racer, records in enumerate(shared)]

    def assembly(self, racer: int, now: int = NOW, **ports: Any) -> Assembly:
        own = {
            "settings": Settings(timing=TIMING),
            "app": PlannedApp(PLAN),
            "store": self.stores[racer],
        }
        return memory_assembly(lambda: now, ("inventory", "payments", "shipping"), **(WAITS | own | ports))


def until_done(racer: Callable[[], T]) -> Callable[[], T]:
    """The racer as its queue has it: a message whose handler loses every write comes again."""

    def run() -> T:
        while True:
            try:
                return racer()
            except Conflict:
                continue

    return run


@pytest.fixture(scope="module")
def race(cloud_access: Access) -> Iterator[Race]:
    world = DynamoWorld.new(boto3.client("dynamodb", **cloud_access), cloud_access["endpoint_url"])
    with ThreadPoolExecutor(RACERS) as threads:
        yield Race(world, [world.another_store() for _ in range(RACERS)], threads)


@pytest.fixture
def shared(cloud_access: Access) -> Shared:
    """The racers' own views of one table of shared records."""
    table = created(boto3.client("dynamodb", **cloud_access))
    return [on(table, cloud_access["endpoint_url"]) for _ in range(RACERS)]


@pytest.fixture(autouse=True)
def _reports(race: Race, record_property: Callable[[str, object], None]) -> Iterator[None]:
    """Report how many rounds each test ran, and how they ended."""
    race.outcomes.clear()
    yield
    rounds = race.outcomes.pop("rounds", 0)
    record_property(OUTCOMES, (rounds, ", ".join(f"{count:,} {name}" for name, count in sorted(race.outcomes.items()))))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Show the races as a table, where somebody has asked for so many rounds."""
    races: list[tuple[str, Any]] = [
        (report.nodeid, value)
        for report in (report for group in terminalreporter.stats.values() for report in group)
        for key, value in getattr(report, "user_properties", ())
        if key == OUTCOMES
    ]
    if "RACE_ROUNDS" not in os.environ or not races:
        return
    terminalreporter.section("races")
    for nodeid, (rounds, ended) in sorted(races):
        name = nodeid.rpartition("::test_")[2].replace("_", " ")
        terminalreporter.write_line(f"{rounds:>5}  {name}" + (f": {ended}" if ended else ""))
