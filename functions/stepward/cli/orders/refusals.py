"""Why the Scheduler would refuse a command, and what to do instead."""

from __future__ import annotations

from dataclasses import replace

from stepward.cli.deployment.options import Target
from stepward.cli.user_error import UserError
from stepward.domain.messages import Command, SignalGiven
from stepward.domain.staleness import staleness
from stepward.domain.task.record import Loaded, ProcessState, StepRecord
from stepward.domain.task.refusals import RefusalCode
from stepward.domain.workflow.effects import MOST_INLINE, Item
from stepward.domain.workflow.plan import StepKind
from stepward.operator.wording.timeline import all_records

ADVICE = {
    RefusalCode.UNDO_BEGUN: " ({undoing}). To see how far it is, and what to type: {show}",
    RefusalCode.PAST_NO_RETURN: "; it only goes forward",
    RefusalCode.PAUSED_ALREADY: " ({paused}). To resume it: {resume}",
    RefusalCode.ENDED: "; there is nothing left to pause",
    RefusalCode.NOT_PAUSED: ". To see its state: {show}",
    RefusalCode.SUPERSEDED: ". To see what happened: {show}",
    RefusalCode.TIMED_OUT: ". To see how far it is: {show}",
    RefusalCode.NOT_IN_ERROR: "; in Error: {failed}",
    RefusalCode.WRONG_DOOR: ": send it to the orders queue",
    RefusalCode.GIVEN: ". To see the order: {show}",
    RefusalCode.LATE: ". To see what happened: {show}",
}
"""The advice that follows the policy's reason."""


def refusal(loaded: Loaded, command: Command, target: Target, now: int) -> str:
    """Why the Scheduler would refuse `command` at `now`, and what to do instead; "" if it would not."""
    task, order = loaded.task, command.order_id
    refused = staleness(command, task, loaded.plan, now)
    if refused is None:
        return ""
    if refused.code is RefusalCode.NO_SUCH_STEP and isinstance(command, SignalGiven):
        signals = ", ".join(step.name for step in loaded.plan.steps if step.kind is StepKind.SIGNAL)
        return f"{refused.text}; its signals: {signals or 'none'}"
    return refused.text + ADVICE.get(refused.code, "").format(
        undoing=task.undoing,
        paused=task.paused,
        failed=", ".join(_failed(loaded)) or "none",
        show=target.typed("show", order),
        resume=target.typed("resume", order, "--why", "..."),
    )


def _of_child(loaded: Loaded, step: str) -> str:
    """Where the item is that a child of ten does; "" if it is no such item."""
    item, order = Item.read(step), loaded.task.order_id
    each = loaded.task.steps.get(item.step)
    if each is None or not MOST_INLINE < each.items > item.at >= 0:
        return ""
    child, own = f"{order}#{item.step}.{item.at // MOST_INLINE}", replace(item, at=item.at % MOST_INLINE)
    return f"the item is {own} of order {child}"


def chosen(target: Target, loaded: Loaded, step: str) -> StepRecord:
    """The step or compensation to run again; if that is unclear, raises UserError with the candidates."""
    order, records, failed = loaded.task.order_id, loaded.task.steps, _failed(loaded)
    names = [record.name for record in all_records(loaded.task, loaded.plan)]
    if step and step not in records:
        known = _of_child(loaded, step) or f"its steps: {', '.join(names)}"
        raise UserError(f"order {order} has no step {step}; {known}")
    if step or len(failed) == 1:
        return records[step or failed[0]]
    if not failed:
        states = ", ".join(f"{name} is {records[name].process_state}" for name in names)
        raise UserError(f"no step of order {order} is in Error: {states}")
    one = target.typed("resubmit", order, failed[0], "--why", "...")
    raise UserError(f"{len(failed)} steps are in Error: {', '.join(failed)}; name one: {one}")


def _failed(loaded: Loaded) -> list[str]:
    records = all_records(loaded.task, loaded.plan)
    return [record.name for record in records if record.process_state is ProcessState.ERROR]
