"""Several messages of one task in one change: each decides on what those before it made of the task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from stepward.domain.messages import Message, Notice, StepRequest
from stepward.domain.steps.call import is_wanted
from stepward.domain.task.change import Decision
from stepward.domain.task.decide import Event
from stepward.domain.task.notices import at_revision
from stepward.domain.task.record import Task


def decide_together(
    task: Task, events: Sequence[Event], decide: Callable[[Task, Event], Decision]
) -> tuple[Task, Sequence[Decision]]:
    """The task that one write makes of `events`, and what each of them decided; it is the same object if none does."""
    decisions: list[Decision] = []
    last = task
    for event in events:
        decisions.append(decide(last, event))
        last = decisions[-1].task
    if last is task or len(events) == 1:
        return last, decisions
    written = replace(last, revision=task.revision + 1)
    return written, [_as_written(decision, written) for decision in decisions]


def _as_written(decision: Decision, task: Task) -> Decision:
    """The decision with what is still to be sent once the whole change is written."""
    messages = (_still_true(message, task) for message in decision.messages)
    return replace(decision, task=task, messages=tuple(message for message in messages if message))


def _still_true(message: Message, task: Task) -> Message | None:
    match message:
        case StepRequest():
            made_at = message.complete_by - message.budget
            return message if is_wanted(message, task, made_at) else None
        case Notice():
            return at_revision(message, task)
        case _:
            return message
