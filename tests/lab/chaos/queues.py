"""How many messages a deployment's queues hold."""

from collections.abc import Mapping

from orders.demo.stage import Stage
from tests.lab.reaper import awaited

POLL_S = 1.0


def messages(stage: Stage) -> Mapping[str, int]:
    """Messages by queue, including those in flight and delayed, without dead letters."""
    return {name: _count(stage, urls.source) for name, urls in stage.deployment.dead_letters.items()}


def dead_letters(stage: Stage) -> Mapping[str, int]:
    """Messages by dead-letter queue."""
    return {f"{name} dead letters": _count(stage, urls.dead) for name, urls in stage.deployment.dead_letters.items()}


def settle(stage: Stage, patience_s: float) -> bool:
    """Wait until no queue holds a message, not even one of a killed function; False if that takes too long."""
    return awaited(lambda: not any(messages(stage).values()), patience_s, POLL_S) is True


def _count(stage: Stage, url: str) -> int:
    attributes = stage.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    return sum(int(count) for name, count in attributes.items() if name.startswith("ApproximateNumberOfMessages"))
