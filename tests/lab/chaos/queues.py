"""How many messages a deployment's queues hold."""

from collections.abc import Mapping
from threading import Event
from time import monotonic

from orders.demo.stage import Stage

POLL_S = 1.0


def messages(stage: Stage) -> Mapping[str, int]:
    """Messages by queue, including those in flight and delayed, without dead letters."""
    return {name: _count(stage, urls.source) for name, urls in stage.deployment.dead_letters.items()}


def dead_letters(stage: Stage) -> Mapping[str, int]:
    """Messages by dead-letter queue."""
    return {f"{name} dead letters": _count(stage, urls.dead) for name, urls in stage.deployment.dead_letters.items()}


def settle(stage: Stage, patience_s: float) -> bool:
    """Wait until no queue holds a message, not even one of a killed function; False if that takes too long."""
    give_up_at, pause = monotonic() + patience_s, Event()
    while monotonic() < give_up_at:
        if not any(messages(stage).values()):
            return True
        pause.wait(POLL_S)
    return False


def _count(stage: Stage, url: str) -> int:
    attributes = stage.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    return sum(int(count) for name, count in attributes.items() if name.startswith("ApproximateNumberOfMessages"))
