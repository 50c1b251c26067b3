"""A dry run of a decision about a lane: it reads, and neither writes nor performs anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from stepward.domain.convoy.event import OrderEvent
from stepward.domain.convoy.lane import Lane
from stepward.domain.convoy.needs import Held, Known, Missing, ReadEvent, ReadRows
from stepward.domain.errors import Rejected
from stepward.ports import Lanes

T = TypeVar("T")


def read_event(decode: Callable[[str], OrderEvent], body: str) -> OrderEvent:
    """The event that `decode` reads in a text; if it reads none, one with the fault."""
    try:
        return decode(body)
    except Rejected as error:
        return OrderEvent("", body, "", fault=str(error))


def dry_run(lanes: Lanes, lane: Lane, decode: Callable[[str], OrderEvent], decide: Callable[[Held], T]) -> T:
    """What `decide` says of a lane; raises Transient or Corrupt."""
    known = Known()
    while True:
        try:
            return decide(Held(lane, known))
        except Missing as missing:
            match missing.need:
                case ReadRows(first, most):
                    known[missing.need] = lanes.rows(lane.order_id, first, most)
                case ReadEvent(body):
                    known[missing.need] = read_event(decode, body)
                case _:
                    raise
