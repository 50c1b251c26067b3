"""Intake of the ledger processor: the ledgers of one customer, one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from stepward.app.intake import Intake, Received
from stepward.app.ledger.split import Split
from stepward.ports import Rejects, Telemetry


@dataclass(frozen=True, slots=True)
class LedgerIntake:
    """Splits ledgers; one that cannot be accepted is kept as a reject, and the next follows."""

    split: Split
    rejects: Rejects
    telemetry: Telemetry

    def take(self, messages: Sequence[Received], remaining: Callable[[], int]) -> Iterator[int]:
        """Split them in their order, and yield after each how many are done; raises Transient at the first failure."""
        intake = Intake(partial(self.split.handle, remaining=remaining), self.rejects, self.telemetry)
        for done, message in enumerate(messages, start=1):
            intake.accept(message)
            yield done
