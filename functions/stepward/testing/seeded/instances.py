"""The parts of a world: several instances of each, on queues, an index and services that misbehave by chance."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stepward.app.assembly import Application, Assembly
from stepward.app.supervisor.supervise import Supervise
from stepward.domain.messages import StepRequest
from stepward.domain.workflow.agents import Call, Operation, Result
from stepward.testing.application import Staged, agents_of, checked, through
from stepward.testing.faults.gate import Gate
from stepward.testing.faults.ledger import Ledger
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.testing.parts import PARTS, Parts
from stepward.testing.ports import JudgedQueues, JudgedTasks
from stepward.testing.seeded.mail import TO_SCHEDULER, UnreliableFifoQueue, UnreliableQueue
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Queues(JudgedQueues):
    """The queues; who sends knows those of the agents in its own release."""

    knows: Callable[[], Collection[str]]

    @property
    def reachable(self) -> Collection[str]:
        """The agents that have a queue, as far as the sender knows."""
        return self.knows()

    def to_agents(self, requests: Sequence[StepRequest]) -> None:
        """Send each request to the queue of its agent."""
        known = self.knows()
        all_known = all(request.agent in known for request in requests)
        seen = self if all_known else replace(self, agents={name: self.agents[name] for name in known})
        JudgedQueues.to_agents(seen, requests)


@dataclass(frozen=True, slots=True)
class Release:
    """What the instances of one part run: their application, its number, and the agents that it has queues of."""

    number: int
    app: Staged
    agents: Collection[str]


@dataclass(kw_only=True)
class Instances(Parts):
    """The parts of a world.

    `releases` are all that is ever deployed; `running` says which of them the instances of a part run, in turn. `down`
    are the agents whose service is out.
    """

    releases: Sequence[Application]
    down: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    running: dict[str, list[Release]] = field(default_factory=dict)
    made: dict[str, Assembly] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.frozen = [app.plans(self.settings.complete_within) for app in self.releases]
        super().__post_init__()
        self.services.checked = checked(*self.frozen)
        call = self.services.call
        self.staged = [through(app, call, plans) for app, plans in zip(self.releases, self.frozen, strict=True)]
        for app in reversed(self.releases):  # an operation that several have is that of the newest
            for operation in [each for agent in self.agents() for each in app.operations(agent).values()]:
                self.services.of(operation)
        self.judge.refused = self.refused
        for part in self.all_parts():
            self.deploy(part, [0])
        for queue in TO_SCHEDULER:
            self.pump.lines[queue].batch = 10

    def all_parts(self) -> list[str]:
        """Every function, by its name."""
        return [*(part for part in PARTS if part != "agent"), *self.agents()]

    def deploy(self, part: str, numbers: Sequence[int], keeps: Collection[int] = ()) -> None:
        """Have the instances of a part run these releases, in turn, with what they keep of others."""
        known = [self.staged[number] for number in {*numbers, *keeps}]
        agents = agents_of(*(app.frozen for app in known))
        operations = {
            agent: {name: each for app in known for name, each in app.operations(agent).items()}
            for agent in self.agents()
        }
        self.running[part] = [
            Release(number, replace(self.staged[number], known=operations.__getitem__), agents) for number in numbers
        ]
        self.made.clear()
        for line in self.pump.lines.values():
            if line.part.name == part and line.part.kind:
                line.part.is_gone = part not in agents

    def release_of(self, instance: str) -> Release:
        """What this instance runs."""
        part, _, copy = instance.rpartition("-")
        return self.running[part][int(copy) % len(self.running[part])]

    def assembly(self, instance: str) -> Assembly:
        """What makes the use cases of one process."""
        if instance not in self.made:
            self.made[instance] = super().assembly(instance)
        return self.made[instance]

    def app_of(self, instance: str) -> Application:
        """The application as this instance knows it."""
        return self.release_of(instance).app

    def supervisor(self, instance: str) -> Supervise:
        """One Supervisor; some see nobody else's leases: those only save work."""
        plain = super().supervisor(instance)
        if not self.gate.chances.happens(f"{instance} is alone at {self.loop.now}", self.gate.profile.mail):
            return plain
        self.gate.diary.counts["leases ignored"] += 1
        return replace(plain, leases=replace(plain.leases, shared_records=MemorySharedRecords()))

    def agents(self) -> Sequence[str]:
        """The agents that ever have a queue."""
        return agents_of(*self.frozen)

    def make_queues(self, **queues: Any) -> JudgedQueues:
        """The queues that the parts share."""
        return Queues(**queues, knows=self._known_queues)

    def _known_queues(self) -> Collection[str]:
        """The agents in the release of whoever runs now, without those whose function and queue are not there."""
        lines = self.pump.lines
        known = self.release_of(self.gate.here.instance).agents
        return [agent for agent in known if not lines[f"agent-{agent}"].part.is_gone]

    def served(self) -> Callable[[Operation, Call], Result]:
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
        common = self.pump.wait, self._now, self.note, self.judge.called, ledger, self.pump.later
        found = Remote(*common, gate=self.gate, down=self.down, refused=self.refused, post=self.post)
        found.honest = self.gate.profile.honest
        return found

    def make_queue(self, kind: type[MemoryQueue], **more: Any) -> MemoryQueue:
        """One queue."""
        return (UnreliableFifoQueue if kind.fifo else UnreliableQueue)(gate=self.gate, **more)
