"""The calls of a convoy's ports, of which one may go wrong at a time."""

from collections.abc import Callable
from dataclasses import dataclass

from stepward.testing.faults.pulse import Kill, Pulse
from stepward.testing.faults.pulse import Kind as Fault

__all__ = ["Fault", "Gate"]


@dataclass(slots=True)
class Gate(Pulse):
    """A pulse that a test arms; `passed` names the calls that were made."""

    def arm(self, fault: Fault, after: int = 0, somebody: Callable[[], object] = lambda: None, at: str = "") -> None:
        """Let `after` more calls whose name ends with `at` pass, then have the fault happen once.

        `somebody` is what others do before a call that is superseded.
        """
        self.kills = [Kill("", after + 1, fault, at, somebody if fault is Fault.SUPERSEDED else lambda: None)]

    def calm(self) -> None:
        self.kills.clear()

    @property
    def passed(self) -> list[str]:
        return [line.split()[1].partition("(")[0] for line in self.timeline]
