"""The page of the agents: whether their calls go through, and their pauses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from nicegui import ui

from stepward.console.dialogs import confirmed
from stepward.console.frame import Console, live, page, state_badge
from stepward.console.giving import acting
from stepward.domain.coordination.breaker import AgentPause, Breaker, Mode
from stepward.operator.asked import CommandOutcome
from stepward.operator.wording.agents import calls, defects, paused, resumed
from stepward.operator.wording.times import day_and_time


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page shows, at one moment; `minute` has it drawn anew as time passes."""

    breakers: tuple[tuple[str, Breaker], ...]
    minute: int


def agents_page(console: Console) -> None:
    """The page of the agents."""
    with page(console, "Agents"):
        live(partial(_load, console), partial(_draw, console))


def _load(console: Console) -> Shown:
    connection = console.connection
    agents = sorted(connection.deployment.agent_queue_urls)
    breakers = tuple((agent, connection.breakers.of(agent)) for agent in agents)
    return Shown(breakers, connection.now() // 60_000)


def _draw(console: Console, shown: Shown) -> None:
    for agent, breaker in shown.breakers:
        with ui.card().classes("w-full gap-1 p-3"):
            with ui.row().classes("items-center gap-3"):
                ui.label(agent).classes("text-base font-bold")
                state_badge(f"breaker {breaker.mode}")
                if breaker.since:
                    ui.label(f"since {day_and_time(breaker.since)}").classes("opacity-70")
                if not console.read_only:
                    _buttons(console, agent, breaker)
            ui.label(f"Its calls: {calls(breaker, console.connection.now())}.")
            for sentence in (*([f"Paused {paused(breaker.pause)}"] if breaker.pause else ()), *defects(agent, breaker)):
                ui.label(sentence).classes("trouble break-words")


def _buttons(console: Console, agent: str, breaker: Breaker) -> None:
    if not breaker.pause:
        note = f"All calls of {agent} to its service stop within two seconds; no failure is counted, and none is lost."
        pause = partial(give_pause, console, agent)
        ask = partial(confirmed, console, f"Pause agent {agent}", [note], pause)
        ui.button(f"Pause {agent}", on_click=ask).props("dense outline no-caps")
    if breaker.pause or breaker.mode is not Mode.CLOSED:
        resume = partial(give_resume, console, agent)
        will_do = list(resumed(agent, breaker))
        ask = partial(confirmed, console, f"Resume agent {agent}", will_do, resume, asks_why=False)
        ui.button(f"Resume {agent}", on_click=ask).props("dense outline no-caps")


async def give_pause(console: Console, agent: str, why: str) -> CommandOutcome | None:
    """Pause an agent; raises StepwardError."""
    connection = console.connection
    pause = AgentPause(console.who, why, connection.now())
    changed = await acting(console, partial(connection.breakers.pause, agent, pause))
    text = f"Agent {agent} is paused." if changed else f"Somebody has paused agent {agent} already."
    return CommandOutcome(applied=bool(changed), text=text)


async def give_resume(console: Console, agent: str, _why: str) -> CommandOutcome | None:
    """End the pause, and have a breaker that is not closed let a probe through; raises StepwardError."""
    connection = console.connection
    found = await acting(console, partial(connection.breakers.resume, agent, connection.now()))
    return CommandOutcome(applied=True, text=" ".join(resumed(agent, found[0]))) if found else None
