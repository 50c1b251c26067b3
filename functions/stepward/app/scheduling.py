"""Scheduling: what is told to the Scheduler becomes a change of the task it names."""

from __future__ import annotations

from dataclasses import dataclass

from stepward.app.transition import Transition
from stepward.wire.messages import decode_for_scheduler


@dataclass(frozen=True, slots=True)
class Schedule:
    """Runs every step of every task in its order, and only that: the workflow is data."""

    transition: Transition

    def handle(self, text: str) -> None:
        """Apply the message in `text`; raises Rejected or Transient."""
        message = decode_for_scheduler(text)
        self.transition.apply(message.order_id, message)
