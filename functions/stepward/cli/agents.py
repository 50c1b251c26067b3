"""`stepward agents`: the circuit breaker and the pause of each agent."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table

from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import AsJson, Target
from stepward.cli.terminal import OUT, cell, day_and_time, print_json, say, table
from stepward.cli.user_error import UserError
from stepward.domain.coordination.breaker import AgentPause, Breaker, Mode
from stepward.operator.connection import Connection
from stepward.operator.wording.agents import calls, defects, paused, resumed

Agent = Annotated[str, typer.Option(help="An agent instead of an order.", show_default=False)]
STYLES = {Mode.CLOSED: "green", Mode.HALF_OPEN: "yellow", Mode.OPEN: "bold red"}


def agents(target: Target, *, as_json: AsJson = False) -> None:
    """List the agents: the state of each circuit breaker, since when, and who paused the agent and why.

    closed: calls go through · open: the service failed in several orders and gets no calls for a while · half-open:
    one probe call finds out whether the service works again.

    Example: stepward agents

    JSON: agents (list of: agent, breaker (closed, open or half-open), since (epoch milliseconds or null), failures
    (orders that failed since the last success), until (when an open breaker lets a probe through, or null), paused
    (null, or: who, why, at), defects (list of: operation, error, place, orders, since)).
    """
    connection = connect(target)
    found = {name: connection.breakers.of(name) for name in _names(connection)}
    if as_json:
        print_json({"agents": [_document(name, breaker) for name, breaker in found.items()]})
        return
    OUT.print(_table(found, connection.now()))
    for name, breaker in found.items():
        for sentence in defects(name, breaker):
            say(f"\n{sentence}")
        if breaker.pause:
            say(f"\nTo resume {name}:\n  {target.typed('resume', '--agent', name)}")
        elif breaker.mode is not Mode.CLOSED:
            say(f"\nTo let {name} try its service at once:\n  {target.typed('resume', '--agent', name)}")


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
    """End the pause of `agent`, and have a breaker that is not closed let a probe through at once."""
    connection = _connected(target, agent)
    before, after = connection.breakers.resume(agent, connection.now())
    changed = before != after
    if as_json:
        _print_document(agent, None, changed=changed, breaker=before.mode)
        return
    for sentence in resumed(agent, before):
        say(sentence)
    if before.mode is not Mode.CLOSED:
        say(f"To see how it went: {target.typed('agents')}")


def _print_document(agent: str, pause: AgentPause | None, *, changed: bool, breaker: Mode | None = None) -> None:
    by = {"who": pause.who if pause else None, "why": pause.why if pause else None}
    was = {"breaker": breaker} if breaker else {}
    print_json({"agent": agent, "paused": pause is not None, **by, "changed": changed, **was})


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
    rows = table("Agent", "Breaker", "Since", "Calls", "Paused", least=["Since", "Calls"])
    for name, breaker in found.items():
        rows.add_row(
            cell(name),
            cell(breaker.mode, STYLES[breaker.mode]),
            day_and_time(breaker.since) if breaker.since else "the start",
            cell(calls(breaker, now)),
            cell(paused(breaker.pause), "yellow"),
        )
    return rows


def _document(name: str, breaker: Breaker) -> dict[str, Any]:
    pause = breaker.pause
    return {
        "agent": name,
        "breaker": breaker.mode,
        "since": breaker.since or None,
        "failures": breaker.failures,
        "until": breaker.until or None,
        "paused": {"who": pause.who, "why": pause.why, "at": pause.at} if pause else None,
        "defects": [
            {
                "operation": each.operation,
                "error": each.text,
                "place": each.place,
                "orders": len(each.orders),
                "since": each.since,
            }
            for each in breaker.blame.defects
        ],
    }
