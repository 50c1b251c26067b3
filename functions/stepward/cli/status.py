"""`stepward status`: what needs somebody now, the worst first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import AsJson, Target
from stepward.cli.live import Follow, follow
from stepward.cli.terminal import OUT, cell, clock, print_json, span
from stepward.operator.connection import Connection
from stepward.operator.overview import InFlight, Need, Rank, in_flight, overview

_INDENT = (0, 0, 0, 8)
_STYLES = {Rank.WAITS: "yellow", Rank.GAP: "yellow", Rank.REJECTS: "yellow"}


def status(target: Target, *, follow_it: Follow = False, as_json: AsJson = False) -> None:
    """Show what needs you, the worst first, each with the command that looks closer.

    Alarms that are on; orders in Error or UndoFailed by reason, and those that wait; lanes that are blocked, or have a
    gap, from its first minute; agents that are paused, or whose breaker is not closed; dead letters; rejects of the
    last day. At most 1,000 orders and 100 lanes are read.

    Examples: stepward status · stepward status --follow

    JSON: needs (list of: rank (0 is the worst), what, count, more (whether there may be more), since (epoch
    milliseconds or null), reason, command (list of words)), inFlight (number), inFlightMore (whether there are more).
    """
    connection = connect(target)
    if as_json:
        print_json(_document(overview(connection), in_flight(connection)))
    elif follow_it:
        follow(lambda: (_view(target, connection), False))
    else:
        OUT.print(_view(target, connection, whole=True), crop=False)


def _view(target: Target, connection: Connection, *, whole: bool = False) -> RenderableType:
    """The overview; `whole` keeps each command in one line, so that it can be copied."""
    needs, running, now = overview(connection), in_flight(connection), connection.now()
    count = f"{'over ' * running.more}{running.count:,} order{'s' * (running.count != 1)} in flight"
    head = Text(f"{target.stack} at {clock(now)[:-4]}: {count}. ")
    head.append(*(("Nothing needs you.", "green") if not needs else ("What needs you, the worst first:", "bold")))
    return Group(head, *(_lines(target, need, now, whole=whole) for need in needs))


def _lines(target: Target, need: Need, now: int, *, whole: bool) -> RenderableType:
    count = f"{need.count:,}{'+' * need.more}"
    since = f", for {span(max(0, now - need.since))}" if need.since else ""
    style = _STYLES.get(need.rank, "bold red")
    first = Text.assemble((f"{count:>6}  ", style), cell(need.what, style), since)
    reason = Padding(cell(need.reason), _INDENT, expand=False)
    command = Text(target.typed(*need.words), "dim")
    if whole:
        return Group("", first, reason, Text.assemble(" " * _INDENT[-1], command, no_wrap=True, overflow="ignore"))
    return Group("", first, reason, Padding(command, _INDENT, expand=False))


def _document(needs: Sequence[Need], running: InFlight) -> dict[str, Any]:
    documents = [
        {
            "rank": need.rank.value,
            "what": need.what,
            "count": need.count,
            "more": need.more,
            "since": need.since or None,
            "reason": need.reason,
            "command": ["stepward", *need.words],
        }
        for need in needs
    ]
    return {"needs": documents, "inFlight": running.count, "inFlightMore": running.more}
