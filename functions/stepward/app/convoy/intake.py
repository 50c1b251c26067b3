"""Intake of the convoy: the messages of one group, in their order, those of one order in one change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from stepward.app.convoy.convoy import Arrival, Convoy
from stepward.app.intake import Received, keep, putting_back
from stepward.app.optimistic import LEAST_TIME
from stepward.domain.convoy.commands import LaneCommand
from stepward.domain.convoy.event import OrderEvent
from stepward.domain.errors import Rejected, RetryLater
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.ports import Rejects, Telemetry
from stepward.wire.envelope import Ignored

Wanted = OrderEvent | LaneCommand | Ignored
Decode = Callable[[str, str], Wanted]
"""Reads a text of a message group."""


@dataclass(frozen=True, slots=True)
class LaneIntake:
    """Hands messages to the convoy; `decode` reads each, and raises Rejected if it names no order.

    What meets a lane or a task of newer code comes back, after what is in front of it.
    """

    convoy: Convoy
    decode: Decode
    rejects: Rejects
    telemetry: Telemetry
    now: Callable[[], int]

    def take(self, messages: Sequence[Received], remaining: Callable[[], int]) -> Iterator[int]:
        """Take them in their order, and yield repeatedly how many are done; raises Transient at the first failure.

        It begins nothing for which `remaining` (ms) is too short: if it were cut off, the whole batch would wait.
        """
        run: list[Arrival] = []
        for done, message in enumerate(messages):
            wanted = self._wanted(message)
            if isinstance(wanted, OrderEvent) and _continues(run, wanted):
                run.append(Arrival(message, wanted))
                continue
            yield from self._apply(run, done, remaining)
            if isinstance(wanted, OrderEvent):
                run = [Arrival(message, wanted)]
            else:
                run = []
                self._handle(message, wanted, remaining)
                yield done + 1
        yield from self._apply(run, len(messages), remaining)

    def _wanted(self, message: Received) -> Wanted | Rejected:
        try:
            return self.decode(message.body, message.group)
        except Rejected as error:
            return error

    def _apply(self, run: Sequence[Arrival], done: int, remaining: Callable[[], int]) -> Iterator[int]:
        if run:
            if remaining() < LEAST_TIME:
                raise RetryLater(0, "the time of this run is up")
            with putting_back(run[0].received, self.telemetry, self.now):
                self.convoy.events(run[0].event.order_id, run, remaining)
            yield done

    def _handle(
        self, message: Received, wanted: LaneCommand | Ignored | Rejected, remaining: Callable[[], int]
    ) -> None:
        match wanted:
            case Rejected():
                keep(message, wanted, self.rejects, self.telemetry)
            case Ignored():
                self.telemetry.record("", HistoryEntry(message.received_at, HistoryKind.IGNORED, note=wanted.what))
            case command:
                with putting_back(message, self.telemetry, self.now):
                    self.convoy.command(command, message, remaining)


def _continues(run: Sequence[Arrival], event: OrderEvent) -> bool:
    return not run or run[0].event.order_id == event.order_id
