"""The convoy's use cases over the ports of a world: the ledger processor and the consumers of the lanes."""

import json
from dataclasses import dataclass, replace
from functools import partial

from stepward.app.convoy import Convoy
from stepward.app.effects import Effects
from stepward.app.intake import Received
from stepward.app.lane_intake import LaneIntake
from stepward.app.ledgers import Split
from stepward.app.trail import Trail
from stepward.testing.memory.lanes import MemoryLedgers
from stepward.wire.lane import decode_for_lane
from stepward.wire.order_event import EventMessage, kept_event
from tests.factories import MINUTE
from tests.simulation.seeded.assembly import Assembly
from tests.simulation.seeded.lanes import LaneQueue
from tests.simulation.seeded.mail import Letter


@dataclass(frozen=True, slots=True)
class ConvoyParts:
    """So many instances of both, beside the other parts of the world."""

    parts: Assembly
    queue: LaneQueue

    def split(self, copy: int, letter: Letter) -> None:
        """One ledger processor handles a ledger."""
        parts = self.parts
        ledgers, clock = MemoryLedgers(), parts.clock(f"ledger-{copy}")
        split = Split(self.queue, ledgers, parts.controls, parts.rejects, parts.log, (), clock)
        parts.take_in(partial(split.handle, remaining=_a_minute), letter)

    def apply(self, copy: int, letter: Letter) -> None:
        """One consumer handles a batch of what has come for an order."""
        parts, now = self.parts, self.parts.gate.loop.now
        decode = partial(decode_for_lane, schema=EventMessage)
        bodies = enumerate(json.loads(letter.text))
        batch = [Received(f"{letter.name}/{place}", letter.queue, now, body) for place, body in bodies]
        for _ in LaneIntake(self._convoy(copy), decode, parts.rejects, parts.log).take(batch, _a_minute):
            pass

    def _convoy(self, copy: int) -> Convoy:
        parts, instance = self.parts, f"convoy-{copy}"
        return Convoy(
            lanes=parts.lanes,
            effects=Effects(parts.submission("convoy", copy), replace(parts.transition(instance), claims=False)),
            rejects=parts.rejects,
            telling=parts.telling(instance),
            trail=Trail(parts.controls),
            telemetry=parts.log,
            rules=parts.lanes.rules,
            decode=partial(kept_event, schema=EventMessage),
            now=parts.clock(instance),
        )


def _a_minute() -> int:
    return MINUTE
