"""Runs the ledgers' part: sends all ledgers, and repairs what is missing or wrong when all else is done."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time  # noqa: TID251 - to compare with when an alert was sent

from orders.demo.ledger_audit import LaneRecord, LedgerEvidence, SentAlert, alerts_about
from orders.demo.ledgers import LedgerScenario, Story, replacement
from orders.demo.stage import Stage
from stepward.domain.convoy.lane import Alerted, Lane
from stepward.local.services import Ledger

READ_EVERY_S = 1.5
WHY = "the customer meant another event"


@dataclass(slots=True)
class LedgerPlay:
    """A run of the scenario `acts` on `stage`; `line` prints a line with the seconds since the start.

    It sends the ledgers at once, or steadily over `pace_s` seconds.
    """

    acts: LedgerScenario
    stage: Stage
    line: Callable[[str, float], None]
    pace_s: float = 0.0
    sent: int = 0
    lanes: dict[str, Lane] = field(default_factory=dict)
    read_at: float = -READ_EVERY_S
    confirmed: dict[str, int] = field(default_factory=dict)
    """When (epoch ms) an order's lane was first seen to be alerted."""
    waited: frozenset[str] = frozenset()
    repaired: bool = False

    @property
    def ended(self) -> int:
        """The number of lanes that have come to their end."""
        return sum(bool(lane.end) for lane in self.lanes.values())

    @property
    def applied(self) -> int:
        """The number of events applied so far."""
        return sum(lane.last for lane in self.lanes.values())

    def begin(self, seconds: float) -> None:
        """Send the first ledgers, or all of them."""
        self._send(seconds)
        customers = len({ledger["customerId"] for ledger in self.acts.ledgers})
        self.line(f"{customers} customers send {len(self.acts.ledgers)} ledgers", seconds)

    def look(self, seconds: float) -> bool:
        """Send what is due, read the lanes, and repair as an operator would; whether all have come to their end."""
        self._send(seconds)
        if seconds - self.read_at >= READ_EVERY_S:
            self.read_at = seconds
            self._read(seconds)
            if not self.repaired and self._all_others_ended():
                self._repair(seconds)
        return self.repaired and self.ended == len(self.acts.orders)

    def evidence(self, ledger: Ledger) -> LedgerEvidence:
        """Everything that the audit compares."""
        orders = [order.order_id for order in self.acts.orders]
        tasks = self.stage.tasks()
        sent = (alert for text in self.stage.alerts() for alert in sent_alerts(text, orders))
        return LedgerEvidence(
            lanes={order_id: record for order_id in orders if (record := self._record(order_id))},
            tasks={order_id: tasks[order_id] for order_id in orders if order_id in tasks},
            rejects=self.stage.newest_rejects(),
            alerts=alerts_about([*sent], self.confirmed),
            waited=self.waited,
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
            if lane.alerted is not Alerted.NOTHING:
                self.confirmed.setdefault(lane.order_id, int(time() * 1000))
            if lane.blocked and not (before and before.blocked):
                text = f"{lane.order_id}  event {lane.blocked.position} stops the lane: {lane.blocked.reason}"
                self.line(text, seconds)
            if lane.alerted is Alerted.GAP and not (before and before.alerted is Alerted.GAP):
                text = f"{lane.order_id}  the lane waits for event {lane.last + 1}; {lane.waiting - 1} are parked"
                self.line(text, seconds)
            self.lanes[order.order_id] = lane

    def _all_others_ended(self) -> bool:
        troubled = {order.order_id for order in self.acts.orders if order.troubled}
        others = [order.order_id for order in self.acts.orders if not order.troubled]
        alerted = [self.lanes[order_id].alerted for order_id in troubled if order_id in self.lanes]
        waiting = len(alerted) == len(troubled) and Alerted.NOTHING not in alerted
        return waiting and all(order_id in self.lanes and self.lanes[order_id].end for order_id in others)

    def _repair(self, seconds: float) -> None:
        """Send the missing event and replace the wrong one, now that all other orders are done."""
        self.repaired = True
        self.waited = frozenset(order.order_id for order in self.acts.orders if order.troubled)
        for order in self.acts.orders:
            if order.story is Story.POISON:
                self._replace(order.order_id, order.troubled, replacement(order), seconds)
        self.stage.send_ledgers(self.acts.late)
        if self.acts.late:
            self.line("the customer sends the missing event in another ledger", seconds)

    def _replace(self, order_id: str, sequence: int, text: str, seconds: float) -> None:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "event.json"
            file.write_text(text)
            replace = ["convoy", "replace", order_id, str(sequence)]
            self.line(f"an operator types: {shlex.join(['stepward', *replace, file.name, '--why', WHY])}", seconds)
            self.stage.type_in([*replace, str(file), "--why", WHY])

    def _record(self, order_id: str) -> LaneRecord | None:
        lane = self.stage.lanes.load(order_id)
        return None if lane is None else LaneRecord(lane, self.stage.stored_events(lane))


def sent_alerts(text: str, orders: Iterable[str]) -> Iterator[SentAlert]:
    """The alerts about the lanes of these orders in a message of the topic, which may be a summary."""
    if "stepward convoy show" in text:
        message = json.loads(text)
        name = message.get("MessageAttributes", {}).get("alertId", {}).get("Value", "")
        at = int(datetime.fromisoformat(message["Timestamp"]).timestamp() * 1000)
        yield from (SentAlert(order_id, name, at) for order_id in orders if order_id in text)
