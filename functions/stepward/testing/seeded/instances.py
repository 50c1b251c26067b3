"""The parts of a world: several instances of each, on queues, an index and services that misbehave by chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stepward.app.assembly import Application, Assembly
from stepward.app.supervisor.supervise import Supervise
from stepward.domain.workflow.definition import Call, Operation
from stepward.testing.application import Staged, through
from stepward.testing.faults.gate import Gate
from stepward.testing.faults.ledger import Ledger
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.testing.parts import Parts
from stepward.testing.ports import JudgedTasks
from stepward.testing.seeded.mail import UnreliableFifoQueue, UnreliableQueue
from stepward.testing.seeded.remote import Remote
from stepward.testing.services import Services
from stepward.testing.sqs.queue import MemoryQueue


@dataclass(slots=True, kw_only=True)
class Store(JudgedTasks):
    """The state store; its index of what is due may be stale, doubled, or list what is not due."""

    gate: Gate
    listed: dict[int, list[str]] = field(default_factory=dict)

    def due(self, shard: int, until: int) -> Iterator[str]:
        """What the index lists; see the port."""
        due, stale = list(JudgedTasks.due(self, shard, until)), self.listed.get(shard, [])
        self.listed[shard] = due
        name = f"stale index of shard {shard} at {self.gate.loop.now}"
        if dice := self.gate.chances.happens(name, self.gate.profile.mail):
            self.gate.diary.counts["stale index"] += 1
            self.gate.diary.note("", f"the index of shard {shard} is stale or doubled")
            due = dice.choice([stale, due + due, due + list(self.tasks), stale + due])
        yield from due


@dataclass(kw_only=True)
class Instances(Parts):
    """The parts of a world.

    `deployed` are the applications that instances know, each the next one's in turn; `down` are the agents whose
    service is out.
    """

    new: Application
    down: set[str] = field(default_factory=set)
    deployed: list[Staged] = field(default_factory=list)
    made: dict[str, Assembly] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.deploy(self.app)

    def deploy(self, *apps: Application) -> None:
        """Have instances accept orders for these applications in turn; agents have the operations of all of them."""
        known = [through(app, self.services.call, app.plan(self.settings.complete_within)) for app in apps]
        operations = {
            agent: {name: each for app in known for name, each in app.operations(agent).items()}
            for agent in self.agents()
        }
        self.deployed = [replace(app, known=operations.__getitem__) for app in known]
        self.made.clear()

    def assembly(self, instance: str) -> Assembly:
        """What makes the use cases of one process."""
        if instance not in self.made:
            self.made[instance] = super().assembly(instance)
        return self.made[instance]

    def app_of(self, instance: str) -> Application:
        """The application as this instance knows it."""
        return self.deployed[int(instance.rpartition("-")[2]) % len(self.deployed)]

    def supervisor(self, instance: str) -> Supervise:
        """One Supervisor; some see nobody else's leases: those only save work."""
        plain = super().supervisor(instance)
        if not self.gate.chances.happens(f"{instance} is alone at {self.loop.now}", self.gate.profile.mail):
            return plain
        self.gate.diary.counts["leases ignored"] += 1
        return replace(plain, leases=replace(plain.leases, shared_records=MemorySharedRecords()))

    def agents(self) -> Sequence[str]:
        """The agents that have a queue."""
        return sorted({*self.app.plan().agents, *self.new.plan().agents})

    def served(self) -> Callable[[Operation, Call], Mapping[str, Any]]:
        """What calls a service: services misbehave on their own."""
        return self.services.call

    def may_wait(self, agent: str, text: str) -> bool:  # noqa: ARG002 - others act inside of what waits
        """Whether a call has to run apart from the others: none."""
        return False

    def make_store(self) -> JudgedTasks:
        """The state store, empty."""
        return Store(shard_of=self.shard_of, gate=self.gate)

    def make_services(self, ledger: Ledger) -> Services:
        """The services behind the operations."""
        wait, called, gate = self.pump.wait, self.judge.called, self.gate
        found = Remote(wait, self._now, self.note, called, ledger, self._later, gate=gate, down=self.down)
        found.honest = gate.profile.honest
        return found

    def make_queue(self, kind: type[MemoryQueue], **more: Any) -> MemoryQueue:
        """One queue."""
        return (UnreliableFifoQueue if kind.fifo else UnreliableQueue)(gate=self.gate, **more)
