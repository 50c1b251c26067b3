"""Large results: each in a row of its own, read only for the steps that come after, as far as a request holds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stepward.domain.messages import Message, StepRequest
from stepward.domain.task.record import ProcessState, StepRecord, Task
from stepward.domain.task.results import Result, at_hand, readable
from stepward.domain.workflow.plan import Plan, forward_name
from stepward.ports import TaskStore

DONE = (ProcessState.PROCESSED, ProcessState.STOPPED)
"""What has answered for its newest attempt; an undo that runs once more has not."""
MOST_BYTES = 600_000
"""What the large results of a request take at most: with the largest order and the small results, it fits into SQS."""


def with_large_results(messages: Sequence[Message], task: Task, plan: Plan, store: TaskStore) -> Sequence[Message]:
    """The messages, each request with the large results of the steps before its own; raises Transient or Corrupt."""
    if not any(record.size for record in task.steps.values()):
        return messages
    return [_filled(each, task, plan, store) if isinstance(each, StepRequest) else each for each in messages]


def _filled(request: StepRequest, task: Task, plan: Plan, store: TaskStore) -> StepRequest:
    large, room = dict[str, Result](), MOST_BYTES
    for record in _before(request.step, task, plan):
        if record.size <= room:
            large[record.name] = store.result(record)
            room -= record.size
    return replace(request, results={**request.results, **at_hand(readable(task.steps, plan, request.step, large))})


def _before(step: str, task: Task, plan: Plan) -> Iterator[StepRecord]:
    """The records with a large result that the step comes after; an undo comes after its own step."""
    name = forward_name(step)
    for record in task.steps.values():
        done = forward_name(record.name)
        comes_after = plan.follows(name, done) or (name == done and record.name != step)
        if record.size and comes_after and record.process_state in DONE:
            yield record
