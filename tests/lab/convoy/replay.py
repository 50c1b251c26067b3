"""What must come of an order's events: a plain replay of them in sequence, which knows nothing of queues or lanes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

BROUGHT = {"ledgerId", "index", "customerId"}
PLACED = {"orderId", "sequence", "op", "modifies", "end", "asOf"}
OPS = {"create", "add", "modify", "delete"}


def said(content: Mapping[str, Any]) -> dict[str, Any]:
    """What an event says, whoever brought it."""
    return {name: value for name, value in content.items() if name not in BROUGHT}


@dataclass(slots=True)
class Replay:
    """An order whose events are applied one after another; what may not be is an error."""

    created: bool = False
    deleted: bool = False
    ended: bool = False
    transactions: dict[int, dict[str, Any]] = field(default_factory=dict)
    applied: list[int] = field(default_factory=list)

    def apply(self, position: int, event: Mapping[str, Any]) -> None:
        refused = self.refusal(event)
        assert not refused, f"{position} was applied: {refused}"
        match event["op"]:
            case "create":
                self.created = True
                self.transactions[position] = _fields(event)
            case "add":
                self.transactions[position] = _fields(event)
            case "modify":
                self.transactions[event["modifies"]] |= _fields(event)
            case "delete":
                self.deleted = True
        self.ended = bool(event.get("end"))
        self.applied.append(position)

    def refusal(self, event: Mapping[str, Any]) -> str:
        """Why the event cannot be applied here; empty if it can."""
        op, target = event.get("op"), event.get("modifies")
        if op not in OPS or (op == "modify") != (target is not None):
            return "it is invalid"
        if self.ended or self.deleted:
            return "the order is over"
        if op == "create":
            return "" if not self.created and "submittedAt" in event else "it cannot create the order"
        if not self.created:
            return "the order is not there"
        return "it changes nothing that is there" if op == "modify" and target not in self.transactions else ""


def _fields(event: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name not in PLACED}
