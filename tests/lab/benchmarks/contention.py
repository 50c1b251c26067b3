"""How many conditional writes it takes when all steps that run side by side are answered at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random

from rich.table import Table

from stepward.app.assembly import Assembly
from stepward.app.intake import Received
from stepward.cli.cost.priced import AGENTS, order_text
from stepward.domain.errors import Transient
from stepward.domain.messages import Outcome, Reply, Start
from stepward.domain.submission import Order
from stepward.domain.task.record import Loaded, Task, new_task
from stepward.domain.timing import Timing
from stepward.testing.faults.loop import MINUTE, START, Loop
from stepward.testing.fiber import Fiber
from stepward.testing.memory.assembly import memory_assembly
from stepward.testing.memory.queues import MemoryQueues
from stepward.testing.memory.task_store import MemoryTaskStore
from stepward.wire.messages import decode_request, encode
from tests.lab.benchmarks.workload import side_by_side
from tests.lab.results import table

READ, WRITE, APART = (4.0, 8.0), (5.0, 9.0), 2.0
"""Milliseconds of a read and of a write, each any of these, and in which all answers come."""
BATCH = 10


@dataclass(frozen=True, slots=True)
class Contended:
    """An order whose steps were all answered at the same moment, to so many Schedulers."""

    steps: int
    instances: int
    writes: int
    lost: int
    returned: int
    """How many replies went back to their queue."""
    ms: float


@dataclass(slots=True)
class Instants:
    """Virtual time in which instances take turns: each runs until it waits for something."""

    loop: Loop = field(default_factory=Loop)
    fibers: list[Fiber] = field(default_factory=list)

    def begin(self, after: float, act: Callable[[], None]) -> None:
        """Have an instance begin after so many milliseconds."""
        self.fibers.append(Fiber(act))
        self.loop.later(round(after), self.fibers[-1].resume)

    def wait(self, milliseconds: float) -> None:
        """Let the others run meanwhile; does nothing outside of an instance."""
        for fiber in self.fibers:
            if fiber.runs_here:
                self.loop.later(round(milliseconds), fiber.resume)
                fiber.wait()


@dataclass(slots=True)
class FarStore(MemoryTaskStore):
    """The twin behind a network: reads and writes take so long that others come in between."""

    wait: Callable[[float, float], None] = lambda _least, _most: None
    writes: list[bool] = field(default_factory=list)

    def load(self, order_id: str, *, with_order: bool = True) -> Loaded | None:
        self.wait(READ[0] / 2, READ[1] / 2)
        found = MemoryTaskStore.load(self, order_id, with_order=with_order)
        self.wait(READ[0] / 2, READ[1] / 2)
        return found

    def save(self, task: Task, *, replaces: Task) -> bool:
        """Write slowly, and note whether the write won."""
        self.wait(WRITE[0] / 2, WRITE[1] / 2)
        saved = MemoryTaskStore.save(self, task, replaces=replaces)
        self.writes.append(saved)
        self.wait(WRITE[0] / 2, WRITE[1] / 2)
        return saved


def answered_at_once(steps: int, instances: int, seed: int = 1) -> Contended:
    """Run `steps` steps side by side, whose replies reach `instances` Schedulers at once, evenly, in full batches."""
    instants, dice = Instants(), Random(seed)  # noqa: S311 - dice that can be thrown again
    store, plan = FarStore(lambda _: 0), side_by_side(steps).plan()
    queues = MemoryQueues.new(lambda: instants.loop.now, AGENTS)
    assembly = memory_assembly(
        lambda: instants.loop.now,
        store=store,
        queues=queues,
        sleep=lambda seconds: instants.wait(seconds * 1000),
        jitter=dice.random,
    )
    store.submit(Order("ord-1", order_text(1), "hash"), new_task("ord-1", plan, START, Timing()), plan)
    assembly.scheduler("scheduler-0").handle(encode(Start("ord-1")))
    store.writes.clear()
    store.wait = lambda least, most: instants.wait(dice.uniform(least, most))
    requests = [decode_request(body) for queue in queues.agents.values() for body in queue.bodies]
    replies = [encode(Reply(it.order_id, it.step, it.attempt, it.token, Outcome.OK, {"ref": "r-1"})) for it in requests]
    returned: list[str] = []
    for number in range(instances):
        work = partial(_answered, assembly, f"scheduler-{number}", replies[number::instances], returned)
        instants.begin(dice.uniform(0, APART), work)
    instants.loop.run(START + MINUTE)
    last = max(record.ended_at or 0 for record in store.tasks["ord-1"].steps.values())
    return Contended(steps, instances, len(store.writes), store.writes.count(False), len(returned), last - START)


def _answered(assembly: Assembly, instance: str, replies: Sequence[str], returned: list[str]) -> None:
    schedule = assembly.scheduler(instance)
    intake = assembly.intake(schedule.handle, schedule.take)
    for first in range(0, len(replies), BATCH):
        batch = replies[first : first + BATCH]
        messages = [Received(f"m-{number}", "responses", START, text) for number, text in enumerate(batch)]
        for text, act in zip(batch, intake.accepting(messages, lambda: MINUTE), strict=True):
            try:
                act()
            except Transient:
                returned.append(text)


def measure() -> tuple[Sequence[Contended], Table]:
    """From two steps side by side to twenty, to one instance, to some, and to one for each answer."""
    of = ((2, 1), (2, 2), (10, 1), (10, 10), (20, 1), (20, 5), (20, 20))
    found = [answered_at_once(steps, instances) for steps, instances in of]
    rows = [(*(f"{n:,}" for n in (it.steps, it.instances, it.writes, it.lost, it.returned, it.ms)),) for it in found]
    columns = ("steps", "instances", "writes", "lost", "returned", "ms")
    return found, table("Steps side by side, answered at once", *columns, rows=rows, boxed=False)
