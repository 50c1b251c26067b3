"""`stepward agents`: how each agent's service is doing, and who has paused it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer
from rich.table import Table

from stepward.app.agent.breakers import Breakers
from stepward.cli.deployment.connection import Connection, connect
from stepward.cli.deployment.options import AsJson, Target
from stepward.cli.orders.timeline import awaited_agents
from stepward.cli.orders.view import table
from stepward.cli.terminal import OUT, cell, day_and_time, print_json, say, span
from stepward.cli.user_error import UserError
from stepward.domain.coordination.breaker import AgentPause, Breaker, Mode
from stepward.domain.task.record import Loaded

Agent = Annotated[str, typer.Option(help="An agent, in place of an order.", show_default=False)]
STYLES = {Mode.CLOSED: "green", Mode.HALF_OPEN: "yellow", Mode.OPEN: "bold red"}


def agents(target: Target, *, as_json: AsJson = False) -> None:
    """List the agents: whether each one's circuit breaker lets calls through, since when, and who paused it and why.

    closed: calls go through · open: the service failed too often and is left alone for a while · half-open: one call
    tries whether it is well again.

    Example: stepward agents

    JSON: agents (list of: agent, breaker (closed, open or half-open), since (epoch milliseconds or null), failures
    (in a row), until (when an open breaker lets a call through, or null), paused (null, or: who, why, at)).
    """
    connection = connect(target)
    found = {name: connection.breakers.of(name) for name in _names(connection)}
    if as_json:
        print_json({"agents": [_document(name, breaker) for name, breaker in found.items()]})
        return
    OUT.print(_table(found, connection.now()))
    for name, breaker in found.items():
        if breaker.pause:
            say(f"\nTo have {name} work again:\n  {target.typed('resume', '--agent', name)}")


def resting(loaded: Loaded, breakers: Breakers, target: Target, now: int) -> Iterator[str]:
    """A sentence on each agent that leaves its service alone while a step of the order waits for it."""
    for name in sorted(awaited_agents(loaded.task, loaded.plan, now)):
        breaker = breakers.of(name)
        if breaker.pause:
            resume = target.typed("resume", "--agent", name)
            yield f"Agent {name} was paused by {breaker.pause.who}: {breaker.pause.why}. To go on: {resume}"
        elif breaker.mode is not Mode.CLOSED:
            since = day_and_time(breaker.since)
            yield f"The service of {name} fails; its breaker is {breaker.mode} since {since}: {target.typed('agents')}"


def pause_agent(target: Target, agent: str, who: str, why: str, *, as_json: bool) -> None:
    """Have no instance of `agent` call its service."""
    connection = _connected(target, agent)
    changed = connection.breakers.pause(agent, AgentPause(who, why, connection.now()))
    pause = connection.breakers.of(agent).pause
    _tell(agent, pause, changed=changed, as_json=as_json)
    if not as_json and changed:
        resume = target.typed("resume", "--agent", agent)
        say(f"Agent {agent} is paused: within two seconds its service is left alone. To go on: {resume}")
    elif not as_json and pause:
        say(f"Agent {agent} was paused already by {pause.who}: {pause.why}. That stays; nothing was changed.")


def resume_agent(target: Target, agent: str, *, as_json: bool) -> None:
    """End the pause of `agent`."""
    connection = _connected(target, agent)
    changed = connection.breakers.resume(agent, connection.now())
    _tell(agent, None, changed=changed, as_json=as_json)
    if not as_json:
        done = "works again; requests that were put back return within a minute"
        say(f"Agent {agent} {done}." if changed else f"Agent {agent} was not paused; nothing was changed.")


def _tell(agent: str, pause: AgentPause | None, *, changed: bool, as_json: bool) -> None:
    if as_json:
        said = {"who": pause.who if pause else None, "why": pause.why if pause else None}
        print_json({"agent": agent, "paused": pause is not None, **said, "changed": changed})


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
            day_and_time(breaker.since) if breaker.since else "ever",
            cell(_calls(breaker, now)),
            cell(_paused(breaker.pause), "yellow"),
        )
    return rows


def _calls(breaker: Breaker, now: int) -> str:
    if breaker.pause:
        return "none, until it is resumed"
    if breaker.mode is Mode.OPEN and breaker.until > now:
        return f"none for {span(breaker.until - now)}, then one that tries"
    if breaker.mode is not Mode.CLOSED:
        return "one that tries"
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
