"""The convoy's use cases over the ports of a world: the ledger processor and the consumers of the lanes."""

import json
from dataclasses import dataclass

from stepward.app.intake import Received
from stepward.testing.faults.loop import MINUTE
from stepward.testing.seeded.assembly import Instances, received
from stepward.testing.seeded.mail import Letter


@dataclass(frozen=True, slots=True)
class ConvoyParts:
    """So many instances of both, beside the other parts of the world."""

    parts: Instances

    def split(self, copy: int, letter: Letter) -> None:
        """One ledger processor handles a ledger."""
        for _ in self.parts.of("ledger", copy).ledger().take([received(letter, self.parts.gate.loop.now)], _a_minute):
            pass

    def apply(self, copy: int, letter: Letter) -> None:
        """One consumer handles a batch of what has come for an order."""
        now, bodies = self.parts.gate.loop.now, enumerate(json.loads(letter.text))
        batch = [Received(f"{letter.name}/{position}", letter.queue, now, body) for position, body in bodies]
        for _ in self.parts.of("convoy", copy).convoy(f"convoy-{copy}").take(batch, _a_minute):
            pass


def _a_minute() -> int:
    return MINUTE
