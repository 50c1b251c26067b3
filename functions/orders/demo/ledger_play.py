"""The ledgers' part of the play: all are sent at once; what is missing or wrong is mended when all else is done."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from orders.demo.ledger_audit import LaneRecord, LedgerEvidence
from orders.demo.ledgers import LedgerScenario, Story, replacement
from orders.demo.stage import Stage
from stepward.domain.convoy.lane import Alerted, Lane
from stepward.local.services import Ledger

LOOK_EVERY_S = 1.5
WHY = "the customer meant another event"


@dataclass(slots=True)
class LedgerPlay:
    """One performance of `acts` on `stage`; `line` tells the audience one thing.

    The ledgers are sent at once, or steadily over `pace_s` seconds.
    """

    acts: LedgerScenario
    stage: Stage
    line: Callable[[str, float], None]
    pace_s: float = 0.0
    sent: int = 0
    lanes: dict[str, Lane] = field(default_factory=dict)
    looked: float = -LOOK_EVERY_S
    stood: frozenset[str] = frozenset()
    mended: bool = False

    @property
    def ended(self) -> int:
        """How many lanes have come to their end."""
        return sum(bool(lane.end) for lane in self.lanes.values())

    @property
    def applied(self) -> int:
        """How many events are applied by now."""
        return sum(lane.last for lane in self.lanes.values())

    def begin(self, seconds: float) -> None:
        """Send the first ledgers, or all of them."""
        self._send(seconds)
        customers = len({ledger["customerId"] for ledger in self.acts.ledgers})
        self.line(f"{len(self.acts.ledgers)} ledgers of {customers} customers are on their way", seconds)

    def look(self, seconds: float) -> bool:
        """Bring the lanes up to date and do what an operator does; whether all have come to their end."""
        self._send(seconds)
        if seconds - self.looked >= LOOK_EVERY_S:
            self.looked = seconds
            self._read(seconds)
            if not self.mended and self._all_others_ended():
                self._mend(seconds)
        return self.mended and self.ended == len(self.acts.orders)

    def evidence(self, ledger: Ledger) -> LedgerEvidence:
        """Everything that the audit compares."""
        orders = [order.order_id for order in self.acts.orders]
        tasks = self.stage.tasks()
        of_lanes = [text for text in self.stage.heard_by_operator() if "stepward convoy show" in text]
        told = Counter(order_id for order_id in orders for text in of_lanes if order_id in text)
        return LedgerEvidence(
            lanes={order_id: record for order_id in orders if (record := self._record(order_id))},
            tasks={order_id: tasks[order_id] for order_id in orders if order_id in tasks},
            rejects=self.stage.newest_rejects(),
            alerts=told,
            stood=self.stood,
            effects=[effect for effect in ledger.effects() if effect.key.split("/")[0] in orders],
        )

    def _send(self, seconds: float) -> None:
        ledgers = self.acts.ledgers
        due = len(ledgers) if seconds >= self.pace_s else int(len(ledgers) * seconds / self.pace_s)
        self.stage.send_ledgers(ledgers[self.sent : due], self.sent)
        self.sent = max(self.sent, due)

    def _read(self, seconds: float) -> None:
        for order in self.acts.orders:
            before = self.lanes.get(order.order_id)
            if before is not None and before.end:
                continue
            lane = self.stage.lanes.load(order.order_id)
            if lane is None:
                continue
            if lane.blocked and not (before and before.blocked):
                self.line(f"{lane.order_id}  stops at event {lane.blocked.position}: {lane.blocked.reason}", seconds)
            if lane.alerted is Alerted.GAP and not (before and before.alerted is Alerted.GAP):
                self.line(
                    f"{lane.order_id}  waits for event {lane.last + 1}; {lane.waiting - 1} stand behind it", seconds
                )
            self.lanes[order.order_id] = lane

    def _all_others_ended(self) -> bool:
        troubled = {order.order_id for order in self.acts.orders if order.troubled}
        others = [order.order_id for order in self.acts.orders if not order.troubled]
        told = [self.lanes[order_id].alerted for order_id in troubled if order_id in self.lanes]
        stand = len(told) == len(troubled) and Alerted.NOTHING not in told
        return stand and all(order_id in self.lanes and self.lanes[order_id].end for order_id in others)

    def _mend(self, seconds: float) -> None:
        """All other orders are done, and these two have waited: send what is missing, replace what is wrong."""
        self.mended = True
        self.stood = frozenset(order.order_id for order in self.acts.orders if order.troubled)
        for order in self.acts.orders:
            if order.story is Story.POISON:
                self._replace(order.order_id, order.troubled, replacement(order), seconds)
        self.stage.send_ledgers(self.acts.late)
        if self.acts.late:
            self.line("the missing event comes in a ledger of its own", seconds)

    def _replace(self, order_id: str, sequence: int, text: str, seconds: float) -> None:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "event.json"
            file.write_text(text)
            words = ["convoy", "replace", order_id, str(sequence), str(file), "--why", WHY]
            told = ["convoy", "replace", order_id, str(sequence), file.name, "--why", json.dumps(WHY)]
            self.line(f"an operator types: stepward {' '.join(told)}", seconds)
            self.stage.type_in(words)

    def _record(self, order_id: str) -> LaneRecord | None:
        lane = self.stage.lanes.load(order_id)
        return None if lane is None else LaneRecord(lane, self.stage.kept(lane))
