"""An order lived through with a death before and after every call that goes out, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from stepward.app.assembly import Application
from stepward.testing.engine import Engine
from stepward.testing.faults.enumeration import Tally, tally
from stepward.testing.faults.path import Path
from stepward.testing.faults.pulse import Pulse
from stepward.testing.settings import Settings

AHEAD = 2_500
"""By so much the clocks of every second process differ, in milliseconds: less than the margin that is allowed for."""
Check = Callable[[Engine], object]


def nothing(_: Engine) -> None:
    """Ask nothing more."""


def crash_points(
    app: Application,
    order: Mapping[str, Any],
    *,
    before: Check = nothing,
    after: Check = nothing,
    pairs: bool = False,
    settings: Settings | None = None,
) -> Tally:
    """Live `order` through again and again, each time with trouble at another call; what was tried, in figures.

    At each call to the state store, to queues, to services and so on a process dies before it, dies after it, is
    refused, or never hears the answer; with `pairs` a second death follows at each later call. Whatever happens, the
    order must end, each effect must have happened once, what was undone must be undone in reverse, and operators and
    the submitter must be told. `before` prepares each life (behaviour of services, fakes of your own made empty),
    `after` asserts what must hold of your own at its end. Raises AssertionError with the call and the story.
    """
    begin = partial(Life, app, order, before, after, settings or Settings())
    found = tally(Path("crash_points", "", begin), with_pairs=pairs)
    if found.failed:
        stories = "\n\n".join(made.story for made in found.failed)
        raise AssertionError(f"{found.lost} of {found.points + found.pairs} crash points were not survived\n{stories}")
    return found


@dataclass(slots=True)
class Life:
    """One order, from its submission until nothing moves; see `faults.path.World`."""

    app: Application
    order: Mapping[str, Any]
    before: Check
    after: Check
    settings: Settings
    pulse: Pulse
    engine: Engine = field(init=False)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.engine = Engine(self.app, self.settings, skew=AHEAD, pulse=self.pulse)

    def run(self) -> None:
        """Play until nothing waits, whoever dies in between."""
        self.before(self.engine)
        with self.engine:
            self.engine.submit(getattr(self.app, "workflow", None), self.order)
            try:
                self.engine.run()
                self.engine.verdict()
                self.after(self.engine)
            except AssertionError as fault:
                self.faults.append(str(fault) or "an assertion of `after` does not hold")

    def broken(self) -> Iterator[str]:
        """Each invariant that does not hold, in words."""
        yield from self.faults
