"""What a decision says: what it sends, and what it notes."""

from collections.abc import Collection

from stepward.domain.history import HistoryKind
from stepward.domain.messages import Alert, LaneWaits, Notice, Retry, StepFailed, StepRequest
from stepward.domain.task.change import Decision


def asked(decision: Decision) -> list[str]:
    """The steps whose agents the decision asks."""
    return [request.step for request in requests(decision)]


def kinds(decision: Decision) -> list[HistoryKind]:
    """What happened, by its kinds."""
    return [entry.kind for entry in decision.history]


def requests(decision: Decision) -> list[StepRequest]:
    """The requests to agents that the decision sends."""
    return [message for message in decision.messages if isinstance(message, StepRequest)]


def alerts(decision: Decision) -> list[StepFailed]:
    """The alerts of steps that the decision sends."""
    return [message for message in decision.messages if isinstance(message, StepFailed)]


def of_lanes(sent: Collection[Alert]) -> list[LaneWaits]:
    """The alerts, all of which must be of lanes."""
    lanes = [alert for alert in sent if isinstance(alert, LaneWaits)]
    assert lanes == list(sent)
    return lanes


def retries(decision: Decision) -> list[Retry]:
    """The requests to run a step again that the decision sends."""
    return [message for message in decision.messages if isinstance(message, Retry)]


def notices(decision: Decision) -> list[Notice]:
    """The notices to the submitter that the decision sends."""
    return [message for message in decision.messages if isinstance(message, Notice)]
