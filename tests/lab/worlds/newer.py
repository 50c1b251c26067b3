"""Newer code: it writes messages, plans, history and notes that older code does not know."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from zlib import crc32

from stepward.adapters.dynamodb.task_records import decode_history
from stepward.app.assembly import Assembly
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.errors import Corrupt, NotUnderstood
from stepward.domain.history import HistoryEntry
from stepward.domain.submission import Order, Submission
from stepward.domain.task.record import HISTORY_LIMIT, Loaded, NewerPlan, Task
from stepward.domain.wish import Wish
from stepward.domain.workflow.plan import Plan
from stepward.testing.faults.broken import Broken
from stepward.testing.ports import JudgedSharedRecords, JudgedTasks
from stepward.testing.pump import Handle, understood
from stepward.testing.seeded.instances import Instances, Store
from stepward.testing.seeded.mail import UnreliableQueue
from stepward.testing.sqs.messages import Received, Stored
from stepward.testing.sqs.queue import MemoryQueue
from stepward.testing.sqs.rules import Entry

NEWS = ("kind of message", "field of messages", "field of plans", "kind of history", "field of notes")
KINDS = ("task.start", "step.retry", "step.request", "step.reply")
OF_CHILDREN = ("child.submit", "child.undo", "child.ended", "child.heard")
FIELD = "newer"
SHARDS = (1, 2, 4)
"""How many shards a release may have."""


@dataclass(kw_only=True)
class NewerQueue(UnreliableQueue):
    """A queue between the parts: whoever sends writes in the form of its own release."""

    parts: "Skewed"

    def _accept(self, entry: Entry, visible_at: int) -> Stored:
        return super()._accept(replace(entry, body=self.parts.written(entry.body)), visible_at)


@dataclass(slots=True, kw_only=True)
class NewerStore(Store):
    """The state store: older code reads a newer plan or history by the adapters' own code."""

    parts: "Skewed"
    entries: dict[str, HistoryEntry] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    changed: dict[str, tuple[Task, Task]] = field(default_factory=dict)

    def load(self, order_id: str, *, with_order: bool = True) -> Loaded | None:
        found = Store.load(self, order_id, with_order=with_order)
        if found is None:
            return None
        if order_id in self.unreadable and not self.parts.knows("kind of history"):
            raise Corrupt(f"{order_id}: its history")
        if self.parts.has("field of plans", found.plan.version - 1) and not self.parts.knows("field of plans"):
            raw = json.loads(found.plan.to_json())
            raw["steps"][0][FIELD] = 1
            _read_plan(found.task, json.dumps(raw))
            raise Broken("I10", order_id, "code that does not know a field of the plan passes over it")
        return found

    def save(self, task: Task, *, replaces: Task) -> bool:
        written = self._with_entry(task)
        entry = self.entries.get(task.order_id)
        if entry in replaces.history and entry not in written.history and len(written.history) < HISTORY_LIMIT:
            raise Broken("I10", task.order_id, f"{entry} was dropped by code that does not know it")
        saved = Store.save(self, written, replaces=replaces)
        if saved:
            self.parts.place(task.order_id)
        return saved

    def submit(self, order: Order, task: Task, plan: Plan, *, meets: Wish | None = None) -> Submission | Wish:
        outcome = Store.submit(self, order, task, plan, meets=meets)
        if outcome is Submission.ACCEPTED:
            self.parts.place(task.order_id)
        return outcome

    def _with_entry(self, task: Task) -> Task:
        """The task with an entry that only newer code knows, if newer code writes it; the same for the same task."""
        known = self.changed.get(task.order_id)
        if known is None or known[0] is not task:
            known = self.changed[task.order_id] = task, self._changed(task)
        return known[1]

    def _changed(self, task: Task) -> Task:
        if not self.parts.knows("kind of history") or task.order_id in (self.entries.keys() | self.unreadable):
            return task
        row = [self.gate.loop.now, "Pondered", "", 0, "", "", 0, FIELD]
        try:
            (entry,) = decode_history(json.dumps([row]))
        except (TypeError, ValueError):
            self.unreadable.add(task.order_id)
            return task
        self.entries[task.order_id] = entry
        return replace(task, history=(*task.history, entry))


@dataclass(slots=True, kw_only=True)
class NewerNotes(JudgedSharedRecords):
    """The shared records: older code keeps what newer code added."""

    parts: "Skewed"

    def read(self, name: str) -> SharedRecord | None:
        found = JudgedSharedRecords.read(self, name)
        if found is None or FIELD not in found.body or not self.parts.knows("field of notes"):
            return found
        return replace(found, body={key: value for key, value in found.body.items() if key != FIELD})

    def write(self, shared_record: SharedRecord, *, replaces: SharedRecord | None) -> bool:
        before, body = self.kept.get(shared_record.name), shared_record.body
        if self.parts.knows("field of notes") and isinstance(body, dict):
            body[FIELD] = {"is": "newer"}
        saved = JudgedSharedRecords.write(self, shared_record, replaces=replaces)
        if saved and before and FIELD in before.body and body.get(FIELD) != before.body[FIELD]:
            about = self.judge.gate.here.about
            raise Broken("I10", about, f"{shared_record.name} lost what newer code had added to {before}")
        return saved


@dataclass(kw_only=True)
class Skewed(Instances):
    """The parts of a world in which each release may write what those before do not know; `news` says what."""

    news: dict[str, int] = field(default_factory=dict)
    kind: str = ""
    placed: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        plans = [plan for release in self.releases for plan in release.plans().values()]
        kinds = (*KINDS, *OF_CHILDREN) if any(plan.is_child for plan in plans) else KINDS
        for number in range(1, len(self.releases)):
            for what in NEWS:
                if dice := self.gate.chances.happens(f"release {number} writes a new {what}", 0.25):
                    self.news.setdefault(what, number)
                    self.kind = self.kind or dice.choice(kinds)
        dice = self.gate.chances.dice("shards")
        self.shards = [dice.choice(SHARDS) for _ in self.releases]
        super().__post_init__()
        for name, line in self.pump.lines.items():
            if _is_internal(name):
                line.handle = partial(self._read, line.handle)

    def has(self, what: str, number: int) -> bool:
        """Whether what this release writes has this news."""
        return number >= self.news.get(what, len(self.releases))

    def knows(self, what: str) -> bool:
        """Whether whoever runs now knows these news, and writes them; people's own tools are of the first release.

        A deployment changes no run that has begun.
        """
        here = self.gate.here
        if here.instance and here.release is None:
            here.release = self.release_of(here.instance).number
        return here.release is not None and self.has(what, here.release)

    def written(self, text: str) -> str:
        """A message as whoever runs now writes it."""
        if self.knows("field of messages"):
            text = f'{text[:-1]},"{FIELD}":{{"is":"newer"}}}}'
        if self.knows("kind of message"):
            text = text.replace(f'"type":"{self.kind}"', f'"type":"{FIELD}.{self.kind}"')
        return text

    def assembly(self, instance: str) -> Assembly:
        made, shards = super().assembly(instance), self.shards[self.release_of(instance).number]
        own = shards == self.settings.shards
        return made if own else replace(made, settings=replace(self.settings, shards=shards))

    def place(self, order_id: str) -> None:
        """Whoever writes an order puts it into one of the shards of its own release."""
        self.placed[order_id] = crc32(order_id.encode()) % self.shards[self.release_of(self.gate.here.instance).number]

    def shard_of(self, order_id: str) -> int:
        return self.placed[order_id]

    def make_store(self) -> JudgedTasks:
        return NewerStore(shard_of=self.shard_of, gate=self.gate, parts=self)

    def make_shared_records(self) -> JudgedSharedRecords:
        return NewerNotes(judge=self.judge, parts=self)

    def make_queue(self, kind: type[MemoryQueue], **more: Any) -> MemoryQueue:
        if not _is_internal(more["name"]):
            return super().make_queue(kind, **more)
        return NewerQueue(gate=self.gate, parts=self, **more)

    def _read(self, handle: Handle, instance: str, batch: Sequence[Received]) -> Iterator[int | Exception]:
        """Have an instance read messages that it knows as it would its own."""
        newer = f'"type":"{FIELD}.'
        if self.knows("kind of message") and any(newer in each.body for each in batch):
            batch = [replace(each, body=each.body.replace(newer, '"type":"')) for each in batch]
            self.gate.here.cause = understood(batch[0].body)
        yield from handle(instance, batch)


def _is_internal(queue: str) -> bool:
    return queue in ("scheduler", "responses") or queue.startswith("agent-")


def _read_plan(task: Task, text: str) -> None:
    """Read the plan of a task as the adapter does."""
    try:
        Plan.from_json(text)
    except NotUnderstood as error:
        raise NewerPlan(task, error.what) from error
    except (LookupError, TypeError, ValueError) as error:
        raise Corrupt(f"a plan: {error!r}") from error
