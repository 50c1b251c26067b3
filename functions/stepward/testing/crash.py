"""An order run with a death before and after every call that goes out, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from inspect import Parameter, signature
from typing import Any, cast

from stepward.app.assembly import Application
from stepward.testing.engine import Engine
from stepward.testing.faults.enumeration import Tally, tally, undisturbed
from stepward.testing.faults.path import Path
from stepward.testing.faults.pulse import Pulse
from stepward.testing.settings import Settings

AHEAD = 2_500
"""How far the clock of every second process is ahead, in milliseconds: less than the allowed margin."""
LONGEST = 40
"""How many lines of a timeline are shown, if the order breaks a promise without any trouble."""
Check = Callable[[Engine], object] | Callable[[], object]
"""What a test has done before or after a run: a function of the engine, or of nothing."""


def nothing() -> None:
    """Ask nothing more."""


def have(check: Check, engine: Engine) -> None:
    """Call it with the engine if it needs an argument."""
    takes = {each.kind for each in signature(check).parameters.values() if each.default is each.empty}
    given = [engine] if takes - {Parameter.VAR_KEYWORD} else []
    cast("Callable[..., object]", check)(*given)


def crash_points(
    app: Application,
    order: Mapping[str, Any],
    *,
    before: Check = nothing,
    after: Check = nothing,
    pairs: bool = False,
    settings: Settings | None = None,
) -> Tally:
    """Run `order` again and again, each time with trouble at another call; return what was tried, in figures.

    At each call to the state store, to queues, to services and so on a process dies before it, dies after it, is
    refused, or never hears the answer; with `pairs` a second death follows at each later call. Whatever happens, the
    order must end, each effect must happen once, what is undone must be undone in reverse, and operators and the
    submitter must be notified. `before(engine)` prepares each run (`engine.stand_in()`, behaviour of services, fakes of
    your own made empty), `after(engine)` asserts what must hold of your own at its end; both may do without the engine.
    Raises AssertionError with the call and the timeline.
    """
    live = partial(_live, app, order, before, after, settings or Settings())
    path = Path("crash_points", "", live)
    if (calm := undisturbed(path)).faults:
        raise AssertionError(
            "\n".join(
                [
                    *(f"BROKEN: {fault}" for fault in calm.faults),
                    "Nothing else had gone wrong before:",
                    *calm.timeline[-LONGEST:],
                ]
            )
        )
    found = tally(path, with_pairs=pairs)
    if found.failed:
        reports = "\n\n".join(made.report for made in found.failed)
        raise AssertionError(f"{found.lost} of {found.points + found.pairs} crash points were not survived\n{reports}")
    return found


def played(engine: Engine, until: Callable[[], bool] = lambda: False, after: Check = nothing) -> Iterator[str]:
    """Run the engine until nothing waits, whoever dies in between; what its judge, or `after`, finds broken."""
    with engine:
        try:
            engine.run(until)
            engine.verdict()
            have(after, engine)
        except AssertionError as fault:
            yield str(fault) or "an assertion of `after` does not hold"


def _live(
    app: Application, order: Mapping[str, Any], before: Check, after: Check, settings: Settings, pulse: Pulse
) -> Iterator[str]:
    """One order, from its submission until nothing moves."""
    engine = Engine(app, settings, skew=AHEAD, pulse=pulse)
    have(before, engine)
    engine.submit(None, order)
    yield from played(engine, after=after)
