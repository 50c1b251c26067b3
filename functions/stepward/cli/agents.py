"""`stepward agents`: the circuit breaker and the pause of each agent."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table

from stepward.cli.deployment.connection import Connection, connect
from stepward.cli.deployment.options import AsJson, Target
from stepward.cli.terminal import OUT, cell, day_and_time, print_json, say, span, table
from stepward.cli.user_error import UserError
from stepward.domain.coordination.breaker import AgentPause, Breaker, Mode

Agent = Annotated[str, typer.Option(help="An agent instead of an order.", show_default=False)]
STYLES = {Mode.CLOSED: "green", Mode.HALF_OPEN: "yellow", Mode.OPEN: "bold red"}


def agents(target: Target, *, as_json: AsJson = False) -> None:
    """List the agents: the state of each circuit breaker, since when, and who paused the agent and why.

    closed: calls go through · open: the service failed too often and gets no calls for a while · half-open: one probe
    call finds out whether the service works again.

    Example: stepward agents

    JSON: agents (list of: agent, breaker (closed, open or half-open), since (epoch milliseconds or null), failures
    (in a row), until (when an open breaker lets a probe through, or null), paused (null, or: who, why, at)).
    """
    connection = connect(target)
    found = {name: connection.breakers.of(name) for name in _names(connection)}
    if as_json:
        print_json({"agents": [_document(name, breaker) for name, breaker in found.items()]})
        return
    OUT.print(_table(found, connection.now()))
    for name, breaker in found.items():
        if breaker.pause:
            say(f"\nTo resume {name}:\n  {target.typed('resume', '--agent', name)}")


def pause_agent(target: Target, agent: str, who: str, why: str, *, as_json: bool) -> None:
    """Stop all calls of `agent` to its service."""
    connection = _connected(target, agent)
    changed = connection.breakers.pause(agent, AgentPause(who, why, connection.now()))
    pause = connection.breakers.of(agent).pause
    if as_json:
        _print_document(agent, pause, changed=changed)
    elif changed:
        resume = target.typed("resume", "--agent", agent)
        say(f"Agent {agent} is paused: calls to its service stop within two seconds. To resume it: {resume}")
    elif pause:
        say(f"{pause.who} has paused agent {agent} already: {pause.why}. Nothing was changed.")


def resume_agent(target: Target, agent: str, *, as_json: bool) -> None:
    """End the pause of `agent`."""
    connection = _connected(target, agent)
    changed = connection.breakers.resume(agent, connection.now())
    if as_json:
        _print_document(agent, None, changed=changed)
    elif changed:
        say(f"Agent {agent} works again; requests that it returned to its queue come back within a minute.")
    else:
        say(f"Agent {agent} was not paused. Nothing was changed.")


def _print_document(agent: str, pause: AgentPause | None, *, changed: bool) -> None:
    by = {"who": pause.who if pause else None, "why": pause.why if pause else None}
    print_json({"agent": agent, "paused": pause is not None, **by, "changed": changed})


def _connected(target: Target, agent: str) -> Connection:
    connection = connect(target)
    if agent not in _names(connection):
        raise UserError(
            f"there is no agent {agent} in stack {target.stack}; its agents: {', '.join(_names(connection))}"
        )
    return connection


def _names(connection: Connection) -> list[str]:
    return sorted(connection.deployment.agent_queue_urls)


def _table(found: dict[str, Breaker], now: int) -> Table:
    rows = table("Agent", "Breaker", "Since", "Calls", "Paused")
    for name, breaker in found.items():
        rows.add_row(
            cell(name),
            cell(breaker.mode, STYLES[breaker.mode]),
            day_and_time(breaker.since) if breaker.since else "the start",
            cell(_calls(breaker, now)),
            cell(_paused(breaker.pause), "yellow"),
        )
    return rows


def _calls(breaker: Breaker, now: int) -> str:
    if breaker.pause:
        return "none until resumed"
    if breaker.mode is Mode.OPEN and breaker.until > now:
        return f"none for {span(breaker.until - now)}, then one probe"
    if breaker.mode is not Mode.CLOSED:
        return "one probe"
    return f"go through; the last {breaker.failures} failed" if breaker.failures else "go through"


def _paused(pause: AgentPause | None) -> str:
    return f"by {pause.who} at {day_and_time(pause.at)}: {pause.why}" if pause else ""


def _document(name: str, breaker: Breaker) -> dict[str, Any]:
    pause = breaker.pause
    return {
        "agent": name,
        "breaker": breaker.mode,
        "since": breaker.since or None,
        "failures": breaker.failures,
        "until": breaker.until or None,
        "paused": {"who": pause.who, "why": pause.why, "at": pause.at} if pause else None,
    }
