"""How many messages a deployment's queues hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Event
from time import monotonic
from typing import Literal

from orders.demo.stage import Stage

LOOK_EVERY_S = 1.0
_COUNTS: Sequence[
    Literal[
        "ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed"
    ]
] = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed")


def messages(stage: Stage) -> Mapping[str, int]:
    """Messages by queue, those in flight and those delayed included; dead letters are not."""
    return {name: _count(stage, urls.source) for name, urls in stage.deployment.dead_letters.items()}


def dead_letters(stage: Stage) -> Mapping[str, int]:
    """Messages that could not be delivered, by the dead-letter queue that keeps them."""
    return {f"dead {name}": _count(stage, urls.dead) for name, urls in stage.deployment.dead_letters.items()}


def settle(stage: Stage, patience_s: float) -> bool:
    """Wait until no queue holds a message, that of a killed function included; False if that takes too long."""
    give_up_at, pause = monotonic() + patience_s, Event()
    while monotonic() < give_up_at:
        if not any(messages(stage).values()):
            return True
        pause.wait(LOOK_EVERY_S)
    return False


def _count(stage: Stage, url: str) -> int:
    asked = stage.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=_COUNTS)
    return sum(int(asked["Attributes"][name]) for name in _COUNTS)
