"""Alerts to operators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a function without lanes does not load them
    from stepward.domain.convoy.lane import Alerted


@dataclass(frozen=True, slots=True)
class StepFailed:
    """To an operator: a step ended in Error; `remaining_effects` names what is not undone if an undo failed."""

    order_id: str
    step: str
    attempt: int
    reason: str
    at: int
    remaining_effects: tuple[str, ...] = ()

    @property
    def alert_id(self) -> str:
        """The alert's name, the same each time it is sent."""
        return f"{self.order_id}/{self.step}/{self.attempt}"


@dataclass(frozen=True, slots=True)
class StepWaits:
    """To an operator: a step has been waiting for what its deployment lacks; `reason` says for what, and what to do."""

    order_id: str
    step: str
    attempt: int
    reason: str
    at: int
    signal: bool = False
    """Whether it waits for a signal that nobody has given yet, and not for what its deployment lacks."""

    @property
    def alert_id(self) -> str:
        """The alert's name, the same each time it is sent."""
        return f"{self.order_id}/{self.step}/waits/{self.at}"


@dataclass(frozen=True, slots=True)
class LaneWaits:
    """To an operator: the lane of an order waits; `event` is the name of the event at which it does."""

    order_id: str
    event: str
    trouble: Alerted
    reason: str
    at: int

    @property
    def alert_id(self) -> str:
        """The alert's name, the same each time it is sent."""
        return f"{self.order_id}/event {self.event}/{self.trouble.value}/{self.at}"


TaskAlert = StepFailed | StepWaits


@dataclass(frozen=True, slots=True)
class AgentDefect:
    """To an operator: an agent's code or a setting is at fault since `since`, or no longer, if it is `over`.

    `error` is the exception, `orders` counts the orders that met it, `place` is where it rose.
    """

    agent: str
    operation: str
    name: str
    place: str
    error: str
    orders: int
    since: int
    at: int
    over: bool = False
    is_setting: bool = False

    @property
    def alert_id(self) -> str:
        """The alert's name, the same each time it is sent."""
        return f"{self.agent}/{self.operation}/{self.name}/{'over' if self.over else 'defect'}/{self.since}"

    @property
    def order_id(self) -> str:
        """None: it is about no order."""
        return ""

    @property
    def reason(self) -> str:
        """What it says, in short."""
        if self.over:
            return f"{self.operation} works again; it had failed with {self.error}"
        return f"{self.operation} fails with {self.error} in {self.orders} order{'' if self.orders == 1 else 's'}"


Alert = TaskAlert | LaneWaits | AgentDefect
