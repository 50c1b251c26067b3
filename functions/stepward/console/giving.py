"""Gives one command to one order or lane: what it would do, and what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from nicegui import run

from stepward.console.frame import Console
from stepward.domain.convoy.commands import LaneCommand
from stepward.domain.convoy.lane import Lane
from stepward.domain.convoy.lane_message import LaneMessage
from stepward.domain.errors import Rejected
from stepward.domain.messages import Command
from stepward.domain.staleness import dated_now, staleness
from stepward.domain.task.decide import decide
from stepward.domain.task.record import Loaded
from stepward.domain.timing import Timing
from stepward.operator.asked import CommandOutcome
from stepward.operator.outcome import LaneSeen, Seen, lane_outcome, lane_refusal, lane_seen, outcome, seen
from stepward.wire.checked_text import cleaned
from stepward.wire.convoy import encode_command
from stepward.wire.strict_json import parse

T = TypeVar("T")
WITHIN_S, STEP_S = 10.0, 0.25
LONGEST_NAME = 128


def check_allowed(console: Console) -> None:
    """Raise Rejected if the console may only look."""
    if console.read_only:
        raise Rejected("command", "this console is read only; start it without --read-only to give commands")


async def acting(console: Console, act: Callable[[], T]) -> T | None:
    """Do what changes something, beside the pages; every action comes through here. Raises StepwardError."""
    return await run.io_bound(partial(_permitted, console, act))


def _permitted(console: Console, act: Callable[[], T]) -> T:
    check_allowed(console)
    return act()


def signal_data(text: str) -> dict[str, Any]:
    """What a signal carries; raises Rejected."""
    data = parse(text)
    if not isinstance(data, dict):
        raise Rejected("data", 'give a JSON object, such as {"by": "ann"}')
    return data


def signal_name(console: Console, why: str) -> str:
    """A new name for a signal, which the audit log shows: it says why it was given."""
    return cleaned(f"{why} ({console.connection.new_id()[:8]})", LONGEST_NAME)


def foreseen(loaded: Loaded, command: Command, now: int) -> Sequence[str]:
    """What the command would do now, by the Scheduler's own decision, dry: a line each."""
    task, plan = loaded.task, loaded.plan
    command = dated_now(command, task, now)
    if refusal := staleness(command, task, plan, now):
        return [f"It would be refused: {refusal.text}."]
    try:
        decision = decide(task, plan, command, now=now, by="dry run", timing=Timing(), order=loaded.order)
    except Rejected as fault:
        return [f"It would be refused: {fault}."]
    if decision.refusal:
        return [f"It would be refused: {decision.refusal.text}."]
    lines = [
        f"{name}: {before.process_state if (before := task.steps.get(name)) else 'new'} → {after.process_state}"
        for name, after in decision.task.steps.items()
        if task.steps.get(name) != after
    ]
    return [f"The order: {task.process_state} → {decision.task.process_state}", *lines]


async def give(console: Console, command: Command) -> CommandOutcome | None:
    """Give a command to an order, and wait up to ten seconds for what came of it; None if nothing did in that time.

    Raises StepwardError.
    """
    found = await acting(console, partial(_sent, console, command))
    if found is None or isinstance(found, CommandOutcome):
        return found
    before, sent = found
    return await _awaited(lambda: outcome(sent, before, seen(console.connection, _loaded(console, sent.order_id))))


def _sent(console: Console, command: Command) -> CommandOutcome | tuple[Seen, Command]:
    connection = console.connection
    loaded, now = _loaded(console, command.order_id), connection.now()
    command = dated_now(command, loaded.task, now)
    if refusal := staleness(command, loaded.task, loaded.plan, now):
        return CommandOutcome(applied=False, text=refusal.text)
    before = seen(connection, loaded)
    connection.queues.to_scheduler([command])
    return before, command


def _loaded(console: Console, key: str) -> Loaded:
    loaded = console.connection.store.load(key)
    if loaded is None:
        raise Rejected("orderId", "the order is gone: it ended, and its record has expired; nothing was sent")
    return loaded


async def give_lane(console: Console, command: LaneCommand) -> CommandOutcome | None:
    """The same for the lane of an order."""
    before = await acting(console, partial(_sent_to_lane, console, command))
    if before is None or isinstance(before, CommandOutcome):
        return before
    return await _awaited(lambda: lane_outcome(command, before, lane_seen(console.connection, _lane(console, command))))


def _sent_to_lane(console: Console, command: LaneCommand) -> CommandOutcome | LaneSeen:
    connection, lane = console.connection, _lane(console, command)
    if refusal := lane_refusal(connection, lane, command):
        return CommandOutcome(applied=False, text=refusal.text)
    before = lane_seen(connection, lane)
    message = LaneMessage(command.order_id, f"operator/{command.command_id}", encode_command(command))
    connection.lane_queue.send([message])
    return before


def _lane(console: Console, command: LaneCommand) -> Lane:
    lane = console.connection.lanes.load(command.order_id)
    if lane is None:
        raise Rejected("orderId", "the lane is gone: its order ended, and its record has expired; nothing was sent")
    return lane


async def _awaited(look: Callable[[], CommandOutcome | None]) -> CommandOutcome | None:
    found: CommandOutcome | None = None
    for _ in _tries():
        found = await run.io_bound(look)
        if found and found.final:
            break
        await asyncio.sleep(STEP_S)
    return found


def _tries() -> Iterator[int]:
    return iter(range(round(WITHIN_S / STEP_S)))
