"""How the work of a sweep grows with the tasks that wait, and with those that are overdue."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

import boto3
from rich.table import Table

from stepward.adapters.dynamodb.indexes import shard_of
from stepward.cli.cost.priced import AGENTS, Priced, calls_in_a_row, order_text
from stepward.domain.messages import Start
from stepward.domain.task.decide import decide
from stepward.domain.task.record import Loaded, Task, new_task
from stepward.domain.timing import Timing
from stepward.testing.memory.assembly import memory_assembly
from stepward.testing.memory.task_store import MemoryTaskStore
from stepward.testing.settings import Settings
from tests.lab.benchmarks import contention
from tests.lab.benchmarks.cloud import SHARDS, Cloud, cloud
from tests.lab.benchmarks.engine import Speed, speed
from tests.lab.benchmarks.workload import line
from tests.lab.results import Progress, Result, table

T0 = 1_800_000_000_000
HOUR = 3_600_000
DAY = 24 * HOUR
PAGE = 25
STEPS = (1, 3, 10, 30)

Entry = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Sweep:
    """One run of the Supervisor over a store of `tasks` tasks that wait, `overdue` of which are overdue."""

    world: str
    tasks: int
    overdue: int
    reads: int
    queries: int
    writes: int
    ms: float
    read_units: float = 0


@dataclass(slots=True)
class IndexedStore(MemoryTaskStore):
    """The twin with a due index, as the table has one, so that a sweep does not read every task."""

    listed: list[list[Entry]] = field(default_factory=lambda: [[] for _ in range(SHARDS)])
    reads: int = 0
    queries: int = 0
    writes: int = 0

    def fill(self, tasks: Sequence[Task]) -> None:
        self.tasks |= {task.order_id: task for task in tasks}
        for task in tasks:
            self.listed[self.shard_of(task.order_id)].append((task.due or 0, task.order_id))
        for shard in self.listed:
            shard.sort()

    def load(self, order_id: str, *, with_order: bool = True) -> Loaded | None:
        self.reads += 1
        return MemoryTaskStore.load(self, order_id, with_order=with_order)

    def save(self, task: Task, *, replaces: Task) -> bool:
        """Write as the twin does, count it, and update the index."""
        self.writes += 1
        saved = MemoryTaskStore.save(self, task, replaces=replaces)
        if saved and task.due != replaces.due:
            shard = self.listed[self.shard_of(task.order_id)]
            del shard[bisect_left(shard, (replaces.due or 0, task.order_id))]
            insort(shard, (task.due or 0, task.order_id))
        return saved

    def due(self, shard: int, until: int) -> Iterator[str]:
        self.queries += 1
        found = self.listed[shard]
        yield from [order_id for _, order_id in found[: bisect_right(found, (until, "\uffff"))]]


def in_memory(tasks: int, overdue: Sequence[int]) -> Sequence[Sweep]:
    """Sweeps over the memory twin, one for each number of overdue tasks."""
    plan = line(3).plan()
    store = IndexedStore(lambda order_id: shard_of(order_id, SHARDS))
    store.plans[plan.plan_id] = plan
    model = new_task("model", plan, T0, Timing())
    late = decide(model, plan, Start("model"), now=T0, by="scheduler-1", timing=Timing()).task
    store.fill([replace(late, order_id=f"ord-{number:07d}", due=T0 + DAY + number) for number in range(tasks)])
    return [_sweep(store, tasks, count, late) for count in overdue]


def _sweep(store: IndexedStore, tasks: int, overdue: int, late: Task) -> Sweep:
    store.fill([replace(late, order_id=f"late-{overdue}-{number}") for number in range(overdue)])
    store.reads = store.queries = store.writes = 0
    # Recoveries of a long outage are uncounted; here each one counts as a failure of its agent.
    ports = {"settings": Settings(timing=Timing(outage_after=DAY), shards=SHARDS), "store": store}
    supervise = memory_assembly(lambda: T0 + HOUR, AGENTS, **ports).supervisor("supervisor-1", AGENTS)
    began = perf_counter()
    found = supervise.sweep(lambda: 50_000)
    lasted = (perf_counter() - began) * 1000
    if found.overdue != overdue:
        raise RuntimeError(f"{found.overdue} of {overdue} overdue tasks were found")
    return Sweep("memory", tasks, overdue, store.reads, store.queries, store.writes, lasted)


def on_moto(tasks: int, overdue: Sequence[int]) -> Sequence[Sweep]:
    """Sweeps by the real function on moto: its requests to AWS, and how AWS bills them."""
    with cloud(Priced(calls_in_a_row(3)), 1) as deployed:
        model = _claimed(deployed)
        _put(deployed, [_moved(model, f"ord-{number:07d}", late=False) for number in range(tasks)])
        deployed.supervise()
        return [_billed(deployed, model, tasks, count) for count in overdue]


def _billed(deployed: Cloud, model: dict[str, dict[str, str]], tasks: int, overdue: int) -> Sweep:
    _put(deployed, [_moved(model, f"late-{overdue}-{number}", late=True) for number in range(overdue)])
    deployed.wait(HOUR / 2000)
    deployed.meter.reset()
    began = perf_counter()
    deployed.supervise()
    lasted = (perf_counter() - began) * 1000
    asked = [operation for _, operation in deployed.meter.calls]
    reads = asked.count("BatchGetItem") + asked.count("GetItem")
    units = deployed.meter.bill.totals["read units"]
    return Sweep("moto", tasks, overdue, reads, asked.count("Query"), asked.count("PutItem"), lasted, units)


def _claimed(deployed: Cloud) -> dict[str, dict[str, str]]:
    """The item of an order whose first step is processing."""
    deployed.send([order_text(1)])
    deployed.pollers["orders"].poll()
    deployed.pollers["scheduler"].poll()
    ((table, item),) = [(key[0], item) for key, item in deployed.meter.bill.items.items() if "Steps" in item]
    boto3.client("dynamodb").delete_item(TableName=table, Key={"OrderID": item["OrderID"]})
    return dict(item)


def _moved(model: dict[str, dict[str, str]], order_id: str, *, late: bool) -> dict[str, dict[str, str]]:
    due = int(model["Due"]["N"]) + (0 if late else 365 * DAY)
    shard = {"N": str(shard_of(order_id, SHARDS))}
    return {**model, "OrderID": {"S": order_id}, "Due": {"N": str(due)}, "Shard": shard}


def _put(deployed: Cloud, items: Sequence[dict[str, dict[str, str]]]) -> None:
    table, client = deployed.stack.tables["tasks"], boto3.client("dynamodb")
    for start in range(0, len(items), PAGE):
        puts = [{"PutRequest": {"Item": item}} for item in items[start : start + PAGE]]
        client.batch_write_item(RequestItems={table: puts})  # type: ignore[dict-item]


def measure(progress: Progress) -> Result:
    """Sweeps over stores of every size, with no, ten and a thousand tasks overdue; more steps in an order."""
    sweeps: list[Sweep] = []
    overdue = (0, 10, 1000)
    for tasks in (1_000, 10_000):
        progress(f"sweeping {tasks:,} tasks on moto")
        sweeps += on_moto(tasks, overdue[:2])  # a thousand recoveries take moto a minute
    for tasks in (1_000, 10_000, 100_000, 1_000_000):
        progress(f"sweeping {tasks:,} tasks in memory")
        sweeps += in_memory(tasks, overdue)
    progress("answering steps at once")
    contended, contention_table = contention.measure()
    steps = {}
    for count in STEPS:
        progress(f"running orders of {count} steps")
        steps[count] = speed(50, 2000 // count, workflow=line(count))
    results = {"sweeps": sweeps, "contended": contended, "steps": steps}
    return results, [_sweep_table(sweeps), contention_table, _steps_table(steps)]


def _sweep_table(found: Sequence[Sweep]) -> Table:
    columns = ("", "tasks", "overdue", "queries", "reads", "writes", "read units", "ms")
    rows = []
    for it in found:
        counts = (it.tasks, it.overdue, it.queries, it.reads, it.writes, it.read_units)
        rows.append([it.world, *(f"{n:,g}" if n < 1e6 else f"{n:,}" for n in counts), f"{it.ms:,.1f}"])
    return table("Supervisor, one sweep", *columns, rows=rows, boxed=False)


def _steps_table(found: Mapping[int, Speed]) -> Table:
    rows = [
        (f"{steps} steps", f"{it.orders_per_s:,.0f}", f"{it.cpu_ms:.2f}", f"{it.cpu_ms / steps:.2f}")
        for steps, it in found.items()
    ]
    columns = ("", "orders/s", "CPU ms per order", "CPU ms per step")
    return table("Engine, 50 at once, by steps", *columns, rows=rows, boxed=False)
