"""What a batch of messages comes to: each fails for itself, and the judge sees each decision of a shared write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

from stepward.app.intake import Intake
from stepward.app.scheduler.transition import Transition
from stepward.domain.errors import Corrupt, Misconfigured, Transient
from stepward.domain.messages import Answered, Callback, Reply, ToScheduler
from stepward.domain.task.change import Decision
from stepward.domain.task.decide import Event
from stepward.domain.task.record import Loaded, NewerPlan, Task
from stepward.testing.faults.gate import Gate, Invocation
from stepward.testing.faults.loop import MINUTE
from stepward.testing.faults.record import Write
from stepward.testing.pump import as_message, kind_of, understood
from stepward.testing.sqs.messages import Received
from stepward.wire.order import order_id_hint

TOGETHER = "batches with several messages of one order"


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched(Transition):
    """A write path, which notes each decision with the message that it is about."""

    gate: Gate

    @staticmethod
    def of(transition: Transition, gate: Gate) -> Watched:
        """The same write path, watched."""
        return Watched(gate=gate, **{each.name: getattr(transition, each.name) for each in fields(Transition)})

    def decision(self, loaded: Loaded, task: Task, event: Event) -> Decision:
        """Decide, and note it."""
        found = Transition.decision(self, loaded, task, event)
        cause = _callback(event) if isinstance(event, Answered) else event
        if isinstance(cause, ToScheduler):
            self.gate.here.decided.append(Write(task, found.task, cause))
        return found

    def spare(self, newer: NewerPlan, reply: Reply | Answered) -> bool:
        """Spare the attempt of a reply, which is what causes that write."""
        cause = self.gate.here.cause
        self.gate.here.cause = reply if isinstance(reply, Reply) else _callback(reply)
        try:
            return Transition.spare(self, newer, reply)
        finally:
            self.gate.here.cause = cause


def _callback(event: Answered) -> Callback:
    return Callback("", event.result, event.error)


def changes_of(here: Invocation, before: Task, task: Task) -> Sequence[Write]:
    """The changes that one write of a task makes, each by its message; all of them under its revision."""
    found: list[Write] = []
    after = task
    for each in reversed(here.decided):
        if each.after is not each.before and each.after.steps is after.steps:
            change = replace(each, after=replace(each.after, revision=task.revision) if found else task)
            found.append(change)
            after = each.before
    if not found or after is not before:
        return [Write(before, task, here.cause)]
    return [replace(each, before=replace(each.before, revision=before.revision)) for each in reversed(found)]


def handled(
    gate: Gate, intake: Intake, queue: str, instance: str, batch: Sequence[Received]
) -> Iterator[int | Exception]:
    """Handle a batch; how many messages are done so far, or why the next one stays."""
    if len({order_id_hint(message.body) for message in batch}) < len(batch):
        gate.diary.counts[TOGETHER] += 1
    acts = intake.accepting([as_message(queue, message) for message in batch], lambda: MINUTE)
    for done, (message, act) in enumerate(zip(batch, acts, strict=True), 1):
        about = order_id_hint(message.body)
        if len(batch) > 1:
            gate.here.cause = understood(message.body)
        if gate.diary.is_kept:
            gate.diary.note(about, f"{instance} receives {kind_of(message)} from {queue}")
        try:
            act()
        except (Transient, Corrupt, Misconfigured) as error:
            yield error
        else:
            yield done
