"""Describes an agent in words: whether its calls go through, its pause, its defects."""

from __future__ import annotations

from collections.abc import Iterator

from stepward.domain.coordination.breaker import AgentPause, Breaker, Mode
from stepward.operator.wording.times import day_and_time, span


def defects(agent: str, breaker: Breaker) -> Iterator[str]:
    """A sentence for each defect of the agent's code or settings."""
    for defect in breaker.blame.defects:
        yield (
            f"Agent {agent} fails: {defect.operation} raises {defect.text} at {defect.place}, in {len(defect.orders)} "
            f"order{'' if len(defect.orders) == 1 else 's'} since {day_and_time(defect.since)}. The code or a setting "
            "is at fault; no order's failure is counted."
        )


def calls(breaker: Breaker, now: int) -> str:
    """Whether the agent's calls go through."""
    if breaker.pause:
        return "none until resumed"
    if breaker.mode is Mode.OPEN and breaker.until > now:
        return f"none for {span(breaker.until - now)}, then one probe"
    if breaker.mode is not Mode.CLOSED:
        return "one probe"
    if not breaker.failures:
        return "go through"
    return f"go through; {breaker.failures} order{'' if breaker.failures == 1 else 's'} failed since the last success"


def paused(pause: AgentPause | None) -> str:
    """Who paused the agent, when and why; "" if nobody did."""
    return f"by {pause.who} at {day_and_time(pause.at)}: {pause.why}" if pause else ""


def resumed(agent: str, before: Breaker) -> Iterator[str]:
    """What resuming an agent does whose breaker is as it was `before`, a sentence each."""
    if before.mode is not Mode.CLOSED:
        ended = f"The pause of agent {agent} has ended. " if before.pause else ""
        yield f"{ended}The breaker of {agent} was {before.mode}; the next request tries the service at once."
        yield "If that succeeds, the breaker closes; if not, it is open again."
    elif before.pause:
        yield f"Agent {agent} works again; requests that it returned to its queue come back within a minute."
    else:
        yield f"Agent {agent} was not paused, and its breaker is closed. Nothing was changed."
