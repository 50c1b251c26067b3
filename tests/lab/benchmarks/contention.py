"""How often a conditional write is lost when all steps that run side by side are answered at once."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Barrier
from time import perf_counter, sleep  # noqa: TID251 - it takes the place of a call to DynamoDB

from rich.table import Table

from stepward.app.scheduler.schedule import Schedule
from stepward.domain.errors import Transient
from stepward.domain.messages import Outcome, Reply, Start
from stepward.domain.submission import Order, Submission
from stepward.domain.task.record import Loaded, Task, new_task
from stepward.domain.timing import Timing
from stepward.testing.memory.assembly import memory_assembly
from stepward.testing.memory.queues import MemoryQueues
from stepward.testing.memory.task_store import MemoryTaskStore
from stepward.wire.messages import decode_request, encode
from stepward.wiring.clock import now
from tests.lab.benchmarks.workload import AGENTS, order_text, side_by_side
from tests.lab.results import table

READ_S, WRITE_S = 0.005, 0.006


@dataclass(frozen=True, slots=True)
class Contended:
    """An order whose steps were all answered at the same moment."""

    steps: int
    writes: int
    lost: int
    returned: int
    """How many replies went back to their queue, because eight writes were lost in a row."""
    ms: float


@dataclass(slots=True)
class FarStore(MemoryTaskStore):
    """The twin behind a network: reads and writes take so long that others come in between."""

    writes: list[bool] = field(default_factory=list)

    def load(self, order_id: str, *, with_order: bool = True) -> Loaded | None:
        sleep(READ_S)
        return MemoryTaskStore.load(self, order_id, with_order=with_order)

    def save(self, task: Task, *, replaces: Task) -> bool:
        """Write slowly, and note whether the write won."""
        sleep(WRITE_S)
        saved = MemoryTaskStore.save(self, task, replaces=replaces)
        self.writes.append(saved)
        return saved


def answered_at_once(steps: int) -> Contended:
    """Run `steps` steps side by side, whose replies reach as many Schedulers at once."""
    store, plan = FarStore(lambda _: 0), side_by_side(steps).plan()
    queues = MemoryQueues.new(now, AGENTS)
    schedule = memory_assembly(now, store=store, queues=queues).scheduler("scheduler-1")
    task = new_task("ord-1", plan, now(), Timing())
    if store.submit(Order("ord-1", order_text(1), "hash"), task, plan) is not Submission.ACCEPTED:
        raise RuntimeError("the order was not accepted")
    schedule.handle(encode(Start("ord-1")))
    store.writes.clear()
    requests = [decode_request(body) for queue in queues.agents.values() for body in queue.bodies]
    replies = [
        encode(Reply(it.order_id, it.step, it.attempt, it.token, Outcome.OK, {"reference": "r-1"})) for it in requests
    ]
    began = perf_counter()
    returned = _at_once(schedule, replies)
    lasted = (perf_counter() - began) * 1000
    return Contended(steps, len(store.writes), store.writes.count(False), returned, lasted)


def _at_once(schedule: Schedule, replies: Sequence[str]) -> int:
    together = Barrier(len(replies))

    def handle(text: str) -> int:
        together.wait()
        returned = 0
        while True:
            try:
                schedule.handle(text)
            except Transient:
                returned += 1
            else:
                return returned

    with ThreadPoolExecutor(len(replies)) as threads:
        return sum(threads.map(handle, replies))


def measure() -> tuple[Sequence[Contended], Table]:
    """From two steps side by side to twenty."""
    found = [answered_at_once(steps) for steps in (2, 5, 10, 20)]
    rows = [(*(f"{n:,}" for n in (it.steps, it.writes, it.lost, it.returned)), f"{it.ms:,.0f}") for it in found]
    columns = ("steps", "writes", "lost", "returned", "ms")
    return found, table("Steps side by side, answered at once", *columns, rows=rows, boxed=False)
