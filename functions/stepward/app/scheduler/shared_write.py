"""The messages of one task in a batch: one read, one write, and what came of each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from stepward.app.optimistic import Race
from stepward.app.scheduler.transition import Outcome, Transition
from stepward.domain.errors import Transient
from stepward.domain.task.decide import Event


@dataclass(slots=True)
class SharedWrite:
    """Writes what its events make of a task when the outcome of the first of them is asked for.

    If one of them cannot be written, each is written by itself, and that one alone fails.
    """

    transition: Transition
    order_id: str
    race: Callable[[], Race]
    events: list[Event] = field(default_factory=list)
    outcomes: Sequence[Outcome] | Exception | None = None

    def add(self, event: Event) -> int:
        """Take one more event; its position."""
        self.events.append(event)
        return len(self.events) - 1

    def outcome(self, position: int) -> Outcome:
        """What follows from the event at this position; raises Rejected or Transient."""
        if self.outcomes is None:
            self.outcomes = self._together()
        match self.outcomes:
            case Transient() as error:
                raise error
            case Exception():
                return self._write([self.events[position]])[0]
            case outcomes:
                return outcomes[position]

    def _together(self) -> Sequence[Outcome] | Exception:
        try:
            return self._write(self.events)
        except Exception as error:
            if len(self.events) == 1:
                raise
            return error

    def _write(self, events: Sequence[Event]) -> Sequence[Outcome]:
        return self.transition.write(self.order_id, events, self.race())
